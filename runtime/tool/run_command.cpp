// run K --in Q=q.npy ... --out O=o.npy
#include <fmt/format.h>
#include <qkv/run.hpp>

#include <set>

#include "tool/commands.hpp"

namespace qkv::tool {
namespace {

value load(const std::string &path, const qkv_argument &a) {
  npy_array file;
  if (status s = read_npy(path, file); !s) throw refusal(s.text());
  value v;
  if (std::string wrong = value::from(file, a.dtype, v); !wrong.empty())
    throw refusal(fmt::format("{}: {} {}", path, a.name, wrong));
  return v;
}

}  // namespace

void run(const request &r) {
  const qkv_kernel &k = r.kernel;
  kernel_sizes s = r.sizes_asked();
  std::vector<value> all(static_cast<std::size_t>(k.n_arguments));
  std::set<std::string> used;
  for (int i = 0; i < k.n_arguments; ++i) {
    const qkv_argument &a = k.arguments[i];
    if (a.role == QKV_OUT) continue;
    const auto file = r.in.find(a.name);
    if (file == r.in.end())
      throw refusal(
          fmt::format("{} needs --in {}=file.npy: {}", k.name, a.name, signature_text(k)));
    used.insert(a.name);
    value &v = all[static_cast<std::size_t>(i)] = load(file->second, a);
    for (int d = 0; d < a.rank && d < v.descriptor().rank; ++d) {
      if (!s.known(a.axes[d])) s.set(a.axes[d], v.descriptor().extent[d]);
    }
  }
  s.complete();
  for (int i = 0; i < k.n_arguments; ++i) {
    const qkv_argument &a = k.arguments[i];
    if (a.role != QKV_OUT) continue;
    used.insert(a.name);
    for (int d = 0; d < a.rank; ++d) {
      if (!s.known(a.axes[d]))
        throw refusal(fmt::format("{}: no input gives the size of {}; add --size {}=N", k.name,
                                  k.axes[a.axes[d]].name, k.axes[a.axes[d]].name));
    }
    all[static_cast<std::size_t>(i)] = value(a.dtype, s.shape(a));
  }
  for (const auto *given : {&r.in, &r.out}) {
    for (const auto &[name, path] : *given) {
      if (!used.count(name))
        throw refusal(fmt::format("{} has no {}: {}", k.name, name, signature_text(k)));
    }
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
  }
}

}  // namespace qkv::tool
