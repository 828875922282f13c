// SPDX-License-Identifier: BSL-1.0
#pragma once
// The tensors of a kernel, for calls that need no particular numbers.
#include <qkv/kernel.h>

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace qkv::testing {

// Dense and zero. `size` has the sizes that a call decides, by the name of an axis or of that which
// it is an alias of.
struct dense_tensors {
  std::vector<std::vector<double>> memory;  // of each tensor, eight bytes for each element
  std::vector<qkv_tensor> list;

  dense_tensors(const qkv_kernel &k, const std::function<std::int64_t(std::string_view)> &size) {
    for (int i = 0; i < k.n_arguments; ++i) {
      const qkv_argument &a = k.arguments[i];
      qkv_tensor t{};
      t.dtype = a.dtype;
      t.rank = a.rank;
      std::int64_t elements = 1;
      for (int d = a.rank; d-- > 0;) {
        const qkv_axis &axis = k.axes[k.axes[a.axes[d]].root];
        t.extent[d] = axis.size >= 0 ? axis.size : size(axis.name);
        t.stride[d] = elements;
        elements *= t.extent[d];
      }
      memory.emplace_back(static_cast<std::size_t>(elements));
      t.data = memory.back().data();
      list.push_back(t);
    }
  }
};

}  // namespace qkv::testing
