// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/signs.hpp"

#include <utility>

#include "codegen/program/queries.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class sign_finder {
 public:
  explicit sign_finder(const program &p) : p_(p) {}

  std::vector<sign> run() {
    for (const node &x : p_.nodes) signs_.push_back(computed(x));
    return std::move(signs_);
  }

 private:
  sign of(node_id n) const { return signs_[n]; }  // operands come before their users

  sign computed(const node &x) const {
    if (is_argument(x) && (x.name.starts_with("slope") || x.name.starts_with("alibi")))
      return sign::not_negative;
    if (x.kind == op::number) return x.value < 0 ? sign::not_positive : sign::not_negative;
    if (!x.name.empty() && x.kind != op::output) return sign::unknown;
    switch (x.kind) {
      case op::index:
      case op::size:
      case op::exp:
      case op::sigmoid:
      case op::softplus:
      case op::relu:
      case op::abs:
      case op::sqrt:
      case op::rsqrt:
      case op::softmax:
      case op::uniform:
        return sign::not_negative;
      case op::neg:
        return opposite(of(x.in[0]));
      case op::log:
        return of_log(inner_of(p_, x.in[0]));
      case op::add:
        return common(of(x.in[0]), of(x.in[1]));
      case op::sub:
        return is_log_probability(x) ? sign::not_positive
                                     : common(of(x.in[0]), opposite(of(x.in[1])));
      case op::mul:
      case op::div:
      case op::dot:
        return of_product(x);
      case op::max:
        return has_one(x, sign::not_negative) ? sign::not_negative
                                              : common(of(x.in[0]), of(x.in[1]));
      case op::min:
        return has_one(x, sign::not_positive) ? sign::not_positive
                                              : common(of(x.in[0]), of(x.in[1]));
      case op::where:
        return common(of(x.in[1]), of(x.in[2]));
      case op::pow:
        return of(x.in[0]) == sign::not_negative ? sign::not_negative : sign::unknown;
      case op::mask:
      case op::take:
      case op::cast:
      case op::sum:
      case op::mean:
      case op::cumsum:
      case op::output:
        return of(x.in[0]);
      default:
        return is_view(x.kind) ? of(x.in[0]) : sign::unknown;
    }
  }

  static sign opposite(sign s) {
    return s == sign::not_negative   ? sign::not_positive
           : s == sign::not_positive ? sign::not_negative
                                     : sign::unknown;
  }
  static sign common(sign a, sign b) { return a == b ? a : sign::unknown; }
  bool has_one(const node &x, sign s) const { return of(x.in[0]) == s || of(x.in[1]) == s; }

  sign of_product(const node &x) const {
    if (x.kind != op::div && unconverted(p_, x.in[0]) == unconverted(p_, x.in[1]))
      return sign::not_negative;
    const sign a = of(x.in[0]), b = of(x.in[1]);
    if (a == sign::unknown || b == sign::unknown) return sign::unknown;
    return a == b ? sign::not_negative : sign::not_positive;
  }

  // log(1 + exp(x)) and log of what is at most 1.
  sign of_log(node_id n) const {
    while (p_[n].kind == op::take && p_[n].name.empty()) n = inner_of(p_, p_[n].in[0]);
    const node &x = p_[n];
    if (!x.name.empty()) return sign::unknown;
    if (x.kind == op::sigmoid || x.kind == op::softmax) return sign::not_positive;
    if (x.kind == op::size) return sign::not_negative;
    if (x.kind == op::uniform) return sign::not_positive;
    const auto is_at_most_1 = [&](node_id m) { return is_number(p_, m) && p_[m].value <= 1; };
    if (x.kind == op::min && (is_at_most_1(x.in[0]) || is_at_most_1(x.in[1])))
      return sign::not_positive;
    if (x.kind == op::max && is_at_most_1(x.in[1])) return of_log(inner_of(p_, x.in[0]));
    if (x.kind == op::number) return x.value < 1 ? sign::not_positive : sign::not_negative;
    const auto is_data = [&](node_id m) { return p_[m].kind == op::input; };
    if (x.kind == op::sub && is_at_most_1(x.in[0]) && of(x.in[1]) == sign::not_negative &&
        !depends_on(p_, x.in[1], is_data))
      return sign::not_positive;
    return adds_one(p_, signs_, n) ? sign::not_negative : sign::unknown;
  }

  // x - logsumexp<vocab>(x), or an element of x.
  bool is_log_probability(const node &x) const {
    const node_id total = unconverted(p_, x.in[1]);
    if (p_[total].kind != op::logsumexp) return false;
    node_id one = unconverted(p_, x.in[0]);
    if (p_[one].kind == op::take && p_[one].over == p_[total].over)
      one = unconverted(p_, p_[one].in[0]);
    return one == unconverted(p_, p_[total].in[0]);
  }

  const program &p_;
  std::vector<sign> signs_;
};

}  // namespace

bool adds_one(const program &p, const std::vector<sign> &signs, node_id n) {
  if (!is_unnamed(p, op::add, n)) return false;
  const auto &in = p[n].in;
  for (const std::size_t k : {0, 1})
    if (is_number(p, in[k]) && p[in[k]].value >= 1 && signs[in[1 - k]] == sign::not_negative)
      return true;
  return false;
}

std::vector<sign> signs_of(const program &p) { return sign_finder(p).run(); }

}  // namespace qkv::codegen
