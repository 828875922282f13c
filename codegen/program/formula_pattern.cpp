// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/formula_pattern.hpp"

#include <cctype>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {

class pattern_parser {
 public:
  explicit pattern_parser(sv text) : text_(text) {}

  formula_pattern::term whole() {
    formula_pattern::term t = sum();
    if (at_ != text_.size()) fail("an operator");
    return t;
  }

 private:
  using term = formula_pattern::term;

  [[noreturn]] void fail(const std::string &wanted) const {
    throw std::invalid_argument("pattern \"" + std::string(text_) + "\": expected " + wanted +
                                " before \"" + std::string(text_.substr(at_)) + "\"");
  }
  bool next_is(char c) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() && text_[at_] == c;
  }
  bool skip(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }
  void require(char c) {
    if (!skip(c)) fail(std::string("'") + c + "'");
  }
  std::string word() {
    next_is(' ');
    const std::size_t first = at_;
    const auto is_part = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    if (at_ == first) fail("a name");
    return std::string(text_.substr(first, at_ - first));
  }

  static term operation(op kind, std::vector<term> in) {
    term t;
    t.what = term::operation, t.kinds = {kind}, t.in = std::move(in);
    return t;
  }
  term sum() {
    term t = product();
    for (;;)
      if (skip('+'))
        t = operation(op::add, {std::move(t), product()});
      else if (skip('-'))
        t = operation(op::sub, {std::move(t), product()});
      else
        return t;
  }
  term product() {
    term t = factor();
    for (;;)
      if (skip('*'))
        t = operation(op::mul, {std::move(t), factor()});
      else if (skip('/'))
        t = operation(op::div, {std::move(t), factor()});
      else
        return t;
  }
  term factor() {
    if (skip('-')) {
      term t = factor();
      if (t.what != term::number) return operation(op::neg, {std::move(t)});
      t.value = -t.value;
      return t;
    }
    if (skip('(')) {
      term t = sum();
      require(')');
      return t;
    }
    term t;
    if (skip('#')) {
      t.what = term::any_number, t.name = word();
      return t;
    }
    next_is(' ');
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      t.what = term::number;
      const char *end = text_.data() + text_.size();
      at_ = static_cast<std::size_t>(std::from_chars(text_.data() + at_, end, t.value).ptr -
                                     text_.data());
      return t;
    }
    t.name = word();
    if (skip(':')) {
      term named = factor();
      named.name = t.name;
      return named;
    }
    if (!next_is('(') && !next_is('<')) return t;
    return call(std::move(t.name));
  }
  term call(const std::string &name) {
    term t;
    t.what = term::operation;
    for (int o = 0; o < core::op_count; ++o)
      if (name_of(static_cast<op>(o)) == name || other_name(static_cast<op>(o)) == name)
        t.kinds.push_back(static_cast<op>(o));
    if (t.kinds.empty()) fail("an operation in place of \"" + name + "\"");
    if (skip('<')) {
      t.over = word();
      require('>');
      // max<a>(x) is a reduction
      std::erase_if(t.kinds, [](op k) { return is_pointwise(k); });
    } else if (t.kinds.size() > 1) {
      std::erase_if(t.kinds, [](op k) { return is_reduction(k); });
    }
    require('(');
    t.has_any_operands = skip(')');
    if (t.has_any_operands) return t;
    do t.in.push_back(sum());
    while (skip(','));
    require(')');
    return t;
  }
  // Both roots, and comparisons, whose name is a sign.
  static sv other_name(op kind) {
    switch (kind) {
      case op::sqrt:
      case op::rsqrt:
        return "root";
      case op::silu:
      case op::gelu:
        return "smooth";
      case op::greater:
      case op::greater_equal:
        return "above";
      case op::less:
      case op::less_equal:
        return "below";
      case op::equal:
        return "equal";
      case op::input:
      case op::param:
        return "argument";
      default:
        return name_of(kind);
    }
  }

  const sv text_;
  std::size_t at_ = 0;
};

class pattern_search {
 public:
  using term = formula_pattern::term;
  using accept = std::function<bool(const pattern_match &)>;

  explicit pattern_search(const program &p) : p_(p) {}

  bool find(const term &t, node_id n, const pattern_match &known, const accept &next) const {
    n = of_all_positions(p_, n);
    switch (t.what) {
      case term::variable:
        if (bound(known.steps, t.name, n)) return next(with_step(known, t.name, n));
        return find_beside_small_number(t, n, known, next);
      case term::number:
        return is_number(p_, n) && p_[n].value == t.value && next(known);
      case term::any_number: {
        if (!is_number(p_, n) || !bound(known.numbers, t.name, p_[n].value)) return false;
        pattern_match more = known;
        more.numbers[t.name] = p_[n].value;
        return next(more);
      }
      case term::operation:
        return find_operation(t, n, known, next);
    }
    return false;
  }

 private:
  template <class Map, class T>
  static bool bound(const Map &known, const std::string &name, const T &value) {
    const auto it = known.find(name);
    return it == known.end() || it->second == value;
  }
  static pattern_match with_step(pattern_match known, const std::string &name, node_id n) {
    known.steps[name] = n;
    return known;
  }

  bool find_operation(const term &t, node_id n, pattern_match known, const accept &next) const {
    const node &x = p_[n];
    if (!is_argument(x) && !x.name.empty()) return false;
    const auto is_one = [&](op kind) { return kind == x.kind; };
    if (std::none_of(t.kinds.begin(), t.kinds.end(), is_one))
      return find_beside_small_number(t, n, known, next);
    if (!t.over.empty()) {
      if (!bound(known.axes, t.over, x.over)) return false;
      known.axes[t.over] = x.over;
    }
    if (!t.name.empty()) {
      if (!bound(known.steps, t.name, n)) return false;
      known.steps[t.name] = n;
    }
    if (t.has_any_operands) return next(known);
    if (x.in.size() != t.in.size()) return false;
    std::vector<node_id> in = x.in;
    if (find_operands(t, in, 0, known, next)) return true;
    if (!is_symmetric(x.kind)) return false;
    std::swap(in[0], in[1]);
    return find_operands(t, in, 0, known, next);
  }
  // x of x + 1e-6
  bool find_beside_small_number(const term &t, node_id n, const pattern_match &known,
                                const accept &next) const {
    constexpr double small = 1e-3;
    if (!is_unnamed(p_, op::add, n)) return false;
    for (const std::size_t k : {0, 1})
      if (const node_id e = inner_of(p_, p_[n].in[k]);
          is_number(p_, e) && p_[e].value > 0 && p_[e].value <= small)
        return find(t, p_[n].in[1 - k], known, next);
    return false;
  }
  bool find_operands(const term &t, const std::vector<node_id> &in, std::size_t k,
                     const pattern_match &known, const accept &next) const {
    if (k == in.size()) return next(known);
    return find(t.in[k], in[k], known,
                [&](const pattern_match &more) { return find_operands(t, in, k + 1, more, next); });
  }
  static bool is_symmetric(op kind) {
    switch (kind) {
      case op::add:
      case op::mul:
      case op::min:
      case op::max:
      case op::and_:
      case op::or_:
      case op::equal:
      case op::not_equal:
      case op::dot:
        return true;
      default:
        return false;
    }
  }

  const program &p_;
};

formula_pattern::formula_pattern(sv text) : term_(pattern_parser(text).whole()) {}

bool formula_pattern::find(const program &p, node_id n,
                           const std::function<bool(const pattern_match &)> &accept) const {
  return pattern_search(p).find(term_, n, {}, accept);
}

}  // namespace qkv::codegen
