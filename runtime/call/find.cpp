// SPDX-License-Identifier: BSL-1.0
// The table of a typed kernel: its signature must be the one that the library was built from.
#include <qkv/call.hpp>

#include "call/libraries.hpp"
#include "status/fail.hpp"

namespace qkv::detail {
namespace {

std::string shape_text(dtype type, const axes &shape) {
  std::string s(name_of(type));
  for (const axis_data *a : shape) {
    s += fmt::format(" {}", a->name);
    if (a->size >= 0) s += fmt::format("={}", a->size);
  }
  return s;
}

std::string shape_text(const qkv_kernel &k, const qkv_argument &a) {
  std::string s(name_of(static_cast<dtype>(a.dtype)));
  for (int d = 0; d < a.rank; ++d) {
    const qkv_axis &axis = k.axes[a.axes[d]];
    s += fmt::format(" {}", axis.name);
    if (axis.size >= 0) s += fmt::format("={}", axis.size);
  }
  return s;
}

// Fixed sizes were compared with the shapes: axes share those that the call decides.
bool same_root(const qkv_kernel &k, int a, const axis_data *b) {
  return b->size >= 0 || sv(k.axes[k.axes[a].root].name) == root_of(b)->name;
}

// The difference, or an empty text.
std::string difference(const qkv_kernel &k, std::span<const argument_spec> signature) {
  if (k.abi != QKV_ABI)
    return fmt::format("its tables are of version {}, this runtime's of {}", k.abi, int{QKV_ABI});
  if (std::size_t(k.n_arguments) != signature.size())
    return fmt::format("it has {} arguments there, {} here", k.n_arguments, signature.size());
  for (int i = 0; i < k.n_arguments; ++i) {
    const qkv_argument &there = k.arguments[i];
    const argument_spec &here = signature[static_cast<std::size_t>(i)];
    if (here.name != there.name || here.role != there.role)
      return fmt::format("argument {} is {} there, {} here", i + 1, there.name, here.name);
    const std::string a = shape_text(k, there), b = shape_text(here.type, here.shape);
    if (a != b) return fmt::format("{} is [{}] there, [{}] here", here.name, a, b);
    for (int d = 0; d < there.rank; ++d) {
      if (!same_root(k, there.axes[d], here.shape[d])) {
        return fmt::format("{} shares its size with {} there, with {} here", here.shape[d]->name,
                           k.axes[k.axes[there.axes[d]].root].name, root_of(here.shape[d])->name);
      }
    }
  }
  return {};
}

}  // namespace

status find_table(sv name, const qkv_kernel *&result) noexcept {
  result = nullptr;
  const char *library = "";
  for (registered_kernels all; all.next();) {
    const qkv_kernel &k = all.kernel();
    if (name != k.name) continue;
    if (result && result->fingerprint != k.fingerprint) {
      result = nullptr;
      return fail(status_code::wrong_version,
                  "{}: the libraries {} and {} have different kernels of this name", name, library,
                  all.library().name);
    }
    if (result && result->abi == QKV_ABI) continue;
    result = &k;
    library = all.library().name;
  }
  if (result) return {};
  return fail(status_code::not_linked,
              "{}: no library with this kernel is linked in: link the target that qkv_add_kernels "
              "made for it",
              name);
}

status find_kernel(sv name, std::span<const argument_spec> signature,
                   const qkv_kernel *&result) noexcept try {
  const qkv_kernel *found = nullptr;
  result = nullptr;
  if (status s = find_table(name, found); !s) return s;
  if (const std::string reason = difference(*found, signature); !reason.empty()) {
    return fail(status_code::wrong_version,
                "{}: the library that is linked in was built from another version of the spec: {}",
                name, reason);
  }
  result = found;
  return {};
} catch (...) {
  return status_code::out_of_memory;
}

}  // namespace qkv::detail
