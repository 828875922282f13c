// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/factor_slips.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "codegen/program/projections.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class factor_finder : slip_finder {
 public:
  explicit factor_finder(const program &p) : slip_finder(p) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      const node &x = p_[n];
      if (!x.name.empty()) continue;
      if (x.kind == op::mul || x.kind == op::pow) whole_zero(n);
      if (x.kind == op::mul) same_numbers(n);
      if (x.kind == op::where) kept_share(n);
      if (x.kind == op::dot) nothing_between(n);
    }
    return std::move(slips_);
  }

 private:
  // x * (1 / 8), where C++ computes 1 / 8 of whole numbers. x * 0 + y repeats y like x.
  void whole_zero(node_id n) {
    const node &x = p_[n];
    const bool repeats = std::all_of(users_[n].begin(), users_[n].end(), [&](node_id user) {
      const op kind = p_[user].kind;
      return kind == op::add || kind == op::sub || kind == op::output;
    });
    if (x.kind == op::mul && repeats) return;
    for (const node_id operand : x.in) {
      const node &zero = p_[operand];
      const bool is_factor = x.kind == op::mul || operand == x.in[1];
      if (!is_factor || zero.kind != op::number || zero.type != i32 || zero.value != 0) continue;
      if (!is_floating(x.type) || p_[x.in[0]].kind == p_[x.in[1]].kind) continue;
      say(n,
          "the {} is the whole number 0; did you mean a fraction, as 1.0 / 8? if it is meant, 0.0",
          x.kind == op::mul ? "factor" : "exponent");
    }
  }

  // dropout(x, seed) + dropout(y, seed), or one inside the other: both leave out by the same random
  // numbers.
  void same_numbers(node_id n) {
    for (const std::size_t k : {0, 1}) {
      const node_id gate = random_of(p_[n].in[k]);
      if (gate < 0) continue;
      std::set<node_id> before;
      walk(p_, p_[n].in[1 - k], [](node_id) { return true; }, before);
      for (node_id other = 0; other < gate; ++other)
        if (p_[other].kind == op::uniform && p_[other].in[0] == p_[gate].in[0] &&
            (before.count(other) || p_[other].shape == p_[gate].shape))
          return say(
              n,
              "a dropout before it draws by the same seed; did you mean seed + 1? if it is meant, "
              "seed + 0");
    }
  }

  // where(uniform < 0.1, x / 0.9, 0) keeps a tenth.
  void kept_share(node_id n) {
    const node &x = p_[n], &c = p_[x.in[0]];
    if (!is_comparison(c.kind) || !c.name.empty() || p_[c.in[0]].kind != op::uniform) return;
    if (!is_number(p_, c.in[1]) || !is_number(p_, x.in[2]) || p_[x.in[2]].value != 0) return;
    const double below = p_[c.in[1]].value, by = divisor_of(x.in[1]);
    const bool keeps_low = c.kind == op::less || c.kind == op::less_equal;
    const double kept = keeps_low ? below : 1 - below;
    if (by <= 0 || std::abs(by - (1 - kept)) > 1e-6 || std::abs(by - kept) < 1e-6) return;
    say(n, "a share of {:g} is kept, but divided by {:g}; did you mean uniform {} {:g}?", kept, by,
        keeps_low ? ">=" : "<", below);
  }
  // Of a step that is divided by a number, or multiplied by one; 0: neither.
  double divisor_of(node_id n) const {
    const node &x = p_[n];
    if (!x.name.empty() || x.in.size() != 2 || !is_number(p_, x.in[1])) return 0;
    return x.kind == op::div ? p_[x.in[1]].value : x.kind == op::mul ? 1 / p_[x.in[1]].value : 0;
  }

  // dot<d_ff>(dot<d_model>(X, W1) + b1, W2), where d_ff is not a narrow part of a low-rank product,
  // a convolution, or what several products have in common.
  void nothing_between(node_id n) {
    for (const std::size_t k : {0, 1}) {
      const node_id inner = without_bias(p_, p_[n].in[k]);
      if (p_[p_[n].in[1 - k]].kind != op::param || !is(op::dot, inner)) continue;
      for (const std::size_t j : {0, 1}) {
        const node_id first = p_[inner].in[j], x = p_[inner].in[1 - j];
        if (p_[first].kind != op::param || p_[x].kind == op::param) continue;
        if (!contains(p_[first].shape, p_[n].over)) continue;
        if (is_window(x, p_[inner].over) || is_shared(p_[n].in[k])) continue;
        if (makes_weights(p_[inner_of(p_, x)].kind) || !is_wider(p_[n].over, p_[inner].over))
          continue;
        return say(
            n,
            "{} and {} are one product with nothing between them; did you leave out an activation?",
            written_as(p_, first), written_as(p_, p_[n].in[1 - k]));
      }
    }
  }
  // Made of positions along these axes: take<seq>(x, index(seq) + index(tap)).
  bool is_window(node_id n, const std::vector<axis_id> &over) const {
    return depends_on(
        p_, n, [&](node_id m) { return p_[m].kind == op::index && has(over, p_[m].over[0]); });
  }
  bool is_shared(node_id n) const {
    std::set<node_id> readers;
    walk_users(users_, inner_of(p_, n), [&](node_id user, node_id) {
      const bool is_view_of_it = p_[user].name.empty() && is_view(p_[user].kind);
      if (!is_view_of_it) readers.insert(user);
      return is_view_of_it;
    });
    return readers.size() > 1;
  }
  bool is_wider(const std::vector<axis_id> &hidden, const std::vector<axis_id> &from) const {
    const auto size = [&](const std::vector<axis_id> &axes) {
      std::int64_t n = axes.empty() ? 0 : 1;
      for (const axis_id a : axes) n *= static_size(p_, a);
      return n;
    };
    return hidden.size() == 1 && from.size() == 1 && size(from) > 0 && size(hidden) > size(from);
  }

  // The random numbers that a gate of dropout compares.
  node_id random_of(node_id gate) const {
    const node &x = p_[gate];
    if (x.kind == op::cast) return random_of(x.in[0]);
    if (is_comparison(x.kind) && p_[x.in[0]].kind == op::uniform) return x.in[0];
    return -1;
  }
};

}  // namespace

std::vector<slip> factor_slips(const program &p) { return factor_finder(p).run(); }

}  // namespace qkv::codegen
