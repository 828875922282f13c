// SPDX-License-Identifier: BSL-1.0
#include "call/accumulate.hpp"

#include <qkv/core/dtype.hpp>
#include <vector>

#include "compiled/user_context.hpp"
#include "devices/devices.hpp"
#include "memory/dense.hpp"
#include "memory/layout.hpp"
#include "status/fail.hpp"

namespace qkv::detail {
namespace {

bool is_result(const qkv_kernel &k, std::size_t i, const qkv_tensor &t) {
  return k.arguments[i].role == QKV_OUT && !empty(t);
}

status refused(const qkv_kernel &k, std::size_t i, const qkv_tensor &t) {
  const qkv_argument &a = k.arguments[i];
  if (t.dtype != QKV_F32 && t.dtype != QKV_F64)
    return fail(status_code::unsupported, "{}: {} is {} but only f32 and f64 outputs accumulate",
                k.name, a.name, name_of(static_cast<dtype>(t.dtype)));
  if (t.device != QKV_HOST)
    return fail(status_code::unsupported, "{}: {} is on {} but outputs accumulate on the host",
                k.name, a.name, device_name(t.device));
  return {};
}

}  // namespace

std::size_t result_bytes(const qkv_kernel &k, std::span<const qkv_tensor> arguments) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (is_result(k, i, arguments[i])) bytes += dense_bytes(arguments[i]);
  return bytes;
}

status accumulate(const qkv_kernel &k, std::span<const qkv_tensor> arguments,
                  std::span<const std::int64_t> sizes, const bound_params *bound,
                  const options &how) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (k.arguments[i].role == QKV_OUT)
      if (status s = refused(k, i, arguments[i]); !s) return s;
  workspace &memory = how.workspace ? *how.workspace : default_workspace();
  std::vector<qkv_tensor> all(arguments.begin(), arguments.end());
  std::vector<borrowed> kept;
  kept.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_result(k, i, all[i])) continue;
    const std::size_t bytes = dense_bytes(all[i]);
    all[i] = dense(all[i], kept.emplace_back(memory, bytes).data());
    if (!all[i].data)
      return fail(status_code::out_of_memory, "{}: no memory for {} ({} bytes)", k.name,
                  k.arguments[i].name, bytes);
  }
  if (status s = invoke(k, all, sizes, bound, how); !s) return s;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (is_result(k, i, all[i])) add_dense(all[i].data, arguments[i]);
  return {};
}

}  // namespace qkv::detail
