// SPDX-License-Identifier: BSL-1.0
// The grammar of PTX, as LLVM and nvcc print it: modules, entries, statements, operands.
#include <algorithm>
#include <cctype>

#include "tests/cuda/emulator/lexer.hpp"

namespace qkv::ptx {
namespace {

struct named_type {
  std::string_view name;
  type t;
  int bytes;
};
constexpr named_type types[] = {
    {"pred", type::pred, 1}, {"b8", type::b8, 1},       {"u8", type::u8, 1},
    {"s8", type::s8, 1},     {"b16", type::b16, 2},     {"u16", type::u16, 2},
    {"s16", type::s16, 2},   {"f16", type::f16, 2},     {"bf16", type::bf16, 2},
    {"b32", type::b32, 4},   {"u32", type::u32, 4},     {"s32", type::s32, 4},
    {"f32", type::f32, 4},   {"f16x2", type::f16x2, 4}, {"bf16x2", type::bf16x2, 4},
    {"tf32", type::tf32, 4}, {"b64", type::b64, 8},     {"u64", type::u64, 8},
    {"s64", type::s64, 8},   {"f64", type::f64, 8},     {"b128", type::b128, 16},
};

class parser : lexer {
 public:
  using lexer::lexer;

  module run() {
    while (skip(), at_ < text_.size()) top_level();
    return std::move(m_);
  }

 private:
  // Modules.
  void to_line_end() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }
  void past_block() {
    need('{');
    for (int depth = 1; depth > 0; ++at_) {
      if (at_ >= text_.size()) fail("a block without an end");
      line_ += text_[at_] == '\n';
      depth += text_[at_] == '{' ? 1 : text_[at_] == '}' ? -1 : 0;
    }
  }

  void top_level() {
    if (peek() != '.') fail("expected a directive");
    const auto from = at_;
    const std::string d = directive();
    if (d == "version" || d == "address_size" || d == "file" || d == "loc") return to_line_end();
    if (d == "target") {
      m_.target = word();
      return to_line_end();
    }
    // Functions are inlined by every compiler that we read from; a call to one is refused.
    if (d == "section" || d == "pragma" || d == "alias" || d == "func") {
      while (peek() != '{' && peek() != ';') ++at_;
      if (peek() == '{')
        past_block();
      else
        ++at_;
      return;
    }
    if (d == "visible" || d == "extern" || d == "weak" || d == "common") {
      external_ = d == "extern";
      return;
    }
    if (d == "entry") return entry_();
    at_ = from;
    variables(m_.variables);
  }

  // .shared .align 16 .b8 name[36864], other;
  void variables(std::vector<variable> &into) {
    variable v;
    const std::string where = directive();
    v.where =
        where.rfind("shared", 0) == 0 ? space::shared
        : where == "local"            ? space::local
        : where == "const"            ? space::constant
        : where == "global"           ? space::global
        : where == "param"
            ? space::param
            : throw error("PTX line " + std::to_string(line_) + ": ." + where + " is not known");
    int element = 1;
    while (peek() == '.') {
      const std::string d = directive();
      if (d == "align")
        v.align = static_cast<int>(integer());
      else if (type_named(d) != type::none) {
        element = size_of(type_named(d));
        v.align = std::max(v.align, element);
      }  // else: .ptr and the like
    }
    do {
      v.name = word();
      v.bytes = element;
      v.value.clear();
      while (take('[')) {
        v.bytes = peek() == ']' ? 0 : v.bytes * integer();
        need(']');
      }
      if (take('=')) values(v, element);
      into.push_back(v);
    } while (take(','));
    need(';');
    external_ = false;
  }

  void values(variable &v, int element) {
    const bool braces = take('{');
    do {
      if (peek() == '{') {
        values(v, element);
        continue;
      }
      if (starts_name(peek())) fail("addresses as initial values are not supported");
      std::uint64_t bits = number().bits;
      for (int i = 0; i < element; ++i)
        v.value.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
    } while (braces && take(','));
    if (braces) need('}');
  }

  void entry_() {
    auto e = std::make_shared<entry>();
    e_ = e.get();
    e->name = word();
    if (take('(')) {
      std::int64_t offset = 0;
      while (!take(')')) {
        variable p;
        if (directive() != "param") fail("expected .param");
        int element = 1;
        bool size_known = false;
        while (peek() == '.') {
          const std::string d = directive();
          if (d == "align")
            p.align = static_cast<int>(integer());
          else if (type_named(d) != type::none && !size_known)
            element = size_of(type_named(d)), size_known = true;
          // .ptr .global .align N: of what it points to, and before the name only
          else if (d == "ptr") {
            while (peek() == '.')
              if (directive() == "align") integer();
          }
        }
        p.align = std::max(p.align, element);
        p.name = word();
        p.bytes = element;
        if (take('[')) {
          p.bytes = element * integer();
          need(']');
        }
        offset = (offset + p.align - 1) / p.align * p.align;
        p.offset = offset;
        offset += p.bytes;
        e->params.push_back(p);
        take(',');
      }
    }
    while (peek() == '.') {
      const std::string d = directive();
      std::int64_t n = 1;
      if (std::isdigit(static_cast<unsigned char>(peek()))) do
          n *= integer();
        while (take(','));
      if (d == "maxntid" || d == "reqntid") e->most_threads = static_cast<int>(n);
    }
    if (take(';')) return;  // a declaration
    need('{');
    scopes_.assign(1, {});
    scope_count_ = 0;
    block();
    m_.entries.push_back(std::move(e));
  }

  // Statements. An inner scope renames its registers.
  // Registers and labels of an inner scope are its own; a branch may come before its label.
  void block() {
    const auto first = e_->body.size();
    const int number = scope_count_;
    std::map<std::string, int> outer;
    const bool inner = scopes_.size() > 1;
    if (inner) outer.swap(e_->labels);
    while (!take('}')) statement_();
    scopes_.pop_back();
    if (!inner) return;
    for (auto i = first; i < e_->body.size(); ++i) {
      ptx::statement &s = e_->body[i];
      if (s.op == "bra" && e_->labels.count(s.operands[0].name))
        s.operands[0].name += "#" + std::to_string(number);
    }
    for (const auto &[name, at] : e_->labels)
      outer[name.find('#') == std::string::npos ? name + "#" + std::to_string(number) : name] = at;
    outer.swap(e_->labels);
  }

  std::string resolved(const std::string &name) const {
    for (auto s = scopes_.rbegin(); s != scopes_.rend(); ++s)
      if (auto it = s->find(name); it != s->end()) return it->second;
    return name;
  }

  void registers() {
    type t = type::none;
    while (peek() == '.')
      if (const type found = type_named(directive()); found != type::none) t = found;
    if (t == type::none) fail("a register of an unknown type");
    do {
      const std::string name = word();
      const auto declare = [&](const std::string &n) {
        const std::string unique = scopes_.size() == 1 ? n : n + "#" + std::to_string(scope_count_);
        scopes_.back()[n] = unique;
        e_->registers[unique] = t;
      };
      if (take('<')) {
        const std::int64_t n = integer();
        for (std::int64_t i = 0; i < n; ++i) declare(name + std::to_string(i));
        need('>');
      } else
        declare(name);
    } while (take(','));
    need(';');
  }

  void statement_() {
    if (take('{')) {
      scopes_.emplace_back();
      ++scope_count_;
      return block();
    }
    if (peek() == '.') {
      const auto from = at_;
      const std::string d = directive();
      if (d == "reg") return registers();
      if (d == "loc" || d == "file") return to_line_end();
      if (d == "pragma" || d == "branchtargets" || d == "calltargets" || d == "callprototype") {
        while (!take(';')) ++at_;
        return;
      }
      at_ = from;
      return variables(e_->variables);
    }
    ptx::statement s;
    s.line = line_;
    if (take('@')) {
      s.guard_not = take('!');
      s.guard = resolved(word());
    }
    s.op = word();
    if (s.guard.empty() && peek() == ':') {
      ++at_;
      e_->labels[s.op] = static_cast<int>(e_->body.size());
      return;
    }
    while (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      s.modifiers.push_back(word());
    }
    while (!take(';')) {
      s.operands.push_back(operand_());
      take(',');
    }
    e_->body.push_back(std::move(s));
  }

  operand operand_() {
    operand o;
    const char c = peek();
    if (take('!')) {
      o = operand_();
      o.negated = !o.negated;
      return o;
    }
    if (take('{') || take('(')) {
      o.kind = operand::list;
      while (!take('}') && !take(')')) {
        o.items.push_back(operand_());
        take(',');
      }
      return o;
    }
    if (take('[')) {
      o.kind = operand::address;
      if (starts_name(peek()))
        o.name = resolved(word());
      else
        o.offset = integer();
      if (take('+'))
        o.offset += integer();
      else if (peek() == '-')
        o.offset += integer();
      while (take(',')) o.items.push_back(operand_());
      need(']');
      return o;
    }
    if (starts_name(c)) {
      std::string name = word();
      if (name[0] == '%' && at_ < text_.size() && text_[at_] == '.') {  // %tid.x
        ++at_;
        name += "." + word();
      }
      o.name = resolved(name);
      o.kind = e_->registers.count(o.name) || o.name[0] == '%' || o.name == "_" ? operand::reg
                                                                                : operand::symbol;
      if (take('|')) o.second = resolved(word());
      if (o.kind == operand::symbol && take('+')) o.offset = integer();
      return o;
    }
    return number();
  }

  module m_;
  entry *e_ = nullptr;
  bool external_ = false;
  std::vector<std::map<std::string, std::string>> scopes_;
  int scope_count_ = 0;
};

}  // namespace

type type_named(std::string_view name) {
  for (const auto &t : types)
    if (t.name == name) return t.t;
  return type::none;
}

int size_of(type t) {
  for (const auto &x : types)
    if (x.t == t) return x.bytes;
  return 0;
}

module parse(std::string_view text) { return parser(text).run(); }

}  // namespace qkv::ptx
