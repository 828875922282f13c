#include "codegen/reference/interpreter.hpp"

#include <limits>
#include <numeric>
#include <stdexcept>

#include "codegen/reference/functions.hpp"

namespace qkv::codegen {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// A step at every position of its shape; `present` is empty when nothing was removed.
struct tensor_value {
  std::vector<double> number;
  std::vector<char> present;
  bool here(std::size_t k) const { return present.empty() || present[k]; }
};

class interpreter {
 public:
  interpreter(const program &p, const arrays &arguments, const axis_sizes &sizes, arithmetic how)
      : p_(p), arguments_(arguments), how_(how), at_(p.axes.size(), 0) {
    for (const axis &a : p.axes) {
      const axis &root = p.axes[a.root];
      std::int64_t size = root.size;
      if (size < 0) {
        auto it = sizes.find(root.name);
        if (it == sizes.end()) it = sizes.find(a.name);
        if (it == sizes.end()) throw std::runtime_error(p.name + ": no size for axis " + root.name);
        size = it->second;
      }
      size_.push_back(size);
    }
  }

  std::vector<array> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      values_.push_back(compute(p_[n]));
      if (how_ != arithmetic::exact && p_[n].type == f32)
        for (double &x : values_.back().number) x = static_cast<float>(x);
    }
    std::vector<array> results;
    for (node_id n : p_.outputs) {
      array a{extents(p_[n].shape), values_[n].number};
      for (std::size_t k = 0; k < a.data.size(); ++k)
        if (!values_[n].here(k)) a.data[k] = p_[n].type == f32 ? -infinity : 0;
      results.push_back(std::move(a));
    }
    return results;
  }

 private:
  // ---- positions ---------------------------------------------------------------------------------------------------
  std::vector<std::int64_t> extents(const std::vector<axis_id> &shape) const {
    std::vector<std::int64_t> e;
    for (axis_id a : shape) e.push_back(size_[a]);
    return e;
  }

  std::size_t count(const std::vector<axis_id> &shape) const {
    std::size_t n = 1;
    for (axis_id a : shape) n *= static_cast<std::size_t>(size_[a]);
    return n;
  }

  // Calls f with every position of the axes, last axis fastest; at_ holds the index along each axis of the program.
  template <class F>
  void each(const std::vector<axis_id> &axes, F f) {
    const std::size_t n = count(axes);
    for (axis_id a : axes) at_[a] = 0;
    for (std::size_t k = 0; k < n; ++k) {
      f(k);
      for (std::size_t d = axes.size(); d-- > 0;) {
        if (++at_[axes[d]] < size_[axes[d]]) break;
        at_[axes[d]] = 0;
      }
    }
  }

  std::size_t offset(const std::vector<axis_id> &shape) const {
    std::size_t k = 0;
    for (axis_id a : shape) k = k * static_cast<std::size_t>(size_[a]) + static_cast<std::size_t>(at_.at(a));
    return k;
  }

  double number(node_id n) const { return values_[n].number[offset(p_[n].shape)]; }
  bool present(node_id n) const { return values_[n].here(offset(p_[n].shape)); }

  // ---- sums --------------------------------------------------------------------------------------------------------
  // One after the other, or dealt to 8 partial sums, in the precision asked for.
  class total {
   public:
    explicit total(arithmetic how) : how_(how) {}
    void add(double x) {
      if (how_ == arithmetic::exact) sum_[0] += x;
      else {
        double &s = sum_[how_ == arithmetic::float_by_eights ? next_++ % 8 : 0];
        s = static_cast<float>(static_cast<float>(s) + static_cast<float>(x));
      }
    }
    double value() const {
      double s = sum_[0];
      for (int k = 1; k < 8; ++k) s = how_ == arithmetic::exact ? s + sum_[k] : static_cast<float>(static_cast<float>(s) + static_cast<float>(sum_[k]));
      return s;
    }

   private:
    arithmetic how_;
    double sum_[8] = {};
    unsigned next_ = 0;
  };

  double rounded(double x) const { return how_ == arithmetic::exact ? x : static_cast<float>(x); }

  // ---- steps -------------------------------------------------------------------------------------------------------
  tensor_value compute(const node &n) {
    tensor_value v;
    v.number.resize(count(n.shape));
    if (is_pointwise(n.kind) || is_view(n.kind) || n.kind == op::mask || n.kind == op::output) {
      pointwise(n, v);
    } else if (is_source(n.kind)) {
      source(n, v);
    } else if (n.kind == op::softmax || n.kind == op::normalize) {
      weights(n, v);
    } else {
      reduction(n, v);
    }
    return v;
  }

  void source(const node &n, tensor_value &v) {
    switch (n.kind) {
      case op::number: v.number[0] = n.value; break;
      case op::size: v.number[0] = static_cast<double>(size_[n.over[0]]); break;
      case op::index:
        each(n.shape, [&](std::size_t k) { v.number[k] = static_cast<double>(at_[n.over[0]]); });
        break;
      default: {
        auto it = arguments_.find(n.name);
        if (it == arguments_.end()) throw std::runtime_error(p_.name + ": no " + n.name);
        if (it->second.shape != extents(n.shape)) throw std::runtime_error(p_.name + ": " + n.name + " has other extents than its axes");
        v.number = it->second.data;
      }
    }
  }

  void pointwise(const node &n, tensor_value &v) {
    bool some_absent = n.kind == op::mask;
    for (node_id operand : n.in) some_absent |= !values_[operand].present.empty();
    if (some_absent) v.present.resize(v.number.size());
    each(n.shape, [&](std::size_t k) {
      bool here = true;
      v.number[k] = at_position(n, here);
      if (some_absent) v.present[k] = here;
    });
  }

  double at_position(const node &n, bool &here) {
    switch (n.kind) {
      case op::where: {
        const node_id chosen = number(n.in[0]) != 0 ? n.in[1] : n.in[2];
        here = present(n.in[0]) && present(chosen);
        return number(chosen);
      }
      case op::mask:
        here = present(n.in[0]) && present(n.in[1]) && number(n.in[1]) != 0;
        return number(n.in[0]);
      case op::rename: at_[n.over[0]] = at_[n.over[1]]; break;
      case op::split: at_[n.over[0]] = at_[n.over[1]] * size_[n.over[2]] + at_[n.over[2]]; break;
      case op::merge:
        at_[n.over[1]] = at_[n.over[0]] / size_[n.over[2]];
        at_[n.over[2]] = at_[n.over[0]] % size_[n.over[2]];
        break;
      default: break;
    }
    here = present(n.in[0]);
    const double a = number(n.in[0]);
    if (is_view(n.kind) || n.kind == op::output) return a;
    if (n.kind == op::cast) return n.type == i32 ? std::trunc(a) : n.type == b8 ? a != 0 : a;
    if (is_unary(n.kind)) return apply(n.kind, a);
    here = here && present(n.in[1]);
    return apply(n.kind, a, number(n.in[1]));
  }

  std::vector<axis_id> kept(const node &n) const {
    std::vector<axis_id> axes;
    for (axis_id a : n.shape)
      if (std::find(n.over.begin(), n.over.end(), a) == n.over.end()) axes.push_back(a);
    return axes;
  }

  void weights(const node &n, tensor_value &v) {
    const node_id x = n.in[0];
    each(kept(n), [&](std::size_t) {
      double most = -infinity;
      if (n.kind == op::softmax) each(n.over, [&](std::size_t) { if (present(x)) most = larger(most, number(x)); });
      const auto weight = [&] { return !present(x) ? 0.0 : n.kind == op::softmax ? exp_from(number(x), most) : number(x); };
      total sum(how_);
      each(n.over, [&](std::size_t) { if (present(x)) sum.add(weight()); });
      const double l = sum.value();
      each(n.over, [&](std::size_t) { v.number[offset(n.shape)] = l == 0 ? 0 : weight() / l; });
    });
  }

  // e^(x - most), where a row of only -inf has no weight at all
  double exp_from(double x, double most) const {
    if (most == -infinity) return 0;
    return rounded(std::exp(rounded(x - most)));
  }

  void reduction(const node &n, tensor_value &v) {
    const node_id x = n.in[0];
    each(n.shape, [&](std::size_t k) {
      total sum(how_);
      double least = infinity, most = -infinity;
      std::int64_t seen = 0;
      each(n.over, [&](std::size_t) {
        if (!present(x) || (n.kind == op::dot && !present(n.in[1]))) return;
        ++seen;
        const double a = number(x);
        if (n.kind == op::dot) sum.add(rounded(a * number(n.in[1])));
        else if (n.kind == op::sum || n.kind == op::mean) sum.add(a);
        least = smaller(least, a);
        most = larger(most, a);
      });
      switch (n.kind) {
        case op::dot:
        case op::sum: v.number[k] = sum.value(); break;
        case op::mean: v.number[k] = seen ? sum.value() / static_cast<double>(seen) : 0; break;
        case op::max_over: v.number[k] = most; break;
        case op::min_over: v.number[k] = least; break;
        case op::logsumexp: {
          each(n.over, [&](std::size_t) { if (present(x)) sum.add(exp_from(number(x), most)); });
          v.number[k] = most == -infinity ? -infinity : most + rounded(std::log(sum.value()));
          break;
        }
        default: throw std::logic_error("no meaning for " + std::string(name_of(n.kind)));
      }
    });
  }

  const program &p_;
  const arrays &arguments_;
  arithmetic how_;
  std::vector<std::int64_t> size_;
  std::vector<tensor_value> values_;
  std::vector<std::int64_t> at_;
};

}  // namespace

std::vector<array> interpret(const program &p, const arrays &arguments, const axis_sizes &sizes, arithmetic how) {
  return interpreter(p, arguments, sizes, how).run();
}

}  // namespace qkv::codegen
