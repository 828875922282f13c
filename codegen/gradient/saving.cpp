// SPDX-License-Identifier: BSL-1.0
#include "codegen/gradient/saving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <qkv/core/kept_step.hpp>
#include <stdexcept>

#include "codegen/gradient/gradient.hpp"
#include "codegen/program/assemble.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/scans.hpp"

namespace qkv::codegen {
namespace {

std::string kept_name(std::size_t n) { return fmt::format("{}{}", core::kept_prefix, n); }

// Steps of a program in another one, in the same order: those of a scan are neighbours. Equal steps
// stay apart, as states of scans must.
class part {
 public:
  explicit part(const program &whole) : whole_(whole), p_(without_steps(whole)) {}

  std::map<node_id, node_id> at;  // by step of the whole

  node_id argument(node like, std::string name) {
    like.kind = like.kind == op::param ? op::param : op::input;
    like.in.clear();
    like.over.clear();
    like.name = std::move(name);
    p_.arguments.push_back(put(std::move(like)));
    return p_.arguments.back();
  }
  void copy(node_id n) {
    node x = whole_[n];
    for (node_id &operand : x.in) operand = at.at(operand);
    at[n] = put(std::move(x));
  }
  void result(node_id value, node like, std::string name) {
    like.kind = op::output;
    like.in = {at.at(value)};
    like.over.clear();
    like.name = std::move(name);
    p_.outputs.push_back(put(std::move(like)));
  }
  program taken() { return assembled(without_dead_steps(std::move(p_))); }

 private:
  node_id put(node x) {
    p_.nodes.push_back(std::move(x));
    return static_cast<node_id>(p_.nodes.size()) - 1;
  }

  const program &whole_;
  program p_;
};

class dividing {
 public:
  // `both`: results of the kernel, then gradients; `n_arguments`: those of the kernel.
  dividing(const program &both, std::size_t n_arguments, std::size_t n_results)
      : p_(both),
        n_arguments_(n_arguments),
        n_results_(n_results),
        gaps_(steps_with_gaps(both)),
        of_scan_(walked_axes(both)) {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      const node &x = p_[n];
      const auto is_this = [&](node_id a) { return a == n; };
      const bool is_adjoint =
          std::any_of(p_.arguments.begin() + static_cast<std::ptrdiff_t>(n_arguments),
                      p_.arguments.end(), is_this);
      is_forward_.push_back(!is_adjoint && std::all_of(x.in.begin(), x.in.end(),
                                                       [&](node_id m) { return is_forward_[m]; }));
      of_states_.push_back(is_states(n) || std::any_of(x.in.begin(), x.in.end(),
                                                       [&](node_id m) { return of_states_[m]; }));
    }
  }

  with_saved run() {
    with_saved made{{}, backward()};
    made.forward = forward();
    return made;
  }

 private:
  // A step whose value is kept where the backward reads it. Elements are compared with their
  // maximum: both are computed alike, or they would differ in the last bit.
  bool is_kept(node_id n) const {
    const node &x = p_[n];
    return is_forward_[n] && !is_source(x.kind) && x.kind != op::element && x.kind != op::carried &&
           x.kind != op::max_over && x.kind != op::min_over && !is_inlinable(p_, n) &&
           !grows_with_pairs(p_, n) && !gaps_[n] && of_scan_[n] < 0 && !of_states_[n];
  }

  // The states of a scan at all positions, where they are matrices: CPUs compute them again by
  // chunks (plan/chunks.hpp).
  bool is_states(node_id n) const {
    const node &x = p_[n];
    const auto is_inner = [&](axis_id a) { return !p_.axes[a].batch && a != x.over[0]; };
    return x.kind == op::scan && x.in.back() == x.in[0] &&
           std::count_if(x.shape.begin(), x.shape.end(), is_inner) > 1;
  }

  program backward() {
    part made(p_);
    for (node_id n : p_.arguments) made.at[n] = made.argument(p_[n], p_[n].name);
    std::vector<node_id> read;
    for (node_id n : read_by_gradients()) {
      if (made.at.count(n)) continue;
      read.push_back(n);
      if (!is_kept(n)) continue;
      made.at[n] = made.argument(p_[n], kept_name(kept_.size()));
      kept_.push_back(n);
    }
    for (node_id n : read)
      if (!made.at.count(n)) made.copy(n);
    for (std::size_t o = n_results_; o < p_.outputs.size(); ++o)
      made.result(p_[p_.outputs[o]].in[0], p_[p_.outputs[o]], p_[p_.outputs[o]].name);
    return made.taken();
  }

  program forward() const {
    part made(p_);
    for (std::size_t a = 0; a < n_arguments_; ++a) {
      const node_id n = p_.arguments[a];
      made.at[n] = made.argument(p_[n], p_[n].name);
    }
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n)
      if (is_forward_[n] && p_[n].kind != op::output && !made.at.count(n)) made.copy(n);
    for (std::size_t o = 0; o < n_results_; ++o)
      made.result(p_[p_.outputs[o]].in[0], p_[p_.outputs[o]], p_[p_.outputs[o]].name);
    for (std::size_t k = 0; k < kept_.size(); ++k)
      made.result(kept_[k], p_[kept_[k]], kept_name(k));
    return made.taken();
  }

  // The steps that gradients are computed from, in order: no further than those that are kept.
  std::vector<node_id> read_by_gradients() const {
    std::vector<bool> read(p_.nodes.size(), false);
    for (std::size_t o = n_results_; o < p_.outputs.size(); ++o)
      read[p_[p_.outputs[o]].in[0]] = true;
    std::vector<node_id> all;
    for (auto n = static_cast<node_id>(p_.nodes.size()); n-- > 0;) {
      if (!read[n]) continue;
      all.push_back(n);
      if (!is_kept(n))
        for (node_id operand : p_[n].in) read[operand] = true;
    }
    std::reverse(all.begin(), all.end());
    return all;
  }

  const program &p_;
  const std::size_t n_arguments_, n_results_;
  const std::vector<bool> gaps_;
  const std::vector<axis_id> of_scan_;
  std::vector<bool> is_forward_;  // of the arguments of the kernel alone
  std::vector<bool> of_states_;   // made of states that are not kept
  std::vector<node_id> kept_;
};

}  // namespace

with_saved saving(const program &p, const std::vector<std::string> &wanted) {
  const program both = gradient(p, wanted, true);
  for (node_id n : both.arguments)
    if (core::is_kept_step(both[n].name))
      throw std::runtime_error(fmt::format(
          "{}: what is saved has names such as {}: choose another name", p.name, both[n].name));
  with_saved made = dividing(both, p.arguments.size(), p.outputs.size()).run();
  made.forward.name = p.name + "_saving";
  made.backward.name = p.name + "_gradient_saved";
  return made;
}

}  // namespace qkv::codegen
