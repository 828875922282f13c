// SPDX-License-Identifier: BSL-1.0
#include "call/variant.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "devices/devices.hpp"
#include "status/fail.hpp"

namespace qkv::detail {
namespace {

std::span<const qkv_variant> variants_of(const qkv_kernel &k) {
  return {k.variants, static_cast<std::size_t>(std::max(0, k.n_variants))};
}

bool can_run(const qkv_variant &v) { return !v.can_run || v.can_run() != 0; }

// The machines of a kernel for which `is_one` is true.
template <class Predicate>
std::string machines_where(const qkv_kernel &k, Predicate is_one) {
  std::string text;
  for (const qkv_variant &v : variants_of(k))
    if (is_one(v)) text += (text.empty() ? "" : ", ") + std::string(v.machine);
  return text.empty() ? "none" : text;
}

status forced_variant(const qkv_kernel &k, device where, std::string_view forced,
                      const qkv_variant *&result) {
  bool has_one = false;
  for (std::string_view rest = forced; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    for (const qkv_variant &v : variants_of(k)) {
      if (name != v.machine) continue;
      has_one = true;
      if (!runs_on(v, where)) continue;
      result = &v;
      if (can_run(v)) return {};
      return fail(status_code::unsupported,
                  "{}: QKV_MACHINE is {}, but this processor cannot run {}; it can run {}", k.name,
                  forced, name, machines_where(k, [&](const qkv_variant &o) {
                    return runs_on(o, where) && can_run(o);
                  }));
    }
  }
  if (has_one) return {};
  return fail(status_code::unsupported, "{}: QKV_MACHINE is {}, but the kernel was built for {}",
              k.name, forced, machines_where(k, [](const qkv_variant &) { return true; }));
}

// A copy: the program may change its environment. It needs no destructor: those of the program may
// call kernels. Names of machines of a whole page are more than there are.
std::string_view environment() noexcept {
  static const std::array<char, 4096> text = [] {
    std::array<char, 4096> copy{};
    if (const char *given = std::getenv("QKV_MACHINE"))
      std::strncpy(copy.data(), given, copy.size() - 1);
    return copy;
  }();
  return text.data();
}

}  // namespace

bool runs_on(const qkv_variant &v, device where) {
  return std::strcmp(v.device, device_name(where)) == 0;
}

status variant_for(const qkv_kernel &k, device where, std::string_view forced,
                   const qkv_variant *&result) {
  result = nullptr;
  if (!forced.empty()) {
    status s = forced_variant(k, where, forced, result);
    if (!s || result) return s;
  }
  bool has_one = false;
  for (const qkv_variant &v : variants_of(k)) {
    if (!runs_on(v, where)) continue;
    has_one = true;
    if (!can_run(v)) continue;
    result = &v;
    return {};
  }
  if (!has_one) return {};
  return fail(status_code::unsupported,
              "{}: this processor cannot run what the kernel was built for: {}", k.name,
              machines_where(k, [&](const qkv_variant &v) { return runs_on(v, where); }));
}

status variant_for(const qkv_kernel &k, device where, const qkv_variant *&result) {
  return variant_for(k, where, environment(), result);
}

status required_variant(const qkv_kernel &k, device where, const qkv_variant *&result) {
  if (status s = variant_for(k, where, result); !s || result) return s;
  return fail(status_code::unsupported, "{}: not built for {}", k.name, device_name(where));
}

const qkv_pack *pack_of(const qkv_variant &v, std::size_t argument) {
  for (int i = 0; i < v.n_packs; ++i)
    if (static_cast<std::size_t>(v.packs[i].argument) == argument) return v.packs + i;
  return nullptr;
}

bool may_be_packed(const qkv_kernel &k, std::size_t argument) {
  return std::ranges::any_of(variants_of(k),
                             [&](const qkv_variant &v) { return pack_of(v, argument); });
}

}  // namespace qkv::detail
