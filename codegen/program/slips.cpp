#include "codegen/program/slips.hpp"

#include <algorithm>

#include "codegen/program/factor_slips.hpp"
#include "codegen/program/growth_slips.hpp"
#include "codegen/program/mask_slips.hpp"
#include "codegen/program/name_slips.hpp"
#include "codegen/program/placement_slips.hpp"
#include "codegen/program/quotient_slips.hpp"
#include "codegen/program/scale_slips.hpp"
#include "codegen/program/take_slips.hpp"
#include "codegen/program/term_slips.hpp"
#include "codegen/program/text.hpp"

namespace qkv::codegen {

std::vector<std::string> slips_of(const program &p) {
  std::vector<std::string> lines;
  for (const auto find : {mask_slips, factor_slips, take_slips, term_slips, quotient_slips,
                          growth_slips, placement_slips, scale_slips, name_slips})
    for (const slip &s : find(p)) {
      std::string line = p.name + ": " + label_of(p, s.at) + ": " + s.text;
      if (std::find(lines.begin(), lines.end(), line) == lines.end())
        lines.push_back(std::move(line));
    }
  return lines;
}

}  // namespace qkv::codegen
