// SPDX-License-Identifier: BSL-1.0
#pragma once
// The text of a PTX module as data: variables, entries, statements. Instructions are only names.
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::ptx {

struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class type : std::uint8_t {
  none,
  pred,
  b8,
  u8,
  s8,
  b16,
  u16,
  s16,
  f16,
  bf16,
  b32,
  u32,
  s32,
  f32,
  f16x2,
  bf16x2,
  tf32,
  b64,
  u64,
  s64,
  f64,
  b128
};
type type_named(std::string_view);  // type::none if no type has this name
int size_of(type);                  // bytes

struct operand {
  enum kind_t { none, reg, number, list, address, symbol } kind = none;
  std::string name;         // of a register, a symbol, or the base of an address
  std::uint64_t bits = 0;   // of a number
  bool is_double = false;   // written 0d...: the bits are those of a double
  bool is_float = false;    // written 0f...
  bool negated = false;     // !p
  std::int64_t offset = 0;  // [name + offset]
  std::vector<operand>
      items;  // {a, b}; in an address: what follows the comma, as the coordinates of a tensor map
  std::string second;  // p|q
};

struct statement {
  std::string guard;  // register of @p
  bool guard_not = false;
  std::string op;                      // mma
  std::vector<std::string> modifiers;  // sync, aligned, m16n8k16, ...
  std::vector<operand> operands;
  int line = 0;
  bool has(std::string_view m) const {
    for (const auto &x : modifiers)
      if (x == m) return true;
    return false;
  }
};

enum class space : std::uint8_t { generic, global, shared, local, param, constant };

struct variable {
  std::string name;
  space where = space::global;
  int align = 1;
  std::int64_t bytes = 0;  // 0: as many as the launch sets
  std::vector<std::uint8_t> value;
  std::int64_t offset = 0;  // in its space; for module variables set by who places them
};

struct entry {
  std::string name;
  std::vector<variable> params;
  std::vector<variable> variables;        // shared and local ones of its own
  std::map<std::string, type> registers;  // every register with its type, inner scopes made unique
  std::vector<statement> body;
  std::map<std::string, int> labels;  // statement that follows
  int most_threads = 0;
};

struct module {
  std::string target;
  std::vector<variable> variables;
  std::vector<std::shared_ptr<entry>> entries;
};

module parse(std::string_view text);

}  // namespace qkv::ptx
