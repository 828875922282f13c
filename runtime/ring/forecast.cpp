// SPDX-License-Identifier: BSL-1.0
#include "ring/forecast.hpp"

#include <algorithm>
#include <cmath>

namespace qkv::ring {
namespace {

// Adds up the rounds of a call.
class prediction {
 public:
  prediction(const hardware &of, int machines, const work_of_turn &turns)
      : of_(of), n_(machines), p_(machines), turns_(turns) {}

  forecast with(schedule how, const std::vector<round_work> &rounds) {
    for (const round_work &r : rounds) {
      kept_ += r.kept_bytes / p_;
      alone_ += computing(r, 1, how == schedule::tree ? r.key_bytes : 0);
      if (how != schedule::tree) f_.seconds += r.own_flops / p_ / of_.flops;
      if (r.pair_flops > 0 || how == schedule::tree) {
        if (how == schedule::tree)
          tree(r);
        else if (how == schedule::heads)
          heads(r);
        else if (how == schedule::gather)
          gather(r);
        else
          ring(r);
      }
      if (how != schedule::tree && n_ > 1 && r.total_bytes > 0)
        spend(2 * message(r.total_bytes * (p_ - 1) / p_));
      kept_ += (r.state_bytes + r.sum_bytes) / p_ + r.total_bytes;
    }
    f_.hidden = sent_ > 0 ? std::clamp(1 - exposed_ / sent_, 0.0, 1.0) : 1;
    f_.efficiency = f_.seconds > 0 ? alone_ / p_ / f_.seconds : 1;
    return f_;
  }

 private:
  double message(double bytes) const { return of_.latency + bytes / of_.link; }
  // Of own tokens, and of a share of the pairs.
  double computing(const round_work &r, double share, double bytes) const {
    const double read = of_.memory > 0 ? bytes / of_.memory : 0;
    return std::max((r.own_flops + r.pair_flops * share) / of_.flops, read);
  }
  turn_work work(int machine, int keys) const {
    return turns_ ? turns_(machine, keys) : turn_work{1 / p_ / p_};
  }
  double largest_share() const {
    if (!turns_) return 1 / p_;
    double most = 0;
    for (int m = 0; m < n_; ++m) {
      double own = 0;
      for (int k = 0; k < n_; ++k) own += turns_(m, k).pairs;
      most = std::max(most, own);
    }
    return most;
  }
  void spend(double seconds) {
    f_.seconds += seconds;
    sent_ += seconds;
    exposed_ += seconds;
  }

  // Looks at the masks, which are long only where they leave no pair, the pairs, and the sums so
  // far, which are read and written.
  double turn_seconds(const round_work &r, const turn_work &w) const {
    const double look = r.look_flops * w.hidden / of_.flops;
    const double pass = of_.memory > 0 ? 2 * r.state_bytes / p_ / of_.memory : 0;
    return look + w.calls * of_.call + r.pair_flops * w.pairs / of_.flops +
           (w.pairs > 0 ? w.passes * pass : 0);
  }

  // A machine begins a turn when its own computing and both messages of the turn before are over; a
  // message takes two machines, and copying it costs both of them time of computing.
  void ring(const round_work &r) {
    const double keys = r.key_bytes / p_, sums = r.sum_bytes / p_;
    const auto n = static_cast<std::size_t>(turns_ ? n_ : 1);  // equal machines are one
    std::vector<double> now(n, 0), computed(n), arrived(n), busy(n, 0);
    const auto before = [&](std::size_t m) { return (m + n - 1) % n; };
    const auto turn = [&](int h, double bytes) {
      for (std::size_t m = 0; m < n; ++m) {
        const int of = static_cast<int>((m + n - static_cast<std::size_t>(h) % n) % n);
        const double t =
            (h < n_ ? turn_seconds(r, work(static_cast<int>(m), of)) : 0) + bytes * of_.copying;
        computed[m] = now[m] + t;
        busy[m] += t;
        arrived[m] = bytes > 0 ? std::max(now[m], now[before(m)]) + message(bytes) : 0;
      }
      for (std::size_t m = 0; m < n; ++m)
        now[m] = std::max({computed[m], arrived[m], arrived[(m + 1) % n]});
      if (bytes > 0) sent_ += message(bytes);
    };
    for (int h = 0; h < n_; ++h) turn(h, (h + 1 < n_ ? keys : 0) + (h > 0 ? sums : 0));
    if (n_ > 1) turn(n_, sums);  // home
    const double end = *std::max_element(now.begin(), now.end());
    f_.seconds += end;
    exposed_ += end - *std::max_element(busy.begin(), busy.end());
    f_.turn += r.pair_flops * largest_share() / p_ / of_.flops;
    if (n_ > 1) f_.transfer += message(keys + sums);
    stored(keys + sums, 2 * (keys + sums) + 2 * sums + 2 * r.state_bytes / p_);
  }

  void gather(const round_work &r) {
    const double others = r.key_bytes * (p_ - 1) / p_;
    f_.turn += r.pair_flops * largest_share() / p_ / of_.flops;
    f_.seconds += r.pair_flops * largest_share() / of_.flops;
    if (n_ > 1) {
      spend(message(others));
      f_.transfer += message(others);
    }
    stored(r.key_bytes / p_, r.key_bytes + 2 * r.state_bytes / p_);
  }

  void heads(const round_work &r) {
    const double most = std::ceil(r.heads / p_) / std::max(r.heads, 1.0);
    const double found = r.state_bytes + r.sum_bytes + r.pair_bytes;
    const double there = (r.copied_bytes + r.divided_bytes * most) * (p_ - 1) / p_,
                 back = found * most * (p_ - 1) / p_;
    f_.turn += r.pair_flops * most / of_.flops;
    f_.seconds += r.pair_flops * most / of_.flops;
    if (n_ > 1) {
      spend(message(there) + message(back));
      f_.transfer += message(there) + message(back);
    }
    const double others = (p_ - 1) / p_, of_tokens = (r.state_bytes + r.sum_bytes) / p_,
                 beginnings = r.state_bytes * most;
    stored(std::max(there, back) / std::max(p_ - 1, 1.0),
           r.divided_bytes / p_ + r.copied_bytes + found * most +                 // sent
               others * (r.divided_bytes * most + r.copied_bytes + found / p_) +  // received
               r.divided_bytes * most + r.copied_bytes + found * most + beginnings + of_tokens);
  }

  void tree(const round_work &r) {
    const double t = computing(r, 1 / p_, r.key_bytes / p_);
    f_.turn += t;
    f_.seconds += t;
    if (n_ > 1 && r.pair_flops > 0) {
      const double levels = 2 * std::ceil(std::log2(p_)) * message(r.state_bytes);
      f_.transfer += levels;
      spend(levels);
    }
    stored(r.state_bytes, 4 * r.state_bytes);
  }

  void stored(double one, double all) {
    f_.message = std::max(f_.message, one);
    f_.memory = std::max(f_.memory, kept_ + all);
  }

  const hardware of_;
  const int n_;
  const double p_;
  const work_of_turn &turns_;
  forecast f_;
  double alone_ = 0, sent_ = 0, exposed_ = 0, kept_ = 0;
};

}  // namespace

forecast predicted(schedule how, const std::vector<round_work> &rounds, const hardware &of,
                   int machines, const work_of_turn &turns) {
  return prediction(of, machines, turns).with(how, rounds);
}

}  // namespace qkv::ring
