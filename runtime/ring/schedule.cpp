// SPDX-License-Identifier: BSL-1.0
#include <algorithm>

#include "ring/independent_axis.hpp"
#include "ring/rounds.hpp"
#include "ring/work.hpp"
#include "status/fail.hpp"

namespace qkv::ring {
namespace {

bool has_totals_of_own(const parts &of) {
  for (const qkv_kernel *own : of.own)
    if (own && std::any_of(own->arguments, own->arguments + own->n_arguments, is_total))
      return true;
  return false;
}

class choice {
 public:
  explicit choice(const machine &m) : m_(m) {}

  // Empty, or why a schedule does not fit.
  const char *defect(schedule how) const {
    if (how != schedule::tree && !m_.of().pages.empty())
      return "pages of keys stay where they are: every machine has all queries, as in "
             "ring::block_cyclic";
    switch (how) {
      case schedule::tree:
        if (m_.size() > 1 && m_.where.all_queries() > 0 && !m_.where.queries_are_everywhere())
          return "schedule tree: every machine has all queries, as in ring::block_cyclic";
        return has_result(m_.of(), hop_result::sum_for_keys) ||
                       has_result(m_.of(), hop_result::of_pairs) || has_totals_of_own(m_.of())
                   ? "schedule tree: results along keys or sums over queries"
                   : nullptr;
      case schedule::gather:
        return has_result(m_.of(), hop_result::sum_for_keys)
                   ? "schedule gather: sums go home with their keys: ring"
                   : nullptr;
      case schedule::heads:
        return every_hop_has_heads() ? nullptr
                                     : "schedule heads: no batch axis keeps all sums apart: ring";
      default:
        return nullptr;
    }
  }

  // Of those that fit; ring where another one is not clearly faster.
  schedule fastest() const {
    std::vector<round_work> rounds;
    for (std::size_t n = 0; n < m_.of().own.size(); ++n)
      rounds.push_back(work_of(m_.of(), n, m_.size(), sizes()));
    schedule best = schedule::ring;
    double least = 0.9 * seconds(best, rounds);
    for (const schedule other : {schedule::gather, schedule::heads})
      if (const double t = defect(other) ? least : seconds(other, rounds); t < least) {
        best = other;
        least = t;
      }
    return best;
  }

 private:
  size_of_axis sizes() const {
    return [this](std::string_view axis) {
      return axis == m_.of().query ? m_.where.all_queries()
             : axis == m_.of().key ? m_.where.all_keys()
                                   : m_.size_of(axis);
    };
  }
  bool every_hop_has_heads() const {
    const auto &hops = m_.of().hops;
    return std::all_of(hops.begin(), hops.end(), [&](const qkv_kernel *hop) {
      return !hop || independent_axis_of(m_.of(), *hop, m_.size(), sizes()).size > 0;
    });
  }
  double seconds(schedule how, const std::vector<round_work> &rounds) const {
    return predicted(how, rounds, m_.how.of, m_.size()).seconds;
  }

  const machine &m_;
};

}  // namespace

status choose_schedule(const machine &m, round_function &result) {
  const auto refused = [&](const char *why) {
    return detail::fail(status_code::unsupported, "{}: {}", m.k.name, why);
  };
  const choice of(m);
  schedule how = m.how.by;
  if (how < schedule::automatic || how > schedule::tree) return refused("no such schedule");
  if (m.where.queries_are_everywhere()) {
    if (how != schedule::automatic && how != schedule::tree)
      return refused("every machine has all queries: the schedule is tree");
    how = schedule::tree;
  } else if (m.size() == 1 || m.where.all_queries() == 0) {  // any will do
    how = m.of().pages.empty() ? schedule::ring : schedule::tree;
  } else if (how == schedule::automatic) {
    how = of.fastest();
  }
  if (const char *why = of.defect(how)) return refused(why);
  result = how == schedule::tree     ? tree_round
           : how == schedule::gather ? gather_round
           : how == schedule::heads  ? heads_round
                                     : ring_round;
  return {};
}

}  // namespace qkv::ring
