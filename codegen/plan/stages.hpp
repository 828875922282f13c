// SPDX-License-Identifier: BSL-1.0
#pragma once
// A program cut into stages. Each stage computes the steps it stores in one sweep; every other step
// is recomputed where it is used.
#include <string_view>
#include <variant>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

inline constexpr axis_id no_axis = -1;
inline constexpr node_id no_step = -1;

// The last of these axes that is none of those.
axis_id last_of(const std::vector<axis_id> &axes, const std::vector<axis_id> &but);
// The one of these that gives a tile its rows, as many as there can be: not a batch if another is
// there; one that the call sizes, or the largest; of equal ones the last.
axis_id row_of(const program &, const std::vector<axis_id> &axes, const std::vector<axis_id> &but);

// Sum over the axes of `core` of left(row, k) * right(k, column), with pointwise steps before and
// after. `row` is no_axis where the left operand has none.
struct contraction_stage {
  node_id root = no_step, core = no_step;
  node_id left = no_step, right = no_step;  // columns of the right operand lie in lanes
  axis_id row = no_axis, column = no_axis;
  std::vector<axis_id> outer;  // every other axis of the result, outermost first
};

// One sum over the keys: of pairs(row, key), or of pairs(row, key) * values(key, column).
struct weighted_sum {
  node_id root = no_step, core = no_step;
  node_id pairs = no_step;   // the weights, perhaps with a gate; or any function of row and key
  node_id gate = no_step;    // a factor of the weights at each pair, as dropout has
  node_id values = no_step;  // no_step: the pairs themselves are summed
  axis_id column = no_axis;  // of the values; no_axis where they have none
  // Where `core` puts pairs: their positions along `column`. It sums over rows and keys.
  node_id position = no_step;
  // True if `core` is the pairs themselves, or sums them over outer axes alone.
  bool is_at_each_pair = false;

  bool is_placed() const { return position != no_step; }
  // True for sums that a CPU's walk takes, and other machines compute from stored products.
  bool is_by_pair() const { return is_placed() || is_at_each_pair; }
};

// One walk over tiles of (row, key) that computes what is needed per pair and feeds sums over the
// keys. Pairs are weights, which a softmax or normalize of scores gives, or functions of row and
// key that nothing normalises; then `weights` and `scores` are no_step.
struct attention_stage {
  axis_id row = no_axis, key = no_axis;
  std::vector<axis_id> outer;  // every other axis of a sum but its column, outermost first
  node_id weights = no_step, scores = no_step;
  node_id lse = no_step, lse_root = no_step;  // the logsumexp of the scores, where it is wanted
  std::vector<weighted_sum> sums;
  std::vector<node_id> products;  // contractions inside the pairs, computed tile by tile
  std::vector<node_id> shared;    // steps that pairs of several sums need, computed once per tile
  // Sums of the same pairs over the rows, for each key: a stage with rows and keys exchanged. A CPU
  // takes both in one walk; elsewhere, each takes its own. None, or one.
  std::vector<attention_stage> across;
  // Sums of the same pairs at positions, which the walk of a CPU takes, too. Elsewhere the pairs'
  // products are stored, and a map puts them.
  std::vector<weighted_sum> placed;
  // Results at each pair, which the walk of a CPU that takes sums across stores as it goes.
  // Elsewhere, maps compute them from stored products, too.
  std::vector<weighted_sum> at_pairs;
  std::vector<node_id> shared_in_all;  // like `shared`, of a walk that takes all of these

  bool is_normalised() const { return weights != no_step; }
  // True where a CPU's walk keeps its sums until all pairs are seen.
  bool keeps_sums() const { return !across.empty() || !placed.empty(); }
  std::vector<weighted_sum> by_pair() const;  // those placed, then those at each pair
};

// Those over keys, those across, those placed, those at each pair.
std::vector<weighted_sum> all_sums(const attention_stage &);
// The outer axes that results at each pair are summed over.
std::vector<axis_id> summed_at_pairs(const program &, const attention_stage &);
// Each direction alone, without what other machines compute from stored products.
std::vector<attention_stage> walks_of(const attention_stage &);

// Pointwise steps at every position, or one reduction and pointwise steps.
struct map_stage {
  node_id root = no_step;
  node_id core = no_step;  // the reduction
};

// A recurrence: every step inside it, one position after the other.
struct scan_stage {
  std::vector<node_id> roots;
  std::vector<node_id> cores;                 // op::scan or op::last, one for each root
  node_id carried = no_step, next = no_step;  // the state of a position, and that of the next one
  std::vector<node_id> body;  // what each position computes, operands first, without its state
};

using stage = std::variant<contraction_stage, attention_stage, map_stage, scan_stage>;

std::string_view name_of(const stage &);
std::vector<node_id> roots_of(const stage &);  // the steps that it stores
node_id main_step_of(const stage &);           // the one that gives it a name

struct stages {
  std::vector<stage> list;     // in the order of computation
  std::vector<int> stored_by;  // per node: the stage that stores it; -1 if it is recomputed
};

// Decides what is stored; the program must be simplified. Always succeeds: a step that no rule
// covers is a map.
stages cut_into_stages(const program &);

// The stage that would store a product of pairs.
stage stored_product(const program &, node_id);

}  // namespace qkv::codegen
