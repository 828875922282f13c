// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/on_machine/row_launches.hpp"

#include <algorithm>

#include "codegen/program/queries.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class row_launches {
 public:
  explicit row_launches(const plan &made)
      : made_(made),
        p_(made.p),
        users_(users_of(made.p)),
        may_be_empty_(steps_with_empty_weights(made.p)) {}

  // Backwards: each launch ends with the stage that stores its result.
  std::vector<bool> run(const std::vector<stage> &list) const {
    std::vector<bool> with_next(list.size(), false);
    for (std::size_t last = list.size(); last-- > 0;) {
      const auto *ends = std::get_if<map_stage>(&list[last]);
      if (!ends) continue;
      std::vector<map_stage> launch = {*ends};
      while (last > 0) {
        const auto *before = std::get_if<map_stage>(&list[last - 1]);
        if (!before || !joins(*before, launch)) break;
        with_next[--last] = true;
        launch.push_back(*before);
      }
    }
    return with_next;
  }

 private:
  bool joins(const map_stage &s, const std::vector<map_stage> &launch) const {
    if (s.core == no_step || p_[s.root].kind == op::output) return false;
    const node &core = p_[s.core];
    const std::vector<axis_id> &rows = p_[s.root].shape;
    if ((!is_reduction(core.kind) && core.kind != op::dot) || rows.empty()) return false;
    // Threads take the elements of a row: those that are reduced, and those of the result.
    const bool are_elements = contains(core.over, without(p_[launch[0].root].shape, rows));
    return same_set(core.shape, rows) && are_elements && fits(launch, rows) &&
           is_read_in(s.root, launch);
  }

  // Every stage has these rows: those before the last one nothing else.
  bool fits(const std::vector<map_stage> &launch, const std::vector<axis_id> &rows) const {
    const node &last = p_[launch[0].root];
    const node_id core = launch[0].core;
    const bool is_of_rows = core == no_step
                                ? contains(last.shape, rows)
                                : same_set(without(last.shape, p_[core].over), rows) &&
                                      (is_reduction(p_[core].kind) || makes_weights(p_[core].kind));
    return is_of_rows && std::all_of(launch.begin() + 1, launch.end(), [&](const map_stage &s) {
             return same_set(p_[s.root].shape, rows);
           });
  }

  // True if these stages alone read the step, each at the rows that it has there.
  bool is_read_in(node_id step, const std::vector<map_stage> &launch) const {
    bool is = true;
    walk_users(users_, step, [&](node_id user, node_id) {
      const node &x = p_[user];
      const auto is_core = [&](const map_stage &s) { return s.core == user; };
      const auto is_root = [&](const map_stage &s) { return s.root == user; };
      const bool is_inside = std::any_of(launch.begin(), launch.end(), is_core);
      const bool keeps_place = is_pointwise(x.kind) || x.kind == op::broadcast ||
                               x.kind == op::mask || x.kind == op::output;
      is = is && (is_inside || keeps_place) && !is_alternative(p_, x);
      if (std::any_of(launch.begin(), launch.end(), is_root)) {
        is = is && !shows_condition(user);
        return false;
      }
      is = is && made_.cut.stored_by[user] < 0;
      return is;
    });
    return is;
  }

  // True if readers of a result compute again the condition that makes its weights empty.
  bool shows_condition(node_id root) const {
    return may_be_empty_[root] &&
           std::any_of(users_[root].begin(), users_[root].end(),
                       [&](node_id user) { return p_[user].kind != op::output; });
  }

  const plan &made_;
  const program &p_;
  const std::vector<std::vector<node_id>> users_;
  const std::vector<bool> may_be_empty_;
};

}  // namespace

std::vector<bool> shared_launches(const plan &made, const std::vector<stage> &list) {
  return row_launches(made).run(list);
}

}  // namespace qkv::codegen
