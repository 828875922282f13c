// SPDX-License-Identifier: BSL-1.0
#include "tests/cuda/emulator/decoder.hpp"

#include <algorithm>
#include <bit>

#include "tests/cuda/emulator/lanes.hpp"

namespace qkv::ptx {

std::vector<type> types_of(const statement &s) {
  std::vector<type> all;
  for (const auto &m : s.modifiers)
    if (const type t = type_named(m); t != type::none) all.push_back(t);
  return all;
}
type last_type(const statement &s) {
  const auto all = types_of(s);
  return all.empty() ? type::none : all.back();
}

space space_of(const statement &s) {
  for (const auto &m : s.modifiers) {
    if (m == "global") return space::global;
    if (m.rfind("shared", 0) == 0) return space::shared;
    if (m == "local") return space::local;
    if (m.rfind("param", 0) == 0) return space::param;
    if (m == "const") return space::constant;
  }
  return space::generic;
}

decoder::decoder(kernel &kernel_, const entry &entry_,
                 const std::map<std::string, variable> &module_variables)
    : e(entry_), k(kernel_), variables_(module_variables) {
  k.name = e.name;
  k.params = e.params;
  k.most_threads = e.most_threads;
  for (const auto &[name, t] : e.registers) {
    if (t == type::b128) throw error(e.name + ": registers of 128 bits are not supported");
    registers_[name] = fresh(size_of(t) == 8);
  }
  place_variables();
}

std::int32_t decoder::fresh(bool wide) {
  const auto at = static_cast<std::int32_t>(k.register_bytes);
  k.register_bytes += (wide ? 8 : 4) * lanes_of_warp;
  wide_[at] = wide;
  return at;
}

std::int32_t decoder::constant(std::uint64_t bits, bool wide) {
  auto [it, added] = constants_.try_emplace({bits, wide}, 0);
  if (added) {
    it->second = fresh(wide);
    k.constants.push_back({it->second, bits, wide});
  }
  return it->second;
}

void decoder::place_variables() {
  for (const variable &v : e.variables) variables_[v.name] = v;
  std::int64_t shared = 0, local = 0;
  const auto place = [](std::int64_t &end, variable &v) {
    end = (end + v.align - 1) / v.align * v.align;
    v.offset = end;
    end += v.bytes;
  };
  for (auto &[name, v] : variables_) {
    if (v.where == space::shared && v.bytes > 0) place(shared, v);
    if (v.where == space::local) place(local, v);
  }
  for (auto &[name, v] : variables_)
    if (v.where == space::shared && v.bytes == 0) {
      shared = (shared + v.align - 1) / v.align * v.align;
      v.offset = shared;
      k.shared_align = std::max<std::int64_t>(k.shared_align, v.align);
    }
  k.shared_bytes = shared;
  for (const auto &[name, v] : variables_)
    if (v.where == space::shared) k.shared_base = shared_of_system;
  k.local_bytes = (local + 15) / 16 * 16;
}

void decoder::refuse(const statement &s, const std::string &why) const {
  std::string text = s.op;
  for (const auto &m : s.modifiers) text += "." + m;
  throw error(e.name + ", line " + std::to_string(s.line) + ": " + text + ": " + why);
}

type decoder::type_of(const operand &o) const {
  const auto it = e.registers.find(o.name);
  return it == e.registers.end() ? type::none : it->second;
}

std::int32_t decoder::slot(const operand &o, type as) {
  const bool wide = size_of(as) == 8;
  switch (o.kind) {
    case operand::reg: {
      if (o.name == "_") return -1;
      if (auto it = registers_.find(o.name); it != registers_.end()) return it->second;
      auto [it, added] = k.special.try_emplace(o.name, 0);
      if (added) it->second = fresh(o.name == "%clock64" || o.name == "%globaltimer");
      return it->second;
    }
    case operand::number: {
      std::uint64_t bits = o.bits;
      const auto as_double = [&] {
        double x;
        std::memcpy(&x, &bits, 8);
        return x;
      };
      if (o.is_double && !wide) {
        const auto f = static_cast<float>(as_double());
        std::uint32_t b;
        std::memcpy(&b, &f, 4);
        bits = b;
      } else if (o.is_float && as == type::f64) {
        float f;
        std::memcpy(&f, &bits, 4);
        const double x = f;
        std::memcpy(&bits, &x, 8);
      }
      if (as == type::pred)
        bits = bits != 0;
      else if (size_of(as) < 8)
        bits &= size_of(as) == 2 ? 0xffff : size_of(as) == 1 ? 0xff : 0xffffffff;
      return constant(bits, wide);
    }
    case operand::symbol: {
      for (const variable &p : k.params)
        if (p.name == o.name)
          return constant(static_cast<std::uint64_t>(p.offset + o.offset), wide);
      const auto it = variables_.find(o.name);
      if (it == variables_.end()) throw error(e.name + ": " + o.name + " is not declared");
      const variable &v = it->second;
      const std::int64_t base = v.where == space::shared ? k.shared_base + v.offset : v.offset;
      return constant(static_cast<std::uint64_t>(base + o.offset), wide);
    }
    default:
      throw error(e.name + ": an operand of an unexpected form");
  }
}

void decoder::destinations(instruction &i, const operand &o, type as) {
  if (o.kind == operand::list) {
    for (const operand &x : o.items) destinations(i, x, as);
    return;
  }
  if (i.destinations + i.sources == 0) i.first = static_cast<std::uint32_t>(k.slots.size());
  k.slots.push_back(slot(o, as));
  ++i.destinations;
}
void decoder::sources(instruction &i, const operand &o, type as) {
  if (o.kind == operand::list) {
    for (const operand &x : o.items) sources(i, x, as);
    return;
  }
  if (i.destinations + i.sources == 0) i.first = static_cast<std::uint32_t>(k.slots.size());
  if (o.negated && as == type::pred && i.run == nullptr && o.kind != operand::reg)
    throw error(e.name + ": a negated constant");
  k.slots.push_back(slot(o, as));
  ++i.sources;
}
void decoder::plain(instruction &i, const statement &s, type as) {
  destinations(i, s.operands[0], as);
  for (std::size_t n = 1; n < s.operands.size(); ++n) sources(i, s.operands[n], as);
}
void decoder::second_destination(instruction &i, const operand &o) {
  operand second;
  second.kind = operand::reg, second.name = o.second;
  destinations(i, second, type::pred);
}
void decoder::address(instruction &i, const operand &o) {
  operand base;
  if (o.name.empty()) {
    base.kind = operand::number;
  } else {
    base.name = o.name;
    base.kind = registers_.count(o.name) ? operand::reg : operand::symbol;
  }
  sources(i, base, type::u64);
  i.imm = o.offset;
  i.d = is_wide(k.slots.back());  // the width of the base register
}

void decoder::run() {
  constexpr bool (*known[])(decoder &, const statement &, instruction &) = {
      decode_move,       decode_conversion,  decode_comparison, decode_bits,     decode_half,
      decode_float,      decode_integer,     decode_load_store, decode_address,  decode_atomic,
      decode_async_copy, decode_branch,      decode_barrier,    decode_exchange, decode_matrix,
      decode_mbarrier,   decode_copy_engine, decode_warpgroup};
  for (const statement &s : e.body) {
    instruction i;
    i.line = s.line;
    if (!s.guard.empty()) {
      operand g;
      g.kind = operand::reg, g.name = s.guard;
      i.guard = slot(g, type::pred);
      i.guard_not = s.guard_not;
    }
    i.what = kind::integer;
    if (std::none_of(std::begin(known), std::end(known),
                     [&](const auto decode) { return decode(*this, s, i); }))
      refuse(s, "not supported");
    if (!i.run) refuse(s, "not supported with this type");
    k.code.push_back(i);
    std::string text = s.op;
    for (const auto &m : s.modifiers) text += "." + m;
    k.texts.push_back(text);
  }
}

}  // namespace qkv::ptx
