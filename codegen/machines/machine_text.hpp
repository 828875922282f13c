// SPDX-License-Identifier: BSL-1.0
#pragma once
// A machine read from its text: one file each, `<name>.machine`.
#include <functional>
#include <string>
#include <string_view>

#include "codegen/machines/machine.hpp"

namespace qkv::codegen {

// The text of a machine, which another one may be like; empty: there is none of this name.
using machine_texts = std::function<std::string_view(const std::string &name)>;

// Throws std::runtime_error with file, line and reason: an unknown or missing key, a number that is
// not one, a tile that does not fit the registers or a block of threads, calls without a tile.
machine parse_machine(const std::string &name, std::string_view text,
                      const machine_texts &others = {});

}  // namespace qkv::codegen
