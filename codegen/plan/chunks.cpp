// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/chunks.hpp"

#include <algorithm>
#include <map>
#include <qkv/core/axes.hpp>
#include <set>
#include <utility>

#include "codegen/plan/extracted.hpp"
#include "codegen/plan/stages.hpp"
#include "codegen/plan/temporaries.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/scans.hpp"
#include "codegen/program/step_value.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace {

// The order in which a step has the positions of a chunk: gradients read them from the end, too.
enum class direction { none, forward, backward, mixed };

// A scan: its state, the step that has it at all positions, its results.
struct states {
  node_id state = no_step, all = no_step;
  std::vector<node_id> results;
};

class chunk_finder {
 public:
  explicit chunk_finder(const program &p)
      : p_(sum_batches_last(p)),
        count_(static_cast<node_id>(p_.nodes.size())),
        walked_(walked_axes(p_)),
        gaps_(steps_with_gaps(p_)) {}

  std::optional<chunks> run() {
    if (!find_scans() || !find_steps() || !joins_nothing()) return {};
    // Each stores steps that those after it read.
    kernel_part last = after(), chunk = part_of_chunk(), middle = between(),
                states = part_of_states(), first = before();
    made_.has_last_state = has_last_state_ || states.p.outputs.size() > 1;
    made_.parts = {std::move(first), std::move(states), std::move(middle), std::move(chunk),
                   std::move(last)};
    if (is_refused_) return {};
    return std::move(made_);
  }

 private:
  // ---- the two scans ----------------------------------------------------------------------------
  bool find_scans() {
    std::map<node_id, states> by_state;
    for (node_id n = 0; n < count_; ++n) {
      const node &x = p_[n];
      if (x.kind != op::scan && x.kind != op::last) continue;
      states &s = by_state[x.in[0]];
      s.state = x.in[0];
      s.results.push_back(n);
      if (x.kind == op::scan && x.in.back() == s.state) s.all = n;
    }
    std::vector<states> found;
    for (const auto &[state, s] : by_state)
      if (s.all != no_step) found.push_back(s);
    if (found.size() != 2) return false;
    forward_ = found[0], backward_ = found[1];
    const node &a = p_[forward_.state], &b = p_[backward_.state];
    made_.along = a.over[0];
    if (b.over != a.over || !same_set(a.shape, b.shape)) return false;
    for (axis_id x : a.shape)
      if (p_.axes[x].batch && !is_row(forward_, x) && !is_row(backward_, x))
        made_.outer.push_back(x);
    inner_ = without(a.shape, made_.outer);
    return inner_.size() > 1;
  }

  node_id next_of(const states &s) const { return p_[s.all].in[1]; }

  bool is_row(const states &s, axis_id a) const {
    scan_stage stage;
    stage.carried = s.state, stage.next = next_of(s), stage.cores = s.results;
    stage.body = scan_body(p_, s.state, stage.next, s.results);
    return has(scan_table(p_, stage).rows, a);
  }

  // ---- the steps of a chunk ---------------------------------------------------------------------
  bool is_apart(axis_id a) const { return a == made_.along || has(made_.outer, a); }
  bool is_apart(const std::vector<axis_id> &axes) const {
    return std::any_of(axes.begin(), axes.end(), [&](axis_id a) { return is_apart(a); });
  }
  // True for an axis that has the size of one of those, and is another one.
  bool is_twin(axis_id a) const {
    const auto is_of = [&](axis_id b) { return a != b && p_.axes[a].root == p_.axes[b].root; };
    return is_of(made_.along) || std::any_of(made_.outer.begin(), made_.outer.end(), is_of);
  }

  std::optional<double> position_at(node_id n, double size, double position) const {
    const node &x = p_[n];
    if (x.kind == op::number) return x.value;
    const bool is_along = !x.over.empty() && p_.axes[x.over[0]].root == p_.axes[made_.along].root;
    if (x.kind == op::size) return is_along ? std::optional(size) : std::nullopt;
    if (x.kind == op::index) return is_along ? std::optional(position) : std::nullopt;
    double operands[3] = {};
    if (x.in.empty() || x.in.size() > 3) return {};
    for (std::size_t k = 0; k < x.in.size(); ++k) {
      const std::optional<double> one = position_at(x.in[k], size, position);
      if (!one) return {};
      operands[k] = *one;
    }
    return value_of(x, operands);
  }

  // True for the same numbers from the last to the first.
  bool is_reversal(const node &x) const {
    if (x.kind != op::take || x.over != std::vector<axis_id>{made_.along}) return false;
    if (!has(p_[x.in[0]].shape, made_.along)) return false;
    const auto known = static_cast<double>(static_size(p_, made_.along));
    for (double size : {9., 100., 77.}) {
      if (known >= 0) size = known;
      for (const double position : {0., 3., size - 1})
        if (position_at(x.in[1], size, position) != size - 1 - position) return false;
    }
    return true;
  }

  static direction joined(direction a, direction b) {
    if (a == direction::none || a == b) return b;
    return b == direction::none ? a : direction::mixed;
  }
  static direction turned(direction d) {
    if (d == direction::forward) return direction::backward;
    return d == direction::backward ? direction::forward : d;
  }

  bool is_given(node_id n) const { return !depends_[n]; }
  bool has_twin(node_id n) const {
    return std::any_of(p_[n].shape.begin(), p_[n].shape.end(),
                       [&](axis_id a) { return is_twin(a); });
  }

  // True where positions of a step are made of the same positions of its operands.
  bool keeps_positions(const node &x) const {
    if (is_pointwise(x.kind) || x.kind == op::mask || x.kind == op::broadcast ||
        x.kind == op::output)
      return true;
    const bool is_local = is_view(x.kind) || is_gather(x.kind) || is_reduction(x.kind) ||
                          makes_weights(x.kind) || x.kind == op::dot || x.kind == op::cumsum ||
                          x.kind == op::put;
    return is_local && !is_apart(x.over) && (x.kind != op::put || keeps_apart(x));
  }

  // A put sums over all axes that its result lacks.
  bool keeps_apart(const node &put) const {
    return std::all_of(put.in.begin(), put.in.end(),
                       [&](node_id m) { return !is_apart(without(p_[m].shape, put.shape)); });
  }

  // True for a step that is not to be stored at all positions.
  bool is_large(node_id n) const { return contains(p_[n].shape, with({made_.along}, inner_)); }

  // A step that a chunk computes again from what it reads.
  bool is_repeated(node_id n) {
    if (const auto it = repeated_.find(n); it != repeated_.end()) return it->second;
    return repeated_[n] = may_be_repeated(n);
  }
  bool may_be_repeated(node_id n) {
    const node &x = p_[n];
    if (is_argument(x) || has_twin(n) || walked_[n] >= 0) return false;
    if (x.kind == op::number) return true;
    if (x.kind == op::size || x.kind == op::index)
      return !is_apart(x.over) &&
             !std::any_of(x.over.begin(), x.over.end(), [&](axis_id a) { return is_twin(a); });
    if (is_reversal(x)) return true;
    return keeps_positions(x) && (is_inlinable(p_, n) || is_large(n)) &&
           direction_of_operands(x) != direction::mixed;
  }

  direction direction_of(node_id n) {
    if (const auto it = direction_.find(n); it != direction_.end()) return it->second;
    direction_[n] = direction::none;
    return direction_[n] = found_direction(n);
  }
  direction found_direction(node_id n) {
    const node &x = p_[n];
    if (x.kind == op::scan) return direction_of_scan(x.in[0]);
    if (is_given(n) && !is_repeated(n))
      return has(x.shape, made_.along) ? direction::forward : direction::none;
    if (is_reversal(x)) return turned(direction_of(x.in[0]));
    return direction_of_operands(x);
  }
  direction direction_of_operands(const node &x) {
    direction all = direction::none;
    for (node_id m : x.in) all = joined(all, direction_of(m));
    return all;
  }
  direction direction_of_scan(node_id state) {
    direction all = direction::none;
    for (node_id n = 0; n < count_; ++n)
      if (p_[n].kind == op::element && p_[n].in[1] == state)
        all = joined(all, direction_of(p_[n].in[0]));
    return all;
  }

  bool is_result(node_id n) const { return p_[n].kind == op::scan || p_[n].kind == op::last; }
  bool is_of_scans(node_id n) const {
    return p_[n].in[0] == forward_.state || p_[n].in[0] == backward_.state;
  }

  // The states alone are computed again: chunks are given all else that the forward scan makes.
  bool is_result_of_forward(node_id n) const {
    return is_result(n) && p_[n].in[0] == forward_.state && n != forward_.all;
  }
  bool is_last_state(node_id n) const { return is_result_of_forward(n) && p_[n].kind == op::last; }

  bool find_steps() {
    depends_.resize(p_.nodes.size());
    in_chunk_.resize(p_.nodes.size());
    follows_.resize(p_.nodes.size());
    for (node_id n = 0; n < count_; ++n) {
      const node &x = p_[n];
      depends_[n] = n == forward_.state || n == backward_.state ||
                    std::any_of(x.in.begin(), x.in.end(), [&](node_id m) { return depends_[m]; });
      // A step of a scan that reads nothing of its state belongs to it all the same.
      if (walked_[n] >= 0 && x.kind == op::element)
        depends_[n] = x.in[1] == forward_.state || x.in[1] == backward_.state || depends_[n];
      if (is_result_of_forward(n)) {
        depends_[n] = false;
        if (!contains(x.shape, made_.outer)) return false;
      }
      follows_[n] = !depends_[n] &&
                    (is_result_of_forward(n) ||
                     std::any_of(x.in.begin(), x.in.end(), [&](node_id m) { return follows_[m]; }));
    }
    for (node_id n = 0; n < count_; ++n) {
      if (!depends_[n]) continue;
      const node &x = p_[n];
      if (walked_[n] >= 0) {
        in_chunk_[n] = true;
        if (!fits_in_step(n)) return false;
      } else if (is_result(n) && is_of_scans(n)) {
        in_chunk_[n] = x.kind == op::scan;
        if (!contains(x.shape, made_.outer)) return false;
      } else {
        in_chunk_[n] = fits_in_chunk(n);
        if (!in_chunk_[n] && is_sum_of_chunks(n)) sums_.insert(n);
      }
    }
    leave_reversals();
    return direction_of_scan(forward_.state) == direction::forward &&
           direction_of_scan(backward_.state) == direction::backward;
  }

  // Reversed steps that no step of the chunk reads are computed after the chunks.
  void leave_reversals() {
    const std::vector<std::vector<node_id>> users = users_of(p_);
    for (node_id n = count_; n-- > 0;) {
      if (!in_chunk_[n] || walked_[n] >= 0 || is_result(n)) continue;
      const bool is_read_here =
          std::any_of(users[n].begin(), users[n].end(), [&](node_id m) { return in_chunk_[m]; });
      if (direction_of(n) == direction::backward && !is_read_here) in_chunk_[n] = false;
    }
  }

  // True if the chunk has all operands of a step.
  bool has_operands(const node &x) const {
    return std::all_of(x.in.begin(), x.in.end(),
                       [&](node_id m) { return is_given(m) || in_chunk_[m]; });
  }

  bool fits_in_step(node_id n) const {
    const node &x = p_[n];
    if (x.kind == op::carried) return n == forward_.state || n == backward_.state;
    if (has_twin(n) || has(x.shape, made_.along) || !has_operands(x)) return false;
    if (x.kind == op::element) return x.over[0] == made_.along;
    return keeps_positions(x);
  }

  bool fits_in_chunk(node_id n) {
    const node &x = p_[n];
    if (has_twin(n) || !has(x.shape, made_.along) || !contains(x.shape, made_.outer)) return false;
    if (!keeps_positions(x) && !is_reversal(x)) return false;
    return has_operands(x) && direction_of(n) != direction::mixed;
  }

  // True for a sum over all positions, to which each chunk adds its own.
  bool is_sum_of_chunks(node_id n) {
    const node &x = p_[n];
    if ((x.kind != op::sum && x.kind != op::dot) || !has(x.over, made_.along)) return false;
    const auto is_outer = [&](axis_id a) { return has(made_.outer, a); };
    return !has_twin(n) && contains(x.shape, made_.outer) &&
           std::none_of(x.over.begin(), x.over.end(), is_outer) && has_operands(x) &&
           direction_of(n) != direction::mixed;
  }

  // True for results of the scans and sums that lie at the bounds between chunks.
  bool is_at_bounds(node_id n) const {
    return sums_.contains(n) || (is_result(n) && is_of_scans(n));
  }

  // True if no step after the chunks needs what is not to be stored.
  bool joins_nothing() const {
    for (node_id n = 0; n < count_; ++n) {
      if (!depends_[n] || in_chunk_[n] || is_at_bounds(n)) continue;
      for (node_id m : p_[n].in)
        if (in_chunk_[m] && (contains(p_[m].shape, inner_) || walked_[m] >= 0)) return false;
    }
    return true;
  }

  // ---- the parts --------------------------------------------------------------------------------
  int arguments() const { return static_cast<int>(p_.arguments.size()); }
  std::optional<int> argument_at(node_id n) const {
    const auto at = std::find(p_.arguments.begin(), p_.arguments.end(), n);
    if (at == p_.arguments.end()) return {};
    return static_cast<int>(at - p_.arguments.begin());
  }
  int result_at(node_id n) const {
    const auto at = std::find(p_.outputs.begin(), p_.outputs.end(), n);
    return arguments() + static_cast<int>(at - p_.outputs.begin());
  }

  // The number of a temporary that holds the step.
  int temporary_of(node_id n) {
    const auto [it, is_new] = temporaries_.emplace(n, 0);
    if (is_new) {
      it->second = add({p_[n].type, p_[n].shape, false});
      is_refused_ = is_refused_ || gaps_[n] || p_[n].type == b8 || is_large(n) || has_twin(n);
    }
    return it->second;
  }
  int add(temporary t) {
    is_refused_ = is_refused_ || t.shape.size() > core::max_axes;
    made_.temporaries.push_back(std::move(t));
    return arguments() + static_cast<int>(p_.outputs.size() + made_.temporaries.size()) - 1;
  }
  // The number of a temporary that holds a state, or a sum, at each bound between chunks.
  int bounds_of(node_id n) {
    const auto [it, is_new] = bounds_.emplace(n, 0);
    if (is_new) it->second = add({p_[n].type, p_[n].shape, true});
    return it->second;
  }

  program axes_of_chunk() const {
    program q = p_;
    const auto alone = [&](axis_id a, std::int64_t size) {
      q.axes[a].size = size, q.axes[a].root = a;
    };
    alone(made_.along, -1);
    for (axis_id a : made_.outer) alone(a, 1);
    q.conditions.clear();
    return q;
  }

  std::optional<part_argument> given_to_chunk(node_id n) {
    if (!is_given(n)) return {};
    if (const auto at = argument_at(n)) {
      is_refused_ = is_refused_ || has_twin(n);
      return part_argument{*at, false};
    }
    if (is_repeated(n)) return {};
    return part_argument{temporary_of(n), false};
  }

  kernel_part before() {
    extraction e(p_, p_.name + "__before", [&](node_id n) -> std::optional<part_argument> {
      if (const auto at = argument_at(n)) return part_argument{*at, false};
      return {};
    });
    e.result(p_[forward_.state].in[0], {bounds_of(forward_.state), false}, p_[forward_.state]);
    for (const auto &[n, value] : temporaries_)
      if (is_given(n) && !follows_[n]) e.result(n, {value, false}, p_[n]);
    return e.taken(false);
  }

  kernel_part between() {
    extraction e(p_, p_.name + "__between", [&](node_id n) { return given_to_whole(n); });
    order_states(e);
    e.result(p_[backward_.state].in[0], {bounds_of(backward_.state), true}, p_[backward_.state]);
    for (node_id n : sums_) e.zeros({bounds_of(n), true}, p_[n]);
    for (const auto &[n, value] : std::map(temporaries_))
      if (follows_[n] && (!is_result_of_forward(n) || is_last_state(n)))
        e.result(n, {value, false}, p_[n]);
    return e.taken(false);
  }

  // To a part that computes all positions at once.
  std::optional<part_argument> given_to_whole(node_id n) {
    if (const auto at = argument_at(n)) return part_argument{*at, false};
    if (is_last_state(n)) {
      has_last_state_ = true;
      return part_argument{bounds_of(forward_.state), true};
    }
    if (is_result_of_forward(n)) return part_argument{temporary_of(n), false};
    if (follows_[n]) return {};
    if (const auto it = temporaries_.find(n); it != temporaries_.end() && is_given(n))
      return part_argument{it->second, false};
    return {};
  }
  void order_states(extraction &e) const {
    for (const states *s : {&forward_, &backward_})
      for (node_id n : s->results)
        if (p_[n].kind == op::last) e.order(n, s->state);
  }

  kernel_part part_of_states() {
    const program q = axes_of_chunk();
    extraction e(q, p_.name + "__states", [&](node_id n) {
      return is_result_of_forward(n) ? std::nullopt : given_to_chunk(n);
    });
    e.reverse([&](node_id n) { return is_reversal(p_[n]); });
    e.start(forward_.state, {bounds_of(forward_.state), false});
    e.last(forward_.state, next_of(forward_), {bounds_of(forward_.state), true});
    for (node_id n : forward_.results) {
      if (const auto it = temporaries_.find(n); it != temporaries_.end() && !is_last_state(n))
        e.result(n, {it->second, false}, p_[n]);
      for (node_id o : p_.outputs)
        if (is_written_by_states(o) && p_[o].in[0] == n) e.result(n, {result_at(o), false}, p_[o]);
    }
    return e.taken(true);
  }

  bool is_written_by_states(node_id output) const {
    const node_id n = p_[output].in[0];
    return is_result_of_forward(n) && !is_last_state(n) && !has_twin(output) &&
           contains(p_[output].shape, made_.outer);
  }

  kernel_part part_of_chunk() {
    const program q = axes_of_chunk();
    extraction e(q, p_.name + "__chunk", [&](node_id n) { return given_to_chunk(n); });
    e.reverse([&](node_id n) { return is_reversal(p_[n]); });
    e.start(forward_.state, {bounds_of(forward_.state), false});
    e.start(backward_.state, {bounds_of(backward_.state), true});
    e.last(backward_.state, next_of(backward_), {bounds_of(backward_.state), false});
    for (node_id n : sums_) e.sum(n, {bounds_of(n), false}, {bounds_of(n), true});
    for (node_id n = 0; n < count_; ++n) {
      if (!in_chunk_[n] || walked_[n] >= 0) continue;
      if (p_[n].kind == op::output)
        result_of_chunk(e, p_[n].in[0], result_at(n), p_[n]);
      else if (is_read_after(n))
        result_of_chunk(e, n, temporary_of(n), p_[n]);
    }
    return e.taken(true);
  }
  void result_of_chunk(extraction &e, node_id n, int value, const node &like) {
    is_refused_ = is_refused_ || direction_of(n) != direction::forward;
    e.result(n, {value, false}, like);
  }
  bool is_read_after(node_id n) const {
    for (node_id m = n + 1; m < count_; ++m)
      if (depends_[m] && !in_chunk_[m] && !is_at_bounds(m) && has(p_[m].in, n)) return true;
    return false;
  }

  kernel_part after() {
    extraction e(p_, p_.name + "__after", [&](node_id n) -> std::optional<part_argument> {
      if (sums_.contains(n)) return part_argument{bounds_of(n), false};
      if (is_result(n) && p_[n].in[0] == backward_.state && p_[n].kind == op::last)
        return part_argument{bounds_of(backward_.state), false};
      if (in_chunk_[n] && walked_[n] < 0) return part_argument{temporary_of(n), false};
      return given_to_whole(n);
    });
    order_states(e);
    for (node_id n : p_.outputs)
      if (!in_chunk_[n] && !is_written_by_states(n))
        e.result(p_[n].in[0], {result_at(n), false}, p_[n]);
    return e.taken(false);
  }

  const program p_;
  const node_id count_;
  const std::vector<axis_id> walked_;
  const std::vector<bool> gaps_;
  chunks made_;
  states forward_, backward_;
  std::vector<axis_id> inner_;  // of a state, but the outer ones
  std::vector<bool> depends_;   // on a state
  std::vector<bool> follows_;   // from what the forward scan makes, without depending on states
  std::vector<bool> in_chunk_;
  std::map<node_id, bool> repeated_;
  std::map<node_id, direction> direction_;
  std::set<node_id> sums_;                       // over all positions
  std::map<node_id, int> temporaries_, bounds_;  // by step; by state or sum
  bool is_refused_ = false, has_last_state_ = false;
};

}  // namespace

std::optional<chunks> chunks_of(const program &p) { return chunk_finder(p).run(); }

}  // namespace qkv::codegen
