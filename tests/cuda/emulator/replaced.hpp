// SPDX-License-Identifier: BSL-1.0
#pragma once
// Planted mistakes: modules that a test loads in place of others.
#include <string>

namespace qkv::ptx {

// PTX_INSTEAD=a.ptx=b.ptx,c.ptx=d.ptx: a module with the text of a.ptx runs that of b.ptx. Returns
// the text to run, and says on stderr that it is another one.
std::string text_in_place_of(const std::string &text);

}  // namespace qkv::ptx
