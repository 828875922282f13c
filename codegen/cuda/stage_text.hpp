// SPDX-License-Identifier: BSL-1.0
#pragma once
// Text that all printed stages share: the position of a block, addresses, formulas.
#include <Halide.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codegen/cuda/placeholder.hpp"
#include "codegen/cuda/printed_kernel.hpp"
#include "codegen/halide/lower/context.hpp"
#include "codegen/plan/tensor_operand.hpp"

namespace qkv::codegen {

class stage_text {
 protected:
  // The stage computes one tile of two axes at each position of the outer ones.
  stage_text(context &, const std::vector<axis_id> &outer, int number);
  ~stage_text() = default;

  using strides = std::map<axis_id, std::string>;  // along each axis, as text

  static Halide::Expr variable(const std::string &name, Halide::Type t = Halide::Int(32));

  // ---- the position of a block ------------------------------------------------------------------
  std::string outer_name(axis_id) const;
  // `struct place` and at(): the blocks of one position along the outer axes are neighbours. Where
  // at() is told so, `folded` has position 0.
  std::string place(axis_id folded);
  // folded(): the positions of that axis; of_fold(): the place at one of them.
  std::string folding(axis_id folded);
  Halide::Expr positions(axis_id folded = no_axis) const;  // along all outer axes

  // ---- tensors ----------------------------------------------------------------------------------
  strides strides_of(int tensor, const std::vector<axis_id> &order) const;
  // Of the tensor as the stage sees it; `tensor` becomes its number.
  strides strides_of(const tensor_operand &, int &tensor);
  // A function that returns the address at position 0 of the axes that have no position yet;
  // `parameters`: those after the usual two.
  std::string address(const std::string &name, const std::string &type, int tensor, const strides &,
                      const std::string &parameters = "",
                      const std::map<axis_id, std::string> &at = {});
  // A function NAME_stride that returns this number.
  static std::string stride_function(const std::string &name, const std::string &stride);

  // A code whose GPUs and threads are those of a tile.
  template <class Tile>
  static printed_code code_of(const Tile &t) {
    printed_code x;
    x.target = t.target();
    x.capability = t.capability;
    x.exact = t.exact;
    x.threads = t.threads();
    return x;
  }

  // A stored Func whose loops become the launch; of a second result, whose loops become nothing.
  Halide::Func func(node_id root);
  Halide::Func func_of_written(node_id root, node_id by);

  // ---- formulas ---------------------------------------------------------------------------------
  // The stored number of `root`, as a function of a position and of `core`, which the parameters
  // call `sum`.
  std::string finish(const std::string &name, const char *parameters, node_id root, node_id core,
                     const char *sum, const indices &at);
  std::string body(const Halide::Expr &);
  std::string function(const char *type, const char *name, const char *parameters,
                       const Halide::Expr &);

  context &c_;
  const program &p_;
  const std::shared_ptr<printed_kernel> k_;
  placeholder place_;
  const std::vector<axis_id> axes_;  // the outer ones
  indices outer_;
  bool reads_ = false;  // a formula reads memory

 private:
  Halide::Func stored(node_id root, const Halide::Expr &value);
  void look_through(const node &view, strides &all);
};

// "float", or what holds the bits of 16.
const char *number_type(dtype);
// How the skeletons call numbers of this type.
const char *element_name(dtype);

}  // namespace qkv::codegen
