// SPDX-License-Identifier: BSL-1.0
#pragma once
// Tensors of other libraries, in and out, by DLPack (https://dmlc.github.io/dlpack), whose
// structures PyTorch, JAX and CuPy exchange. Its header is the caller's: these templates take its
// types.
#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <qkv/options.hpp>
#include <qkv/tensor.hpp>
#include <utility>

namespace qkv {
namespace detail {

// Numbers of dlpack.h.
namespace dl {
enum : int { integer = 0, unsigned_integer = 1, floating = 2, bfloat = 4, boolean = 6 };
enum : int { cpu = 1, cuda = 2, cuda_host = 3, opencl = 4, cuda_managed = 13 };
struct element {
  int code, bits;
};
constexpr std::array<element, 6> elements = {{{floating, 32},
                                              {bfloat, 16},
                                              {floating, 16},
                                              {floating, 64},
                                              {integer, 32},
                                              {boolean, 8}}};  // by dtype

constexpr int dtype_of(int code, int bits, int lanes) {
  if (lanes != 1) return -1;
  if (code == unsigned_integer && bits == 8) return QKV_B8;
  for (std::size_t t = 0; t < elements.size(); ++t)
    if (elements[t].code == code && elements[t].bits == bits) return static_cast<int>(t);
  return -1;
}

constexpr int device_of(int type) {
  switch (type) {
    case cpu:
    case cuda_host:
      return QKV_HOST;
    case cuda:
    case cuda_managed:
      return QKV_CUDA;
    case opencl:
      return QKV_OPENCL;
    default:
      return -1;
  }
}
}  // namespace dl

template <class T>
concept dl_tensor = requires(const T &t) {
  t.data;
  t.device.device_type;
  t.dtype.lanes;
  t.shape[t.ndim];
  t.strides;
  t.byte_offset;
};

}  // namespace detail

// A DLTensor as an argument: dlpack_view<batch, heads, seq, d_k>(managed->dl_tensor). It refers to
// the memory, which must outlive it. Of CUDA devices, the call runs on that of its context
// (options.hpp), whatever the device's number. The flag for read-only memory stands outside of a
// DLTensor: heed it before passing the view for an output. Cost: no copy.
// Errors: by the call, with the name of the argument: a dtype, a number of axes, a size, a stride
// or a device that the kernel does not take; wrong_device also for an OpenCL buffer with an offset.
template <auto... Spec>
class dlpack_view {
  using spec = tensor_spec<Spec...>;

 public:
  static constexpr dtype type = spec::type;
  static constexpr core::axes shape = spec::shape;
  static constexpr bool writable = true, is_view = true;

  template <detail::dl_tensor DLTensor>
  explicit dlpack_view(const DLTensor &from) {
    const auto &t = from.dtype;
    tensor_.dtype = detail::dl::dtype_of(t.code, t.bits, t.lanes);
    tensor_.device = detail::dl::device_of(static_cast<int>(from.device.device_type));
    tensor_.rank = from.ndim;
    if (tensor_.device == QKV_OPENCL && from.byte_offset != 0) tensor_.device = -1;
    if (from.data) tensor_.data = static_cast<char *>(from.data) + from.byte_offset;
    if (from.ndim < 0 || from.ndim > QKV_MAX_RANK) return;
    detail::dimensions extent{};
    std::copy_n(from.shape, from.ndim, extent.begin());
    const detail::dimensions dense = detail::dense_strides(extent, from.ndim);
    std::copy_n(extent.begin(), from.ndim, tensor_.extent);
    std::copy_n(from.strides ? from.strides : dense.data(), from.ndim, tensor_.stride);
  }

  qkv_tensor descriptor() const { return tensor_; }

 private:
  qkv_tensor tensor_{};
};

// A tensor for another library: to_dlpack<DLManagedTensor>(std::move(Y)), or of type
// DLManagedTensorVersioned; `device_number` counts the devices of a kind. Whoever receives it calls
// its deleter, which frees what the tensor owns; views refer to memory that must outlive it. Null
// where the host has no memory for it, and for a dlpack_view that no call would take.
// Cost: none for a tensor that is moved, else a copy of its elements.
template <class Managed, detail::some_tensor T>
Managed *to_dlpack(T tensor, int device_number = 0) {
  struct exported {
    Managed managed{};
    T tensor;
    qkv_tensor as;
    explicit exported(T &&t) : tensor(std::move(t)), as(tensor.descriptor()) {}
  };
  const qkv_tensor given = tensor.descriptor();
  if (given.rank < 0 || given.rank > QKV_MAX_RANK) return nullptr;
  bool has_elements = true;
  for (int d = 0; d < given.rank; ++d) has_elements = has_elements && given.extent[d] > 0;
  constexpr std::array devices = {detail::dl::cpu, detail::dl::cuda, detail::dl::opencl};
  const bool has_device = given.device >= 0 && given.device < static_cast<int>(devices.size());
  if (given.dtype < 0 || !has_device || (has_elements && !given.data)) return nullptr;
  auto *all = new (std::nothrow) exported(std::move(tensor));
  if (!all) return nullptr;
  Managed &m = all->managed;
  auto &t = m.dl_tensor;
  t.data = all->as.data;
  using device_type = decltype(t.device.device_type);
  t.device = {static_cast<device_type>(devices[static_cast<std::size_t>(all->as.device)]),
              device_number};
  t.ndim = all->as.rank;
  const detail::dl::element e = detail::dl::elements[static_cast<std::size_t>(all->as.dtype)];
  t.dtype = {static_cast<std::uint8_t>(e.code), static_cast<std::uint8_t>(e.bits), 1};
  t.shape = all->as.extent;
  t.strides = all->as.stride;
  t.byte_offset = 0;
  m.manager_ctx = all;
  m.deleter = [](Managed *self) { delete static_cast<exported *>(self->manager_ctx); };
  if constexpr (requires { m.flags; }) {
    constexpr std::uint64_t read_only = 1;
    m.version = {1, 0};
    m.flags = T::writable ? 0 : read_only;
  }
  return &m;
}

}  // namespace qkv
