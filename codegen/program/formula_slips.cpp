// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/formula_slips.hpp"

#include <fmt/format.h>

#include <set>
#include <span>

#include "codegen/program/formula_pattern.hpp"
#include "codegen/program/formula_rules.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

std::string text_of(const program &p, const formula_rule &r, const pattern_match &found) {
  std::string text;
  for (std::size_t i = 0; i < r.text.size(); ++i) {
    if (r.text[i] != '{') {
      text += r.text[i];
      continue;
    }
    const std::size_t end = r.text.find('}', i);
    const std::string name(r.text.substr(i + 1, end - i - 1));
    i = end;
    if (name.front() == '<')
      text += names_of(p, {found.axes.at(name.substr(1, name.size() - 2)).front()});
    else if (name.front() == '#')
      text += fmt::format("{:g}", found.numbers.at(name.substr(1)));
    else
      text += written_as(p, found[name]);
  }
  return text + way_to_insist(text);
}

}  // namespace

std::vector<slip> formula_slips(const program &p) {
  struct compiled {
    const formula_rule *of;
    formula_pattern pattern;
  };
  static const std::vector<compiled> all = [] {
    std::vector<compiled> list;
    for (const auto rules : {formulas_of_layers(), formulas_of_scores(), formulas_of_parts(),
                             formulas_of_losses(), formulas_of_names(), formulas_of_positions()})
      for (const formula_rule &r : rules)
        for (const std::string_view text : r.patterns) list.push_back({&r, formula_pattern(text)});
    return list;
  }();
  const std::vector<std::vector<node_id>> users = users_of(p);
  std::vector<slip> slips;
  std::set<const formula_rule *> said;  // of queries; keys mostly have the same slip
  for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n)
    for (const compiled &c : all)
      c.pattern.find(p, n, [&](const pattern_match &found) {
        if (!c.of->applies({p, users, n, found})) return false;
        if (said.insert(c.of).second) slips.push_back({n, text_of(p, *c.of, found)});
        return true;
      });
  return slips;
}

}  // namespace qkv::codegen
