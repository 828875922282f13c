// SPDX-License-Identifier: BSL-1.0
#pragma once
// The table of formulas that are slips: a row for each, by subject.
#include <span>
#include <string_view>
#include <vector>

#include "codegen/program/formula_checks.hpp"

namespace qkv::codegen {

struct formula_rule {
  std::vector<std::string_view> patterns;  // one formula, written in several ways
  bool (*applies)(const checks::place &);
  std::string_view text;  // {x}: the step of a variable; {<a>}: the names of its axes; {#n}
};

// Activations, gates and statistics.
std::span<const formula_rule> formulas_of_layers();
// Scores and weights.
std::span<const formula_rule> formulas_of_scores();
// Attention over parts of the keys, and its backward.
std::span<const formula_rule> formulas_of_parts();
std::span<const formula_rule> formulas_of_losses();
// Those that only the names of arguments show.
std::span<const formula_rule> formulas_of_names();
// Positions and recurrences.
std::span<const formula_rule> formulas_of_positions();

}  // namespace qkv::codegen
