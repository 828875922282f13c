#pragma once
// A program cut into stages. Each stage computes what it stores in one sweep; every other step is recomputed where it
// is used.
#include <string>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

enum class stage_kind {
  contraction,  // sum over `over` of rows x columns, with pointwise steps before and after
  attention,  // dot<key>(weights over key, values), streamed over blocks of keys; also where the weights are no
              // softmax and nothing normalises them, but a function of query and key
  map,   // pointwise steps, or one reduction
  scan,  // a recurrence: every step inside, one position after the other
};

inline constexpr axis_id no_axis = -1;

struct stage {
  stage_kind kind{};
  std::vector<node_id>
      roots;  // what it stores: one node; the result and the logsumexp of an attention; results of a scan
  node_id core = -1;  // contraction, attention: the dot; a map's reduction, or -1

  // contraction and attention: the two axes that tiles are made of (no_axis when the operand has none)
  axis_id row = no_axis;       // of the left operand, the scores
  axis_id column = no_axis;    // of the right operand, the values
  std::vector<axis_id> outer;  // every other axis of the core's result, outermost first

  // scan
  node_id carried = -1, next = -1;  // the state of a step, and what it makes of it
  std::vector<node_id> cores;       // op::scan or op::last, one for each root

  // contraction
  node_id left = -1, right = -1;  // right is the operand whose columns lie in lanes

  // attention
  axis_id key = no_axis;
  node_id weights = -1;  // softmax or normalize of the scores; -1: the scores are the weights
  node_id gate =
      -1;  // what the weights are multiplied with at each pair: dropout, say; -1: nothing
  node_id scores = -1, values = -1;
  node_id lse = -1;                 // the logsumexp that is also wanted, or -1
  std::vector<node_id> score_dots;  // contractions inside the scores, computed tile by tile
};

struct stages {
  std::vector<stage> list;  // in the order of computation
  std::vector<int>
      stored_by;  // per node: the stage that stores it; -1 when it is recomputed where used
};

// Decides what is stored; program must be simplified. Always succeeds: a step that no rule covers is a map.
stages cut_into_stages(const program &);

// The order in which a stored node's axes lie in memory, outermost first: its users' needs decide.
std::vector<axis_id> storage_order(const program &, const stages &, node_id);

std::string name_of(stage_kind);

}  // namespace qkv::codegen
