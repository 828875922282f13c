// SPDX-License-Identifier: BSL-1.0
#pragma once
// Restrictions on random specs, by the use that is made of them.

namespace qkv::fuzz {

struct taste {
  bool small = false;   // static sizes of a few positions, only for the interpreter
  bool no_f64 = false;  // as on GPUs
};

}  // namespace qkv::fuzz
