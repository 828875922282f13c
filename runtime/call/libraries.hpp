// SPDX-License-Identifier: BSL-1.0
#pragma once
// The registered libraries as the runtime visits them; private to the runtime.
#include <qkv/kernel.h>

#include <cstdint>
#include <mutex>
#include <qkv/status.hpp>
#include <string_view>

namespace qkv::detail {

// Visits every kernel of every registered library, in the order of registration. Libraries can be
// neither added nor removed meanwhile.
class registered_kernels {
 public:
  registered_kernels();
  bool next();
  const qkv_kernel &kernel() const { return *at_->kernels[place_]; }
  const qkv_library &library() const { return *at_; }

 private:
  std::lock_guard<std::mutex> hold_;
  const qkv_library *at_;
  int place_ = -1;
};

// Increases whenever a library is registered or removed.
std::uint64_t registry_changes() noexcept;

// The number of the registration that holds this table; 0 if its owner never registered it.
std::uint64_t registration_of(const qkv_kernel *) noexcept;
// True if that registration still exists: a library that is unloaded and loaded again gets another.
bool still_registered(const qkv_kernel *, std::uint64_t number) noexcept;

// The one kernel of this name. Errors: not_linked, wrong_version (libraries have different ones of
// this name).
status find_table(std::string_view name, const qkv_kernel *&result) noexcept;

}  // namespace qkv::detail
