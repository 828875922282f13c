// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/cancelled_shift.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

// The step after the shift grows by c: x * exp(power * c), or x + slope * c.
// The power or the slope is 0.
struct change {
  double power = 0, slope = 0;

  bool is_none() const { return power == 0 && slope == 0; }
  bool operator==(const change &) const = default;
};
using maybe = std::optional<change>;  // none: something else

class changes {
 public:
  changes(const program &p, node_id shift, const std::set<node_id> &cancelled,
          const std::set<node_id> &at_least_one)
      : p_(p), axes_(p[shift].shape), at_least_one_(at_least_one) {
    for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n) {
      if (n == shift)
        of_.push_back(change{0, 1});
      else
        of_.push_back(cancelled.count(n) ? change{} : found(p[n]));
    }
  }

  bool reach_no_result() const {
    return std::all_of(p_.outputs.begin(), p_.outputs.end(),
                       [&](node_id n) { return of_[n] && of_[n]->is_none(); });
  }

 private:
  maybe found(const node &x) const {
    std::vector<change> in;
    for (const node_id operand : x.in) {
      if (!of_[operand]) return {};
      in.push_back(*of_[operand]);
    }
    if (std::all_of(in.begin(), in.end(), [](const change &c) { return c.is_none(); }))
      return change{};
    // Each position has a c of its own, but along axes that the shift lacks.
    const auto is_mixed = [&](axis_id a) { return has(axes_, a); };
    if (!is_pointwise(x.kind) && std::any_of(x.over.begin(), x.over.end(), is_mixed)) return {};
    if (!is_floating(x.type) && !is_comparison(x.kind)) return {};
    return is_pointwise(x.kind) ? of_pointwise(x, in) : of_others(x, in);
  }

  maybe of_pointwise(const node &x, const std::vector<change> &in) const {
    const change a = in[0], b = in.size() > 1 ? in[1] : change{};
    switch (x.kind) {
      case op::neg:
        return change{a.power, -a.slope};
      case op::exp:
        return a.power == 0 ? maybe(change{a.slope, 0}) : maybe();
      case op::log:
        return a.slope == 0 ? maybe(change{0, a.power}) : maybe();
      case op::cast:
        return a;
      case op::add:
      case op::sub:
        if (a.power == 0 && b.power == 0)
          return change{0, x.kind == op::add ? a.slope + b.slope : a.slope - b.slope};
        return x.kind == op::add && adds_nothing(x) ? in[0] : alike(x, in, 0);
      case op::mul:
        if (a.slope == 0 && b.slope == 0) return change{a.power + b.power, 0};
        return {};
      case op::div:
        if (a.slope == 0 && b.slope == 0) return change{a.power - b.power, 0};
        return {};
      case op::min:
      case op::max:
        return alike(x, in, 0);
      case op::where:
        return a.is_none() ? alike(x, in, 1) : maybe();
      default:
        if (is_comparison(x.kind) && alike(x, in, 0)) return change{};
        return {};
    }
  }

  maybe of_others(const node &x, const std::vector<change> &in) const {
    const change a = in[0];
    switch (x.kind) {
      case op::dot:
        if (a.slope == 0 && in[1].slope == 0) return change{a.power + in[1].power, 0};
        return {};
      case op::sum:
      case op::mean:
      case op::cumsum:
        return a.slope == 0 ? maybe(a) : maybe();
      case op::max_over:
      case op::min_over:
      case op::broadcast:
      case op::rename:
      case op::split:
      case op::merge:
      case op::output:
        return a;
      case op::logsumexp:
        return a.power == 0 ? maybe(a) : maybe();
      case op::softmax:
        return a.power == 0 ? maybe(change{}) : maybe();
      case op::mask:
      case op::take:
        return in[1].is_none() ? maybe(a) : maybe();
      default:
        return {};
    }
  }

  // True for sum<kv>(e) + 1e-9, which keeps rows without keys from 0 / 0.
  bool adds_nothing(const node &x) const {
    const node &b = p_[unbroadcast(p_, x.in[1])];
    const double half_unit = x.type == f64 ? 0x1p-54 : 0x1p-25;
    return b.kind == op::number && std::abs(b.value) < half_unit &&
           at_least_one_.count(unbroadcast(p_, x.in[0])) > 0;
  }

  // The change that all operands have, the one of number `first` and those after it. Any factor
  // leaves 0 as it is.
  maybe alike(const node &x, const std::vector<change> &in, std::size_t first) const {
    maybe common;
    bool zero = false;
    for (std::size_t k = first; k < in.size(); ++k) {
      const node &operand = p_[unbroadcast(p_, x.in[k])];
      if (operand.kind == op::number && operand.value == 0) {
        zero = true;
        continue;
      }
      if (common && *common != in[k]) return {};
      common = in[k];
    }
    return zero && common && common->slope != 0 ? maybe() : common;
  }

  const program &p_;
  const std::vector<axis_id> axes_;
  const std::set<node_id> &at_least_one_;
  std::vector<maybe> of_;
};

}  // namespace

bool is_cancelled(const program &p, node_id shift, const std::set<node_id> &cancelled,
                  const std::set<node_id> &at_least_one) {
  return changes(p, shift, cancelled, at_least_one).reach_no_result();
}

}  // namespace qkv::codegen
