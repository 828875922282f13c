// SPDX-License-Identifier: BSL-1.0
#include <fmt/format.h>

#include "call/variant.hpp"
#include "devices/devices.hpp"
#include "tool/commands.hpp"

namespace qkv::tool {

kernel_sizes request::sizes_asked() const {
  kernel_sizes s(*kernel);
  for (const auto &[name, n] : size) {
    if (!s.set(name, n))
      throw refusal(
          s.fixed(name) < 0
              ? fmt::format("{} has no axis {}: {}", kernel->name, name, signature_text(*kernel))
              : fmt::format("{}: axis {} is fixed at {}", kernel->name, name, s.fixed(name)));
  }
  return s;
}

void request::require_machine() const {
  const qkv_variant *variant = nullptr;
  if (status s = detail::required_variant(*kernel, on, variant); !s) throw refusal(s.text());
  if (on == device::host) return;
  if (status s = detail::present(kernel->name, on); !s) throw refusal(s.text());
}

}  // namespace qkv::tool
