// SPDX-License-Identifier: BSL-1.0
#include "ring/forecast.hpp"

#include <algorithm>
#include <cmath>

namespace qkv::ring {

forecast predicted(const std::vector<round_work> &rounds, const hardware &of, int machines) {
  const double p = machines;
  forecast f;
  double alone = 0, sent = 0, exposed = 0;
  const auto message = [&](double bytes) { return of.latency + bytes / of.link; };
  for (const round_work &r : rounds) {
    alone += (r.own_flops + r.pair_flops) / of.flops;
    f.seconds += r.own_flops / p / of.flops;
    const double turn = r.pair_flops / p / p / of.flops;
    const double keys = r.key_bytes / p, sums = r.sum_bytes / p;
    f.turn += turn;
    f.seconds += turn * p;
    f.message = std::max(f.message, keys + sums);
    f.memory = std::max(f.memory, 2 * (keys + sums) + 2 * r.state_bytes / p);
    if (machines == 1) continue;
    // While a turn is computed, keys go on, and the sums of the turn before.
    if (r.pair_flops > 0) {
      const double keys_alone = message(keys), both = message(keys + sums),
                   sums_alone = r.sum_bytes > 0 ? message(sums) : 0;
      const double during[] = {keys_alone, both, sums_alone};
      const double times[] = {1, p - 2, 1};  // the first turn, those between, the last
      for (int k = 0; k < 3; ++k) {
        sent += times[k] * during[k];
        exposed += times[k] * std::max(0.0, during[k] - turn);
      }
      sent += sums_alone, exposed += sums_alone;  // home
      f.transfer += both;
    }
    if (r.total_bytes > 0) {
      const double twice = 2 * message(r.total_bytes * (p - 1) / p);
      sent += twice, exposed += twice;
    }
  }
  f.seconds += exposed;
  f.hidden = sent > 0 ? 1 - exposed / sent : 1;
  f.efficiency = f.seconds > 0 ? alone / p / f.seconds : 1;
  return f;
}

forecast predicted_tree(const std::vector<round_work> &rounds, const hardware &of, int machines) {
  const double p = machines;
  forecast f;
  double alone = 0;
  for (const round_work &r : rounds) {
    const auto computed = [&](double share) {
      const double read = of.memory > 0 ? r.key_bytes * share / of.memory : 0;
      return std::max((r.own_flops + r.pair_flops * share) / of.flops, read);
    };
    alone += computed(1);
    f.turn += computed(1 / p);
    if (machines > 1 && r.pair_flops > 0)
      f.transfer += 2 * std::ceil(std::log2(p)) * (of.latency + r.state_bytes / of.link);
    f.message = std::max(f.message, r.state_bytes);
    f.memory = std::max(f.memory, 4 * r.state_bytes);
  }
  f.seconds = f.turn + f.transfer;
  f.hidden = machines > 1 ? 0 : 1;
  f.efficiency = f.seconds > 0 ? alone / p / f.seconds : 1;
  return f;
}

}  // namespace qkv::ring
