// SPDX-License-Identifier: BSL-1.0
#include "codegen/reference/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <qkv/core/half.hpp>
#include <set>
#include <utility>

namespace qkv::codegen {
namespace {

// The spacing of numbers next to 0.
double smallest(dtype type) {
  return type == f64    ? std::numeric_limits<double>::denorm_min()
         : type == f16  ? 0x1p-24
         : type == bf16 ? 0x1p-133
                        : 0x1p-149;
}

class comparer {
 public:
  comparer(const expectation &e, std::span<const double> result) : e_(e), result_(result) {
    columns_ = e.shape.empty() ? 1 : static_cast<std::size_t>(e.shape.back());
  }

  verdict run() {
    if (verdict v = whole_output(); !v.right || result_.empty()) return v;
    measure_yardsticks();
    const std::size_t n = result_.size();
    for (std::size_t k = 0; k < n; ++k)
      if (!same_kind(k)) return wrong_kind(k);
    for (std::size_t k = 0; k < n; ++k)
      if (breaks_promise(k)) return not_zero(k);
    verdict v = worst_element();
    if (v.right && e_.zeros_believed)
      v.text =
          e_.name + ": 0 everywhere would be right, too (plain loops or rounding): proves little";
    return v;
  }

  std::vector<verdict> all_wrong() {
    if (verdict v = whole_output(); !v.right) return {v};
    if (result_.empty()) return {};
    measure_yardsticks();
    std::vector<verdict> all;
    for (std::size_t k = 0; k < result_.size(); ++k) {
      if (!same_kind(k))
        all.push_back(wrong_kind(k));
      else if (breaks_promise(k))
        all.push_back(not_zero(k));
      else if (error(result_[k], k) > allowed(k))
        all.push_back(too_far(k));
    }
    return all;
  }

 private:
  verdict whole_output() const {
    const std::size_t n = e_.reference.size();
    if (result_.size() != n || e_.in_sequence.size() != n || e_.in_eights.size() != n ||
        e_.fused.size() != n || e_.noise.size() != n)
      return fail(-1, fmt::format("{} has {} elements, not {}", e_.name, result_.size(), n));
    if (n > 0 && !e_.zeros_believed && nothing_but_zeros())
      return fail(-1, e_.name + " is 0 everywhere: nothing was computed, or nothing is tested");
    return pass();
  }

  bool promised_zero(std::size_t k) const { return !e_.zero.empty() && e_.zero[k]; }

  bool breaks_promise(std::size_t k) const {
    return promised_zero(k) && result_[k] != 0 && !undecided(k);
  }

  bool nothing_but_zeros() const {
    bool promised = true;
    for (std::size_t k = 0; k < result_.size(); ++k) {
      if (result_[k] != 0) return false;
      promised = promised && promised_zero(k);
    }
    return !promised;
  }

  // The result need not be finite where all plain loops overflow.
  bool loops_overflow(std::size_t k) const {
    return !std::isfinite(e_.in_sequence[k]) && !std::isfinite(e_.in_eights[k]) &&
           !std::isfinite(e_.fused[k]);
  }

  bool undecided(std::size_t k) const { return std::isinf(e_.noise[k]); }

  bool same_kind(std::size_t k) const {
    if (undecided(k)) return true;
    const double got = result_[k], want = stored(e_.type, e_.reference[k]);
    if (std::isnan(want)) return std::isnan(got);
    if (std::isinf(want)) return got == want;
    return std::isfinite(got) || loops_overflow(k);
  }

  double error(double got, std::size_t k) const {
    const double want = e_.reference[k];
    return std::isfinite(got) && std::isfinite(want) ? std::fabs(got - want) : 0;
  }

  double yardstick(std::size_t k) const {
    return std::max(
        {error(e_.in_sequence[k], k), error(e_.in_eights[k], k), error(e_.fused[k], k)});
  }

  void measure_yardsticks() {
    for (std::size_t first = 0; first < e_.reference.size(); first += columns_) {
      double scale = 0, largest = 0;
      for (std::size_t k = first; k < first + columns_; ++k) {
        if (std::isfinite(e_.reference[k])) scale = std::max(scale, std::fabs(e_.reference[k]));
        largest = std::max(largest, yardstick(k));
      }
      scale_.push_back(scale);
      absolute_ = std::max(absolute_, largest);
      if (scale > 0) relative_ = std::max(relative_, largest / scale);
    }
  }

  double allowed(std::size_t k) const {
    const double scale = scale_[k / columns_];
    const double loops = scale > 0 ? std::min(absolute_, relative_ * scale) : yardstick(k);
    return 2 * loops + 4 * unit_roundoff(e_.type) * scale + 2 * e_.noise[k] + smallest(e_.type);
  }

  verdict worst_element() {
    verdict v = pass();
    double worst = 0;  // share of the allowed error
    for (std::size_t k = 0; k < result_.size(); ++k) {
      const double off = error(result_[k], k);
      if (off == 0) continue;
      const double may = allowed(k);
      const double share = may > 0 ? off / may : std::numeric_limits<double>::infinity();
      if (share <= worst) continue;
      worst = share;
      v.error = off, v.allowed = may, v.at = static_cast<std::int64_t>(k);
    }
    if (worst <= 1) {
      if (v.at >= 0)
        v.text = fmt::format("{}: worst at {}: off by {:.3g}, allowed {:.3g}", e_.name, place(v.at),
                             v.error, v.allowed);
      return v;
    }
    return too_far(static_cast<std::size_t>(v.at));
  }

  verdict wrong_kind(std::size_t k) const {
    return fail(k, place(k) + fmt::format(" is {:.9g}, expected {:.9g}", result_[k],
                                          stored(e_.type, e_.reference[k])));
  }

  verdict not_zero(std::size_t k) const {
    return fail(k, place(k) + fmt::format(" is {:.9g}, but exactly 0 is promised", result_[k]));
  }

  verdict too_far(std::size_t k) const {
    return fail(
        k,
        place(k) +
            fmt::format(
                " is {:.9g}, expected {:.9g}: off by {:.3g}, allowed {:.3g} (plain loops: {:.3g})",
                result_[k], e_.reference[k], error(result_[k], k), allowed(k), yardstick(k)));
  }

  // "O[batch=0, seq=17, d_v=3]"
  std::string place(std::size_t k) const {
    std::string text;
    for (std::size_t d = e_.shape.size(); d-- > 0;) {
      const auto n = static_cast<std::size_t>(e_.shape[d]);
      const std::string name = d < e_.axes.size() ? e_.axes[d] : fmt::format("{}", d);
      text = fmt::format("{}={}{}{}", name, k % n, text.empty() ? "" : ", ", text);
      k /= n;
    }
    return text.empty() ? e_.name : fmt::format("{}[{}]", e_.name, text);
  }

  verdict pass() const {
    verdict v;
    v.right = true;
    v.text = e_.name + ": exact";
    return v;
  }

  verdict fail(std::size_t k, std::string text) const {
    verdict v;
    v.text = std::move(text);
    if (k >= result_.size() || k >= e_.reference.size()) return v;
    v.at = static_cast<std::int64_t>(k);
    const bool comparable = std::isfinite(result_[k]) && std::isfinite(e_.reference[k]);
    v.error = comparable ? error(result_[k], k) : std::numeric_limits<double>::infinity();
    v.allowed = promised_zero(k) ? 0 : allowed(k);
    return v;
  }

  const expectation &e_;
  std::span<const double> result_;
  std::size_t columns_ = 1;
  std::vector<double> scale_;           // per row
  double absolute_ = 0, relative_ = 0;  // largest errors of the loops
};

// Per step: true if a 0 that all interpretations give is 0 in every honest arithmetic.
std::vector<bool> exact_zeros(const program &p) {
  std::vector<bool> exact;
  for (const node &n : p.nodes) {
    const auto is_exact = [&](node_id o) { return exact[o]; };
    switch (core::facts_of(n.kind).zero) {
      case core::zero_rule::exact:
        exact.push_back(true);
        break;
      case core::zero_rule::of_operands:
        exact.push_back(std::all_of(n.in.begin(), n.in.end(), is_exact));
        break;
      case core::zero_rule::of_first:
        exact.push_back(is_exact(n.in[0]));
        break;
      case core::zero_rule::unsure:
        exact.push_back(false);
        break;
    }
  }
  return exact;
}

// Per step: true if everything that it depends on and that has a precision is f64.
std::vector<bool> computed_in_f64(const program &p) {
  std::vector<bool> wide, narrow, result;
  for (const node &n : p.nodes) {
    const auto operand = [&](const std::vector<bool> &is) {
      return std::any_of(n.in.begin(), n.in.end(), [&](node_id o) { return is[o]; });
    };
    wide.push_back(n.type == f64 || operand(wide));
    // the result of a comparison is exact, whatever it compares
    narrow.push_back(n.type == f32 || n.type == bf16 || n.type == f16 ||
                     (n.type != b8 && operand(narrow)));
    result.push_back(wide.back() && !narrow.back());
  }
  return result;
}

}  // namespace

verdict compare(const expectation &e, std::span<const double> result) {
  return comparer(e, result).run();
}

std::vector<verdict> wrong_elements(const expectation &e, std::span<const double> result) {
  return comparer(e, result).all_wrong();
}

namespace {

// One plain loop, in the precision of each output.
arrays loop_results(const program &p, const arrays &arguments, const size_map &sizes, order how) {
  const std::vector<bool> in_f64 = computed_in_f64(p);
  arrays all;
  for (const bool wide : {false, true}) {
    if (std::none_of(p.outputs.begin(), p.outputs.end(),
                     [&](node_id n) { return in_f64[n] == wide; }))
      continue;
    const auto loop = wide ? interpret_as_double : interpret_as_float;
    arrays results = loop(p, arguments, sizes, how, {});
    for (node_id n : p.outputs)
      if (in_f64[n] == wide) all[p[n].name] = std::move(results[p[n].name]);
  }
  return all;
}

// True if compare finds the result right whatever the loops that are not given compute: each of
// them can only add to the allowed error. False wherever all loops matter: for results that are 0
// everywhere, for numbers where 0 may be promised, and for overflow.
bool is_surely_right(dtype type, const array &reference, const array &noise, const array *loop,
                     std::span<const double> result) {
  const std::size_t n = reference.data.size();
  if (result.size() != n) return false;
  if (n == 0) return true;
  if (std::all_of(result.begin(), result.end(), [](double x) { return x == 0; })) return false;
  const std::size_t columns =
      reference.shape.empty() ? 1 : static_cast<std::size_t>(reference.shape.back());
  std::vector<double> scale(n / columns, 0);
  double absolute = 0, relative = 0;
  for (std::size_t row = 0; row < scale.size(); ++row) {
    double largest = 0;
    for (std::size_t k = row * columns; k < (row + 1) * columns; ++k) {
      if (!std::isfinite(reference.data[k])) continue;
      scale[row] = std::max(scale[row], std::fabs(reference.data[k]));
      if (loop && std::isfinite(loop->data[k]))
        largest = std::max(largest, std::fabs(loop->data[k] - reference.data[k]));
    }
    absolute = std::max(absolute, largest);
    if (scale[row] > 0) relative = std::max(relative, largest / scale[row]);
  }
  for (std::size_t k = 0; k < n; ++k) {
    const double got = result[k], exact = reference.data[k], want = stored(type, exact);
    if (std::isinf(noise.data[k])) continue;
    if (!std::isfinite(want)) {
      if (std::isnan(want) ? !std::isnan(got) : got != want) return false;
      continue;
    }
    if (exact == 0 && got != 0) return false;
    const double s = scale[k / columns];
    const double allowed = 2 * std::min(absolute, relative * s) + 4 * unit_roundoff(type) * s +
                           2 * noise.data[k] + smallest(type);
    if (!(std::fabs(got - exact) <= allowed)) return false;
  }
  return true;
}

// True if rounding alone could make every element 0, as where large terms cancel.
bool nothing_beyond_noise(const expectation &e) {
  for (std::size_t k = 0; k < e.reference.size(); ++k)
    if (!(std::fabs(e.reference[k]) <= 2 * e.noise[k])) return false;  // as `allowed` does
  return true;
}

std::vector<expectation> expected(const program &p, const arrays &arguments, const size_map &sizes,
                                  measured exact, std::map<order, arrays> loops) {
  const std::vector<bool> in_f64 = computed_in_f64(p);
  const std::vector<std::int64_t> size = sizes_of(p, arguments, sizes);
  const bool nothing_to_compute_from = std::count(size.begin(), size.end(), 0) > 0;
  const std::vector<bool> exact_zero = exact_zeros(p);
  std::vector<expectation> all;
  for (node_id n : p.outputs) {
    const std::string &name = p[n].name;
    expectation e;
    e.name = name;
    e.type = p[n].type;
    for (axis_id a : p[n].shape) e.axes.push_back(p.axes[a].name);
    e.shape = exact.values[name].shape;
    e.reference = std::move(exact.values[name].data);
    e.in_sequence = std::move(loops[order::in_sequence][name].data);
    e.in_eights = std::move(loops[order::in_eights][name].data);
    e.fused = std::move(loops[order::fused][name].data);
    e.noise = std::move(exact.noise[name].data);
    // Below the smallest normal number of the arithmetic, 0 is right as well.
    const double least = in_f64[n] ? std::numeric_limits<double>::min()
                                   : static_cast<double>(std::numeric_limits<float>::min());
    const auto size_at = [&](const std::vector<double> &x, std::size_t k) {
      return std::isnan(x[k]) ? least : std::fabs(x[k]);
    };
    for (const std::vector<double> *loop : {&e.in_sequence, &e.in_eights, &e.fused}) {
      bool zeros = true;
      for (std::size_t k = 0; k < loop->size(); ++k) zeros = zeros && size_at(*loop, k) < least;
      e.zeros_believed = e.zeros_believed || zeros;
    }
    e.zeros_believed = e.zeros_believed || nothing_beyond_noise(e);
    for (std::size_t k = 0; k < e.reference.size(); ++k) {
      double largest = 0;
      for (const std::vector<double> *x : {&e.reference, &e.in_sequence, &e.in_eights, &e.fused})
        largest = std::max(largest, size_at(*x, k));
      // A sum whose terms cancel is 0 in one order of f32 and not in another: it has noise.
      const bool has_noise = e.noise[k] > 0;
      e.zero.push_back(largest == 0 && (nothing_to_compute_from || (exact_zero[n] && !has_noise)));
    }
    all.push_back(std::move(e));
  }
  return all;
}

// The axes of each contraction, and of its result.
std::multiset<std::pair<std::vector<axis_id>, std::vector<axis_id>>> contractions_of(
    const program &p) {
  std::multiset<std::pair<std::vector<axis_id>, std::vector<axis_id>>> all;
  const auto sorted = [](std::vector<axis_id> axes) {
    std::sort(axes.begin(), axes.end());
    return axes;
  };
  for (const node &n : p.nodes)
    if (n.kind == op::dot) all.emplace(sorted(n.over), sorted(n.shape));
  return all;
}

// True if the loops of the other form may be further off: it contracts in another order, or exp
// multiplies what its operands, scaled before the contraction, add to the errors of scores. (The
// weights of softmax are at most 1.)
bool rounds_otherwise(const program &form, const program &p) {
  return contractions_of(form) != contractions_of(p) ||
         std::any_of(p.nodes.begin(), p.nodes.end(),
                     [](const node &n) { return n.kind == op::exp; });
}

// Computes the loops that are missing.
void complete(std::map<order, arrays> &loops, const program &p, const arrays &arguments,
              const size_map &sizes) {
  for (const order how : {order::in_sequence, order::in_eights, order::fused})
    if (!loops.count(how)) loops[how] = loop_results(p, arguments, sizes, how);
}

// Raises the noise, and the errors of the complete loops, to those of another form of the program.
// Its errors are those against its own exact results: if the form is another kernel, they excuse
// nothing.
void add_form(measured &exact, std::map<order, arrays> &loops, const program &p,
              const program &form, const arrays &arguments, const size_map &sizes) {
  const measured other = interpret_and_measure(form, arguments, sizes);
  for (auto &[name, noise] : exact.noise) {
    const std::vector<double> &more = other.noise.at(name).data;
    for (std::size_t k = 0; k < noise.data.size(); ++k)
      noise.data[k] = std::max(noise.data[k], more[k]);
  }
  if (!rounds_otherwise(form, p)) return;
  for (auto &[how, results] : loops) {
    const arrays of_form = loop_results(form, arguments, sizes, how);
    for (auto &[name, loop] : results) {
      const std::vector<double> &reference = exact.values.at(name).data;
      for (std::size_t k = 0; k < loop.data.size(); ++k) {
        const double error = of_form.at(name).data[k] - other.values.at(name).data[k];
        if (std::isfinite(error) && std::fabs(error) > std::fabs(loop.data[k] - reference[k]))
          loop.data[k] = reference[k] + error;
      }
    }
  }
}

}  // namespace

std::vector<expectation> expected(const program &p, const arrays &arguments, const size_map &sizes,
                                  const program *computed) {
  measured exact = interpret_and_measure(p, arguments, sizes);
  std::map<order, arrays> loops;
  complete(loops, p, arguments, sizes);
  if (computed) add_form(exact, loops, p, *computed, arguments, sizes);
  return expected(p, arguments, sizes, std::move(exact), std::move(loops));
}

std::vector<expectation> doubtful(const program &p, const arrays &arguments, const size_map &sizes,
                                  const arrays &results, const program *computed) {
  measured exact = interpret_and_measure(p, arguments, sizes);
  const auto is_right = [&](const std::string &name, dtype type, const arrays *loop) {
    auto at = results.find(name);
    return at != results.end() &&
           is_surely_right(type, exact.values.at(name), exact.noise.at(name),
                           loop ? &loop->at(name) : nullptr, at->second.data);
  };
  const auto all_right = [&](const arrays *loop) {
    return std::all_of(p.outputs.begin(), p.outputs.end(),
                       [&](node_id n) { return is_right(p[n].name, p[n].type, loop); });
  };
  if (all_right(nullptr)) return {};
  std::map<order, arrays> loops;
  const arrays &loop = loops[order::in_sequence] =
      loop_results(p, arguments, sizes, order::in_sequence);
  if (all_right(&loop)) return {};
  complete(loops, p, arguments, sizes);
  if (computed) add_form(exact, loops, p, *computed, arguments, sizes);
  return expected(p, arguments, sizes, std::move(exact), std::move(loops));
}

verdict judge(const program &p, const arrays &arguments, const size_map &sizes,
              const arrays &results, const program *computed) {
  verdict worst;
  bool first = true;
  for (const expectation &e : expected(p, arguments, sizes, computed)) {
    auto at = results.find(e.name);
    const verdict v = at == results.end() ? verdict{false, 0, 0, -1, e.name + " is missing"}
                                          : compare(e, at->second.data);
    const auto share = [](const verdict &x) {
      return x.allowed > 0 ? x.error / x.allowed : x.error;
    };
    if (first || (worst.right && (!v.right || share(v) > share(worst)))) worst = v;
    first = false;
  }
  return worst;
}

}  // namespace qkv::codegen
