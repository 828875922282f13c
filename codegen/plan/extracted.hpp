// SPDX-License-Identifier: BSL-1.0
#pragma once
// Some steps of a program as a program of its own, which reads others as its arguments.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/plan/kernel_part.hpp"
#include "codegen/plan/stages.hpp"

namespace qkv::codegen {

class extraction {
 public:
  using arguments = std::function<std::optional<part_argument>(node_id)>;

  // `from` has the axes of the new program; it must outlive this. `given`: the argument that a step
  // is; empty for steps that are computed.
  extraction(const program &from, std::string name, arguments given);

  // Steps that have the positions of their first operand from the last to the first: in the new
  // program, too, whatever size the axis has there.
  void reverse(std::function<bool(node_id)> is_reversal) { is_reversal_ = std::move(is_reversal); }
  // The argument that a step is has its axes in the order of another one.
  void order(node_id step, node_id like) { like_[step] = like; }
  // The argument from which a scan starts.
  void start(node_id state, part_argument from) { starts_[state] = from; }
  // The last state of a scan, or a step, is a result: with the type and axes of `like`.
  void last(node_id state, node_id next, part_argument to);
  void result(node_id value, part_argument to, const node &like);
  // `value` is added to an argument. Zeros are a result.
  void sum(node_id value, part_argument to, part_argument added);
  void zeros(part_argument to, const node &like);

  kernel_part taken(bool is_of_chunk);

 private:
  struct wanted {
    part_argument to;
    node like;
    node_id value = no_step;             // no_step: zeros
    node_id next = no_step;              // of a state whose last value is wanted
    std::optional<part_argument> added;  // to the value
  };

  void find(node_id n, std::map<node_id, bool> &needed);
  // The step that has the wanted value; `at`: where steps are.
  node_id value_of(const wanted &, const std::map<node_id, node_id> &at);
  node_id put(node x);
  node_id position_from_end(axis_id);
  node_id argument(const node &like, const part_argument &);

  const program &from_;
  const arguments given_;
  std::function<bool(node_id)> is_reversal_ = [](node_id) { return false; };
  std::map<node_id, part_argument> starts_;
  std::map<node_id, node_id> like_;
  std::vector<wanted> wanted_;
  kernel_part made_;
};

}  // namespace qkv::codegen
