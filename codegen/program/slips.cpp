// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/slips.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "codegen/program/bias_slips.hpp"
#include "codegen/program/condition_slips.hpp"
#include "codegen/program/factor_slips.hpp"
#include "codegen/program/flow_slips.hpp"
#include "codegen/program/formula_slips.hpp"
#include "codegen/program/growth_slips.hpp"
#include "codegen/program/head_slips.hpp"
#include "codegen/program/identity_slips.hpp"
#include "codegen/program/leak_slips.hpp"
#include "codegen/program/loss_slips.hpp"
#include "codegen/program/mask_slips.hpp"
#include "codegen/program/name_slips.hpp"
#include "codegen/program/placement_slips.hpp"
#include "codegen/program/quotient_slips.hpp"
#include "codegen/program/rotation_slips.hpp"
#include "codegen/program/scale_slips.hpp"
#include "codegen/program/scan_slips.hpp"
#include "codegen/program/slice_slips.hpp"
#include "codegen/program/step_key.hpp"
#include "codegen/program/take_slips.hpp"
#include "codegen/program/term_slips.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/value_slips.hpp"
#include "codegen/program/weight_slips.hpp"

namespace qkv::codegen {
namespace {

// Users of equal steps with one name read the first of them. The copies stay in the program,
// because writing something twice may be the slip: one half of an axis, say. Random numbers stay
// apart, as two dropouts of one seed are.
program with_equal_steps_merged(program p) {
  std::map<std::pair<step_key, std::string>, node_id> firsts;
  std::vector<node_id> first_of;
  for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n) {
    node &x = p.nodes[n];
    for (node_id &operand : x.in) operand = first_of[operand];
    const bool is_single = x.kind == op::uniform || x.kind == op::carried || x.kind == op::output;
    first_of.push_back(is_single ? n : firsts.try_emplace({key_of(x), x.name}, n).first->second);
  }
  return p;
}

}  // namespace

std::vector<slip> slips_of(const program &written) {
  const program p = with_equal_steps_merged(written);
  std::vector<slip> all;
  for (const auto find :
       {condition_slips, mask_slips,   factor_slips, take_slips,      term_slips,    quotient_slips,
        weight_slips,    growth_slips, bias_slips,   placement_slips, scale_slips,   scan_slips,
        name_slips,      value_slips,  leak_slips,   identity_slips,  formula_slips, rotation_slips,
        flow_slips,      head_slips,   loss_slips,   slice_slips})
    for (const slip &s : find(p)) {
      const std::string line = p.name + ": " + written_as(p, s.at) + ": " + s.text;
      const auto is_same = [&](const slip &other) { return other.text == line; };
      if (std::none_of(all.begin(), all.end(), is_same)) all.push_back({s.at, line});
    }
  const auto is_of_result = [&](const slip &s) { return p[s.at].kind == op::output; };
  if (!std::all_of(all.begin(), all.end(), is_of_result)) std::erase_if(all, is_of_result);
  return all;
}

}  // namespace qkv::codegen
