// SPDX-License-Identifier: BSL-1.0
// atom and red. Lanes of a warp go one after the other.
#include <algorithm>
#include <type_traits>
#include <utility>

#include "tests/cuda/emulator/decoder.hpp"
#include "tests/cuda/emulator/memory.hpp"

namespace qkv::ptx {
namespace {

// i.b: operation; i.c: space; i.d: bit 0: the base is wide

enum class atomic {
  add,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
  exchange,
  compare,
  increment,
  decrement
};

template <class T>
T combined(atomic op, T old, T b, T c) {
  switch (op) {
    case atomic::add:
      return static_cast<T>(old + b);
    case atomic::min:
      return std::min(old, b);
    case atomic::max:
      return std::max(old, b);
    case atomic::exchange:
      return b;
    case atomic::compare:
      return old == b ? c : old;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
      case atomic::bit_and:
        return old & b;
      case atomic::bit_or:
        return old | b;
      case atomic::bit_xor:
        return old ^ b;
      case atomic::increment:
        return old >= b ? T(0) : static_cast<T>(old + 1);
      case atomic::decrement:
        return old == 0 || old > b ? b : static_cast<T>(old - 1);
      default:
        break;
    }
  }
  return old;
}
template <class T>
void atomically(warp &w, const instruction &i, lane_mask m) {
  for (lane_mask left = m; left; left &= left - 1) {
    const int l = __builtin_ctz(left);
    const std::uint64_t address = address_of_lane(w, i, l, 0);
    std::uint8_t *at = place(w, static_cast<space>(i.c), address, sizeof(T), l, access::atomic);
    T old;
    std::memcpy(&old, at, sizeof(T));
    const T b = get<T>(src<T>(w, i, 1), l), c = i.sources > 2 ? get<T>(src<T>(w, i, 2), l) : T{};
    const T now = combined<T>(static_cast<atomic>(i.b), old, b, c);
    std::memcpy(at, &now, sizeof(T));
    if (i.destinations && slot_of(w, i, 0) >= 0) put<T>(dst<T>(w, i), l, old);
  }
}

}  // namespace

bool decode_atomic(decoder &d, const statement &s, instruction &i) {
  if ((s.op != "atom" && s.op != "red") || s.has("async")) return false;
  const type t = last_type(s);
  std::size_t next = 0;
  if (s.op == "atom") d.destinations(i, s.operands[next++], t);
  d.address(i, s.operands[next++]);
  for (; next < s.operands.size(); ++next) d.sources(i, s.operands[next], t);
  i.what = kind::atomic;
  i.c = static_cast<std::uint32_t>(space_of(s));
  const std::pair<const char *, atomic> names[] = {
      {"add", atomic::add},       {"min", atomic::min},     {"max", atomic::max},
      {"and", atomic::bit_and},   {"or", atomic::bit_or},   {"xor", atomic::bit_xor},
      {"exch", atomic::exchange}, {"cas", atomic::compare}, {"inc", atomic::increment},
      {"dec", atomic::decrement}};
  bool found = false;
  for (const auto &[name, op] : names)
    if (s.has(name)) i.b = static_cast<std::uint32_t>(op), found = true;
  if (!found) d.refuse(s, "operation is not supported");
  switch (t) {
    case type::f32:
      i.run = atomically<float>;
      break;
    case type::f64:
      i.run = atomically<double>;
      break;
    case type::s32:
      i.run = atomically<std::int32_t>;
      break;
    case type::u32:
    case type::b32:
      i.run = atomically<std::uint32_t>;
      break;
    case type::s64:
      i.run = atomically<std::int64_t>;
      break;
    case type::u64:
    case type::b64:
      i.run = atomically<std::uint64_t>;
      break;
    default:
      break;
  }
  return i.run != nullptr;
}

}  // namespace qkv::ptx
