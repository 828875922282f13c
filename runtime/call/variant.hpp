// SPDX-License-Identifier: BSL-1.0
#pragma once
// Which code of a kernel a call runs, and how that code reads params; private to the runtime.
#include <qkv/kernel.h>

#include <cstddef>
#include <qkv/options.hpp>
#include <qkv/status.hpp>
#include <string_view>

namespace qkv::detail {

// The first variant of a device that this processor can run; null if the kernel was built for no
// machine with that device. `forced` names machines, separated by commas: of those that the kernel
// has, only the first with that device may run. Errors: unsupported (this processor cannot run any;
// it cannot run the forced one; the kernel has none of the forced ones).
status variant_for(const qkv_kernel &, device, std::string_view forced, const qkv_variant *&result);
// Forced by QKV_MACHINE of the environment as it was at the first call of this process.
status variant_for(const qkv_kernel &, device, const qkv_variant *&result);

// The same, where a null variant is an error, too: unsupported.
status required_variant(const qkv_kernel &, device, const qkv_variant *&result);

bool runs_on(const qkv_variant &, device);

// The layout in which a variant reads an argument; null: as it is.
const qkv_pack *pack_of(const qkv_variant &, std::size_t argument);
// True if some variant reads the argument packed.
bool may_be_packed(const qkv_kernel &, std::size_t argument);

}  // namespace qkv::detail
