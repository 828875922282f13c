// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace qkv::codegen {
namespace {

std::string number_text(const node &n) {
  if (std::isinf(n.value)) return n.value < 0 ? "-inf" : "inf";
  return n.type == i32 ? fmt::format("{:.15g}", n.value) : fmt::format("{:.6g}", n.value);
}

bool is_infix(op kind) {
  return is_binary(kind) && kind != op::min && kind != op::max && kind != op::pow;
}

std::string over_text(const program &p, const node &n) {
  if (n.over.empty() || n.kind == op::dot || is_source(n.kind)) return "";
  return fmt::format("<{}>", names_of(p, n.over));
}

class label_writer {
 public:
  // Sheets have narrow columns; messages have whole lines and leave out what a spec does not write.
  enum kind { sheet, message };

  label_writer(const program &p, kind wanted)
      : p_(p), longest_operand_(wanted == sheet ? 28 : 60), is_message_(wanted == message) {}

  std::string at(node_id id, int depth = 0) const {
    const node &n = p_[id];
    if (!n.name.empty()) return n.name;
    switch (n.kind) {
      case op::number:
        return number_text(n);
      case op::index:
      case op::size:
        return fmt::format("{}({})", name_of(n.kind), names_of(p_, n.over));
      case op::cast:
        return fmt::format("{}({})", name_of(n.type), operand(n.in[0], false, depth + 1));
      case op::carried:
        if (is_message_) return "state";
        break;
      case op::element:  // in[1] identifies the scan
        if (is_message_) return at(n.in[0], depth);
        return fmt::format("element<{}>({})", names_of(p_, n.over),
                           operand(n.in[0], false, depth + 1));
      case op::broadcast:
        if (is_message_) return at(n.in[0], depth);
        break;
      case op::take:
        if (const auto part = slice_of(n); is_message_ && part)
          return fmt::format("slice<{}, {}>({}, {})", names_of(p_, n.over), part->axis,
                             operand(n.in[0], false, depth + 1), part->first);
        break;
      case op::neg:
        return fmt::format("-{}", operand(n.in[0], true, depth + 1));
      default:
        break;
    }
    if (is_infix(n.kind))
      return fmt::format("{} {} {}", operand(n.in[0], true, depth + 1), name_of(n.kind),
                         operand(n.in[1], true, depth + 1));
    std::string text = fmt::format("{}{}(", name_of(n.kind), over_text(p_, n));
    for (std::size_t k = 0; k < n.in.size(); ++k)
      text += (k ? ", " : "") + operand(n.in[k], false, depth + 1);
    return text + ")";
  }

 private:
  // Text that is cut away anyway is not worth writing: steps that share operands would take
  // exponential time.
  static constexpr int deepest = 8;

  // slice<d, half>(x, 4) is x at index(half) + 4.
  struct part {
    std::string axis, first;
  };
  std::optional<part> slice_of(const node &n) const {
    const node &at = p_[n.in[1]];
    if (at.kind != op::add || !at.name.empty()) return {};
    const node &index = p_[at.in[0]], &first = p_[at.in[1]];
    if (index.kind != op::index || first.kind != op::number) return {};
    return part{names_of(p_, index.over), number_text(first)};
  }

  // `in_infix`: the operand of an infix operation, which takes brackets when it is one itself.
  std::string operand(node_id n, bool in_infix, int depth) const {
    if (is_message_)
      while (p_[n].name.empty() && (p_[n].kind == op::element || p_[n].kind == op::broadcast))
        n = p_[n].in[0];
    const node &x = p_[n];
    const bool can_be_cut = x.name.empty() && !is_source(x.kind);
    std::string text = can_be_cut && depth > deepest ? cut(x) : at(n, depth);
    if (can_be_cut && text.size() > longest_operand_) text = cut(x);
    const bool is_sign = is_infix(x.kind) && text.find(' ') != std::string::npos;
    return in_infix && x.name.empty() && is_sign ? fmt::format("({})", text) : text;
  }
  std::string cut(const node &x) const {
    if (!is_message_) return std::string(name_of(x.kind)) + "(...)";
    if (is_infix(x.kind)) return fmt::format(".. {} ..", name_of(x.kind));
    return std::string(name_of(x.kind)) + "(..)";
  }

  const program &p_;
  const std::size_t longest_operand_;
  const bool is_message_;
};

}  // namespace

std::string names_of(const program &p, const std::vector<axis_id> &axes) {
  std::string text;
  for (axis_id a : axes) text += (text.empty() ? "" : ", ") + p.axes[a].name;
  return text;
}

std::string label_of(const program &p, node_id id) {
  return label_writer(p, label_writer::sheet).at(id);
}
std::string written_as(const program &p, node_id id) {
  return label_writer(p, label_writer::message).at(id);
}

std::string shape_of(const program &p, const std::vector<axis_id> &shape) {
  std::string text = "[";
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const axis &a = p.axes[shape[k]];
    text += (k ? ", " : "") + a.name;
    if (a.size >= 0) text += fmt::format("={}", a.size);
  }
  return text + "]";
}

std::string signature_text(const program &p) {
  const auto typed = [&](const node &n) {
    const std::string_view type = n.type == f32 ? "" : name_of(n.type);
    return fmt::format("{}{}{}{}", n.name, type.empty() ? "" : " ", type, shape_of(p, n.shape));
  };
  std::string text = p.name + "(";
  for (std::size_t k = 0; k < p.arguments.size(); ++k) {
    const node &n = p[p.arguments[k]];
    text += fmt::format("{}{} {}", k ? ", " : "", name_of(n.kind), typed(n));
  }
  text += ") -> ";
  for (std::size_t k = 0; k < p.outputs.size(); ++k)
    text += (k ? ", " : "") + typed(p[p.outputs[k]]);
  return text;
}

std::string to_text(const program &p) {
  std::string text = signature_text(p) + "\n";
  for (const axis &a : p.axes) {
    text += fmt::format("  axis {}", a.name);
    if (a.size >= 0) text += fmt::format(" = {}", a.size);
    if (a.batch) text += ", batch";
    if (p.axes[a.root].name != a.name) text += fmt::format(", as {}", p.axes[a.root].name);
    text += "\n";
  }
  for (node_id id = 0; id < static_cast<node_id>(p.nodes.size()); ++id) {
    const node &n = p[id];
    text += fmt::format("  %{} = {}", id, name_of(n.kind));
    if (!n.over.empty()) text += fmt::format("<{}>", names_of(p, n.over));
    if (n.kind == op::number) text += fmt::format(" {}", number_text(n));
    if (!n.in.empty()) {
      text += "(";
      for (std::size_t k = 0; k < n.in.size(); ++k)
        text += fmt::format("{}%{}", k ? ", " : "", n.in[k]);
      text += ")";
    }
    if (!n.name.empty()) text += fmt::format(" {}", n.name);
    text += fmt::format("  {}{}\n", name_of(n.type), shape_of(p, n.shape));
  }
  for (const condition &c : p.conditions) text += fmt::format("  needs {}\n", c.text);
  return text;
}

}  // namespace qkv::codegen
