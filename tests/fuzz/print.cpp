// SPDX-License-Identifier: BSL-1.0
#include "tests/fuzz/print.hpp"

#include <fmt/format.h>

#include <cmath>

namespace qkv::fuzz {
namespace {

std::string literal(const step &s) {
  if (s.type == i32) return fmt::format("{}", static_cast<long>(s.number));
  if (std::isinf(s.number))
    return s.number < 0 ? "-std::numeric_limits<double>::infinity()"
                        : "std::numeric_limits<double>::infinity()";
  std::string t = fmt::format("{}", s.number);
  if (t.find_first_of(".e") == std::string::npos) t += ".0";
  return t;
}

const char *symbol_of(op kind) {
  switch (kind) {
    case op::add:
      return "+";
    case op::neg:
    case op::sub:
      return "-";
    case op::mul:
      return "*";
    case op::div:
      return "/";
    case op::less:
      return "<";
    case op::less_equal:
      return "<=";
    case op::greater:
      return ">";
    case op::greater_equal:
      return ">=";
    case op::equal:
      return "==";
    case op::not_equal:
      return "!=";
    case op::and_:
      return "&&";
    case op::or_:
      return "||";
    case op::not_:
      return "!";
    default:
      return nullptr;
  }
}

class printer {
 public:
  explicit printer(const recipe &r) : r_(r), state_(r.steps.size(), -1) {
    for (int v = 0; v < count(); ++v) {
      const step &s = r_[v];
      for (int i : s.in) state_[v] = std::max(state_[v], state_[i]);
      if (is(v, op::carried)) state_[v] = v;
      if (is(v, op::scan) || is(v, op::last)) state_[v] = -1;
    }
  }

  std::string run(const std::string &space) {
    std::string text = fmt::format("namespace {} {{\nusing namespace qkv;\n", space);
    for (const axis_of &a : r_.axes) text += axis_line(a);
    text += fmt::format("inline constexpr auto {} = kernel<\"{}\">(\n    [](", r_.name, r_.name);
    std::string between;
    for (const step &s : r_.steps) {
      if (s.what != word::step || (s.kind != op::input && s.kind != op::param)) continue;
      text += fmt::format("{}{}<{}> {}", between, s.kind == op::param ? "param" : "in",
                          declaration(s.name, s.type, s.over), s.name);
      between = ", ";
    }
    std::string list, values;
    for (const result &o : r_.results) {
      list +=
          fmt::format("{}out<{}>", list.empty() ? "" : ", ", declaration(o.name, o.type, o.axes));
      values += (values.empty() ? "" : ", ") + name(o.value);
    }
    const bool one = r_.results.size() == 1;
    text += fmt::format(") -> {} {{\n", one ? list : "outs<" + list + ">");
    for (int v = 0; v < count(); ++v)
      if (state_[v] < 0) text += line(v, "      ");
    return text + fmt::format("      return {};\n    }});\n}}  // namespace {}\n",
                              one ? values : "{" + values + "}", space);
  }

 private:
  int count() const { return static_cast<int>(r_.steps.size()); }
  bool is(int v, op kind) const { return r_[v].what == word::step && r_[v].kind == kind; }

  std::string axis_line(const axis_of &a) const {
    if (a.alias_of >= 0)
      return fmt::format("inline constexpr alias<\"{0}\", {1}> {0};\n", a.name,
                         r_.axes[a.alias_of].name);
    const std::string size = a.size < 0 ? "" : fmt::format(", {}", a.size);
    return fmt::format("inline constexpr {0}<\"{1}\"{2}> {1};\n", a.batch ? "batch_axis" : "axis",
                       a.name, size);
  }

  std::string axes(const std::vector<int> &list) const {
    std::string text;
    for (int a : list) text += (text.empty() ? "" : ", ") + r_.axes[a].name;
    return text;
  }

  std::string declaration(const std::string &name, dtype type, const std::vector<int> &over) const {
    std::string text = fmt::format("\"{}\"", name);
    if (type != f32) text += ", " + std::string(name_of(type));
    return over.empty() ? text : text + ", " + axes(over);
  }

  std::string name(int v) const {
    const step &s = r_[v];
    if (s.what != word::step) return fmt::format("v{}", v);
    if (s.kind == op::number) return s.number < 0 ? "(" + literal(s) + ")" : literal(s);
    if (s.kind == op::input || s.kind == op::param) return s.name;
    if (s.kind == op::scan) return fmt::format("v{}.result", v);
    if (s.kind == op::last) return fmt::format("v{}.last", s.in[0]);
    return fmt::format("v{}", v);
  }

  std::string operands(const step &s) const {
    std::string text;
    for (int v : s.in) text += (text.empty() ? "" : ", ") + name(v);
    return text;
  }

  std::string line(int v, const std::string &indent) const {
    const step &s = r_[v];
    if (s.what == word::step) {
      if (s.kind == op::number || s.kind == op::input || s.kind == op::param ||
          s.kind == op::carried || s.kind == op::element || s.kind == op::last)
        return "";
      if (s.kind == op::scan) return scan(v, indent);
    }
    return fmt::format("{}auto v{} = {};\n", indent, v, expression(s));
  }

  std::string expression(const step &s) const {
    switch (s.what) {
      case word::root:
        return fmt::format("sqrt({})", axes(s.over));
      case word::filled:
        return fmt::format("{}<{}{}>({})", s.number == 0 ? "zeros" : "filled",
                           s.type == f64 ? "f64, " : "", axes(s.over),
                           s.number == 0 ? "" : literal(s));
      case word::plain:
        return fmt::format("plain({})", operands(s));
      case word::slice:
        return fmt::format("slice<{}>({})", axes(s.over), operands(s));
      case word::rows:
        return fmt::format("mask_rows({})", operands(s));
      case word::causal:
        return fmt::format("causal<{}{}>", axes(s.over),
                           s.number == 1   ? ", align::first"
                           : s.number == 2 ? ", align::last"
                                           : "");
      case word::joined:
        return fmt::format("concat<{}>({})", axes(s.over), operands(s));
      case word::let:
        return fmt::format("let<\"{}\">({})", s.name, operands(s));
      case word::step:
        break;
    }
    if (s.kind == op::index || s.kind == op::size)
      return fmt::format("{}({})", name_of(s.kind), axes(s.over));
    if (s.kind == op::cast) return fmt::format("cast<{}>({})", name_of(s.type), operands(s));
    if (s.kind == op::concat)
      return fmt::format("concat<{}>({})", r_.axes[s.over[0]].name, operands(s));
    if (const char *symbol = symbol_of(s.kind))
      return s.in.size() == 1 ? symbol + name(s.in[0])
                              : fmt::format("{} {} {}", name(s.in[0]), symbol, name(s.in[1]));
    return fmt::format("{}{}({})", name_of(s.kind), s.over.empty() ? "" : "<" + axes(s.over) + ">",
                       operands(s));
  }

  // The state and the elements are the step's parameters; what is computed from them is its body.
  std::string scan(int v, const std::string &indent) const {
    const step &s = r_[v];
    const int state = s.in[0];
    std::string takes = fmt::format("auto v{}", state), given = name(r_[state].in[0]), body;
    for (int k = state + 1; k < v; ++k) {
      if (state_[k] != state) continue;
      if (is(k, op::element)) {
        takes += fmt::format(", auto v{}", k);
        given += ", " + name(r_[k].in[0]);
      } else {
        body += line(k, indent + "  ");
      }
    }
    const auto [start, rest] = [&] {
      const std::size_t comma = name(r_[state].in[0]).size();
      return std::pair{given.substr(0, comma), given.substr(comma)};
    }();
    const std::string returned =
        s.in[1] == s.in[2] ? name(s.in[1])
                           : fmt::format("std::pair{{{}, {}}}", name(s.in[1]), name(s.in[2]));
    return fmt::format(
        "{0}auto v{1} = scan<{2}>({3}, [&]({4}) {{\n{5}{0}  return {6};\n{0}}}{7});\n", indent, v,
        axes(s.over), start, takes, body, returned, rest);
  }

  const recipe &r_;
  std::vector<int> state_;
};

}  // namespace

std::string cpp_of(const recipe &r, const std::string &space) { return printer(r).run(space); }

std::string header_of(const recipe &r) {
  return "#pragma once\n#include <limits>\n#include <qkv/dsl.hpp>\n" + cpp_of(r);
}

}  // namespace qkv::fuzz
