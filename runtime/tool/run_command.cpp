// SPDX-License-Identifier: BSL-1.0
// run K --in Q=q.npy ... --out O=o.npy
#include <fmt/format.h>
#include <qkv/run.hpp>

#include "tool/inputs.hpp"

namespace qkv::tool {

void run(const request &r) {
  const qkv_kernel &k = *r.kernel;
  kernel_sizes s = r.sizes_asked();
  std::string words;
  std::vector<value> all = inputs_from_files(r, s, words);
  require_names(k, r.out, among::results);
  for (int i = 0; i < k.n_arguments; ++i) {
    const qkv_argument &a = k.arguments[i];
    if (a.role != QKV_OUT) continue;
    for (int d = 0; d < a.rank; ++d) {
      if (!s.known(a.axes[d]))
        throw refusal(fmt::format("{}: no input gives the size of {}; add --size {}=N", k.name,
                                  k.axes[a.axes[d]].name, k.axes[a.axes[d]].name));
    }
    all[static_cast<std::size_t>(i)] = value(a.dtype, s.shape(a));
  }
  if (status done = qkv::run(k, descriptors(all), r.how()); !done) throw refusal(done.text());
  if (r.out.empty())
    throw refusal(fmt::format("{} ran, but nothing was written: say --out {}=file.npy", k.name,
                              k.arguments[k.n_arguments - 1].name));
  for (int i = 0; i < k.n_arguments; ++i) {
    const auto file = r.out.find(k.arguments[i].name);
    if (k.arguments[i].role != QKV_OUT || file == r.out.end()) continue;
    const npy_array a = all[static_cast<std::size_t>(i)].to_npy();
    if (status written = write_npy(file->second, a.type, a.shape, a.data.data()); !written)
      throw refusal(written.text());
    words +=
        fmt::format("{}: {} into {}\n", file->first, shape_text(a.type, a.shape), file->second);
  }
  fmt::print("{}", words);
}

}  // namespace qkv::tool
