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

// The axes of a product that form tiles: no_axis where the operand has none.
struct tile_axes {
  axis_id row = no_axis;       // of the left operand, the scores
  axis_id column = no_axis;    // of the right operand, the values
  std::vector<axis_id> outer;  // every other axis of the product, outermost first
};

// The last of these axes that is none of those.
axis_id last_of(const std::vector<axis_id> &axes, const std::vector<axis_id> &but);

// Sum over the axes of `core` of left(row, k) * right(k, column), with pointwise steps before and
// after.
struct contraction_stage : tile_axes {
  node_id root = no_step, core = no_step;
  node_id left = no_step, right = no_step;  // columns of the right operand lie in lanes
};

// dot<key>(weights, values), streamed over blocks of keys. The weights are a softmax or normalize
// of scores, or the scores themselves: a function of query and key that nothing normalises.
struct attention_stage : tile_axes {
  std::vector<node_id> roots;  // the result, and the logsumexp if it is wanted
  node_id core = no_step;
  axis_id key = no_axis;
  node_id weights = no_step;  // no_step: the scores are the weights
  node_id gate = no_step;     // a factor of the weights at each pair, as dropout has
  node_id scores = no_step, values = no_step;
  node_id lse = no_step;
  std::vector<node_id> score_dots;  // contractions inside the scores, computed tile by tile
};

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

}  // namespace qkv::codegen
