// SPDX-License-Identifier: BSL-1.0
#pragma once
// Calls without types: a kernel's table and descriptors of tensors, checked at run time.
// qkv/call.hpp is the typed face.
#include <qkv/kernel.h>

#include <cstddef>
#include <memory>
#include <qkv/options.hpp>
#include <qkv/status.hpp>
#include <span>

namespace qkv {

// Checks `arguments` (in the order of the kernel's table) and runs the kernel. On any status but ok
// that comes from the checks, outputs are as they were; when compiled code or a device fails
// midway, their contents are undefined. Cost of the checks: below a microsecond. Errors: every code
// but not_linked, bad_file and cache_full. Never throws.
status run(const qkv_kernel &, std::span<const qkv_tensor> arguments,
           const options & = {}) noexcept;

// The params of a kernel, laid out once as its compiled code reads them; the originals may be freed
// or changed afterwards. May be used by several calls at once. Params on a device are not copied
// and must outlive it; it must outlive what its calls started on streams.
class prepared {
 public:
  prepared() noexcept = default;  // holds nothing: run() refuses it

  // Checks `params` (in the order of the table) as far as they determine sizes themselves, and
  // fixes the code that later calls run: that of the device that the options name or on which a
  // param lies, else that of the host. On the host, params are packed as that code reads them.
  // Those that are not yet on a device are copied there: calls run in the same device context and
  // copy no param. Errors: those of qkv::run(). Cost: one pass over the params, and the way to the
  // device.
  static status make(const qkv_kernel &, std::span<const qkv_tensor> params, prepared &result,
                     const options & = {}) noexcept;

  // Runs the kernel with the other arguments, in the order of the table. Cost: as qkv::run(),
  // without packing. Errors: those of qkv::run(), wrong_device also where the call would run on
  // another device or in another context than that of the params, and not_linked (nothing was
  // prepared, or the kernel's library was unloaded since). Never throws.
  status run(std::span<const qkv_tensor> arguments, const options & = {}) const noexcept;

 private:
  struct state;
  std::shared_ptr<const state> state_;
};

// The number of bytes that a workspace needs so that run() with these arguments and options needs
// no more: measured by a run that writes to outputs of its own. Errors: those of run(). Cost: one
// run on one thread.
status workspace_bytes(const qkv_kernel &, std::span<const qkv_tensor> arguments,
                       std::size_t &result, const options & = {}) noexcept;

}  // namespace qkv
