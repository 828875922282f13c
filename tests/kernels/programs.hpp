// SPDX-License-Identifier: BSL-1.0
#pragma once
// The programs of all kernels in this folder, traced once for every test that runs them.
#include <qkv/device.hpp>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::testing {

// Those with code for this device.
const std::vector<codegen::program> &programs_of(device on);

}  // namespace qkv::testing
