// SPDX-License-Identifier: BSL-1.0
#include "codegen/cuda/pair_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "codegen/cuda/pair_text.hpp"
#include "codegen/halide/lower/strict.hpp"

namespace qkv::codegen {
namespace {

namespace hi = Halide::Internal;
using Halide::Expr;

constexpr double log2_of_e = 1.44269504088896341;
constexpr std::size_t most_key_values = 4;

bool uses(const Expr &e, const std::vector<std::string> &names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string &name) { return hi::expr_uses_var(e, name); });
}

bool reads_memory(const Expr &e) {
  struct finder : hi::IRVisitor {
    using IRVisitor::visit;
    bool found = false;
    void visit(const hi::Call *op) override {
      found = found || op->call_type == hi::Call::Image || op->call_type == hi::Call::Halide;
      IRVisitor::visit(op);
    }
  } f;
  e.accept(&f);
  return f.found;
}

// The largest parts that read memory and depend on the key alone become keys[0], keys[1] ..: a
// block computes them once for a tile.
class key_values : public hi::IRMutator {
 public:
  std::vector<Expr> all;

  Expr mutate(const Expr &e) override {
    if (!is_one(e)) return IRMutator::mutate(e);
    std::size_t k = 0;
    while (k < all.size() && !hi::equal(all[k], e)) ++k;
    if (k == most_key_values) return e;
    if (k == all.size()) all.push_back(e);
    return hi::Variable::make(e.type(), fmt::format("keys[{}]", k));
  }

 private:
  using IRMutator::mutate;
  static bool is_one(const Expr &e) {
    return e.type() == Halide::Float(32) && uses(e, {"j"}) && !uses(e, {"i", "dot0", "dot1"}) &&
           reads_memory(e);
  }
};

// x log2(e), with the product inside differences, so that constants and what depends on the key
// have it already.
Expr in_base_2(const Expr &x) {
  const auto difference = [](const Expr &a, const Expr &b) { return in_base_2(a) - in_base_2(b); };
  if (const hi::Sub *s = x.as<hi::Sub>()) return difference(s->a, s->b);
  if (const hi::Call *c = x.as<hi::Call>(); c && c->is_intrinsic(hi::Call::strict_sub))
    return difference(c->args[0], c->args[1]);
  if (const hi::Mul *m = x.as<hi::Mul>(); m && hi::is_const(m->b))
    return m->a * hi::simplify(m->b * static_cast<float>(log2_of_e));
  return x * static_cast<float>(log2_of_e);
}

class pair_sums_printer : pair_text {
 public:
  pair_sums_printer(context &c, const attention_stage &s, const pair_sums_code &code, int number)
      : pair_text(c, s, code.form.element, number), form_(code.form), tiles_(code.tiles) {}

  printed_stage run() {
    std::string text = constants() + place(no_axis) + folding(no_axis) + sizes() + tensors();
    text += formulas() + finishes();
    printed_stage made{k_, {}};
    for (std::size_t k = 1; k < s_.sums.size(); ++k) {
      const node_id root = s_.sums[k].root;
      made.roots.emplace_back(root, func_of_written(root, s_.sums[0].root));
      text += written(fmt::format("result{}", k), root);
    }
    const node_id root = s_.sums[0].root;
    text += result("result0", root, place_.result(root));
    k_->spec = text + addresses_by_number("result", s_.sums.size());
    k_->what = context::label(p_, root);
    for (const tensor_tile &t : tiles_) k_->codes.push_back(code(t));
    made.roots.emplace_back(root, func(root));
    return made;
  }

 private:
  // Numbers that are known when the kernel is compiled.
  template <class Value>
  static std::string table(const char *type, const char *name, std::size_t n, Value &&value) {
    std::string text = fmt::format("  template <int N>\n  static constexpr {} {} = ", type, name);
    for (std::size_t k = 0; k + 1 < n; ++k) text += fmt::format("N == {} ? {} : ", k, value(k));
    return text + fmt::format("{};\n", value(n - 1));
  }

  std::string constants() const {
    const auto n_products = form_.products.size(), n_sums = form_.sums.size();
    std::string text = fmt::format(
        "  static constexpr int PRODUCTS = {}, SUMS = {}, KEYS = {};\n"
        "  static constexpr bool FOLDS = false, SPLITS = false;\n"
        "  using element = {};\n  using number = {};\n  using arguments = ::arguments;\n",
        n_products, n_sums, form_.keys.size(), element_name(form_.element),
        number_type(form_.element));
    text += table("int", "features", n_products,
                  [&](std::size_t k) { return form_.products[k].of.features; });
    text += table("int", "keys_of_product", n_products,
                  [&](std::size_t k) { return form_.products[k].keys; });
    text += table("int", "columns", n_sums, [&](std::size_t k) { return form_.sums[k].columns; });
    text +=
        table("int", "values_of_sum", n_sums, [&](std::size_t k) { return form_.sums[k].values; });
    text +=
        table("int", "pair_parts", n_sums, [&](std::size_t k) { return form_.sums[k].pair_parts; });
    text +=
        table("bool", "finishes", n_sums, [&](std::size_t k) { return form_.sums[k].finishes; });
    text += table("int", "key_columns", form_.keys.size(),
                  [&](std::size_t k) { return form_.keys[k].columns; });
    return text;
  }

  // NAME<k> of functions of the same parameters, which are called NAMEk, or NAMEk and a suffix.
  template <class Exists>
  static std::string by_number(const std::string &name, const std::string &suffix, std::size_t n,
                               const char *parameters, const char *arguments, Exists &&exists) {
    std::string text;
    for (std::size_t k = 0; k < n; ++k)
      if (exists(k))
        text += fmt::format("    if constexpr (K == {}) return {}{}{}(a{});\n", k, name, k, suffix,
                            arguments);
    return fmt::format(
        "  template <int K>\n  static __device__ auto {}{}(const arguments &a{}) {{\n{}  }}\n",
        name, suffix, parameters, text);
  }
  static std::string by_number(const std::string &name, const std::string &suffix, std::size_t n,
                               const char *parameters, const char *arguments) {
    return by_number(name, suffix, n, parameters, arguments, [](std::size_t) { return true; });
  }
  // The addresses of tensors, and their strides.
  static std::string addresses_by_number(const std::string &name, std::size_t n) {
    return by_number(name, "", n, ", const place &at", ", at") +
           by_number(name, "_stride", n, "", "");
  }

  std::string tensors() {
    std::string text;
    for (std::size_t k = 0; k < form_.products.size(); ++k)
      text += operand(fmt::format("rows{}", k), form_.products[k].of.rows, s_.row);
    for (std::size_t k = 0; k < form_.keys.size(); ++k)
      text += operand(fmt::format("keys{}", k), form_.keys[k].operand, s_.key);
    return text + addresses_by_number("rows", form_.products.size()) +
           addresses_by_number("keys", form_.keys.size());
  }

  // The pairs of each sum, with dot0 and dot1 in the places of the products.
  std::vector<value> pairs() {
    expression *own = nullptr;
    expression e(c_, [&](node_id n, const indices &at) -> std::optional<value> {
      for (std::size_t k = 0; k < form_.products.size(); ++k)
        if (n == form_.products[k].of.core)
          return value{scaled(fmt::format("dot{}", k), form_.products[k].of.factors, *own, at), {}};
      if (is_rough(n)) {
        value x = own->at(p_[n].in[0], at);
        x.number = hi::Call::make(Halide::Float(32), "power_of_two", {in_base_2(x.number)},
                                  hi::Call::PureExtern);
        return x;
      }
      return std::nullopt;
    });
    own = &e;
    std::vector<value> all;
    for (const weighted_sum &sum : s_.sums) {
      all.push_back(e.at(sum.pairs, here_));
      Expr &present = all.back().present;
      if (present.defined()) present = hi::simplify(present);
    }
    return all;
  }

  // An exponential that 16 bits round.
  bool is_rough(node_id n) const {
    return form_.element != f32 && p_[n].kind == op::exp && p_[n].type == f32 && !c_.is_stored(n);
  }

  std::string formulas() {
    const std::vector<value> all = pairs();
    std::string text;
    key_values of_keys;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const bool differ = all[k].present.defined() != all[0].present.defined() ||
                          (all[k].present.defined() && !hi::equal(all[k].present, all[0].present));
      if (differ || all[k].empty.defined()) throw std::runtime_error("sums see other pairs");
      text += function("float", fmt::format("pair{}", k).c_str(),
                       ", int i, int j, float dot0, float dot1, const float *keys",
                       of_keys.mutate(strict::cast(Halide::Float(32), all[k].number)));
    }
    text += values_of_keys(of_keys.all);
    const Expr &present = all[0].present;
    if (present.defined() &&
        (hi::expr_uses_var(present, "dot0") || hi::expr_uses_var(present, "dot1")))
      throw std::runtime_error("a mask depends on products");
    text += masks(present);
    text += fmt::format("  static constexpr bool reads = {};\n", reads_);
    return text +
           by_number("pair", "", all.size(),
                     ", const place &at, int i, int j, float dot0, float dot1, const float *keys",
                     ", at, i, j, dot0, dot1, keys");
  }

  // key_value<k>, of a key that exists.
  std::string values_of_keys(const std::vector<Expr> &all) {
    std::string text = fmt::format("  static constexpr int KEY_VALUES = {};\n", all.size());
    for (std::size_t k = 0; k < all.size(); ++k)
      text += function_of_tile("float", fmt::format("key_value{}", k).c_str(), ", int j", all[k]);
    n_key_values_ = static_cast<int>(all.size());
    return text + by_number("key_value", "", all.size(), ", const place &at, int j", ", at, j");
  }

  std::string finishes() {
    std::string text;
    const auto exists = [&](std::size_t k) { return form_.sums[k].finishes; };
    for (std::size_t k = 0; k < s_.sums.size(); ++k)
      if (exists(k)) text += finish(fmt::format("finish{}", k), s_.sums[k]);
    return text + by_number("finish", "", s_.sums.size(),
                            ", const place &at, int i, int c, float sum", ", at, i, c, sum",
                            exists);
  }

  printed_code code(const tensor_tile &t) const {
    printed_code x = code_of(t);
    x.skeleton = "pair_sums_" + t.skeleton;
    x.constants = fmt::format("  static constexpr int BM = {}, BN = {}, WARPS = {};\n", t.rows,
                              t.keys, t.warps);
    x.what = "pair_sums_" + t.name();
    std::vector<int> rows, keys;
    for (const auto &product : form_.products) rows.push_back(product.of.features);
    for (const auto &k : form_.keys) keys.push_back(k.columns);
    x.shared_bytes =
        t.shared_bytes(rows, keys) + 2 * n_key_values_ * t.keys * static_cast<int>(sizeof(float));
    x.blocks = hi::simplify(
        Halide::cast<std::int64_t>(positions()) *
        Halide::cast<std::int64_t>((Halide::max(c_.size(s_.row), 1) + (t.rows - 1)) / t.rows));
    return x;
  }

  const pair_sums_form &form_;
  const std::vector<tensor_tile> &tiles_;
  int n_key_values_ = 0;
};

}  // namespace

std::optional<printed_stage> print_stage(context &c, const stage &s, const pair_sums_code &code,
                                         int number) {
  try {
    return pair_sums_printer(c, std::get<attention_stage>(s), code, number).run();
  } catch (const std::runtime_error &) {  // an operation without a text
    return std::nullopt;
  }
}

}  // namespace qkv::codegen
