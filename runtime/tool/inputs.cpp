// SPDX-License-Identifier: BSL-1.0
#include "tool/inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <qkv/core/dtype.hpp>

namespace qkv::tool {
namespace {

value load(const std::string &path, const qkv_argument &a, std::string &words) {
  npy_array file;
  if (status s = read_npy(path, file); !s) throw refusal(s.text());
  value v;
  if (std::string wrong = value::from(file, a.dtype, v); !wrong.empty())
    throw refusal(fmt::format("{}: {} {}", path, a.name, wrong));
  const std::string_view stored = name_of(file.type), taken = name_of(static_cast<dtype>(a.dtype));
  words += fmt::format("{}: {} from {}{}\n", a.name, shape_text(file.type, file.shape), path,
                       stored == taken ? "" : fmt::format(", taken as {}", taken));
  return v;
}

}  // namespace

std::string shape_text(npy_type t, const std::vector<std::int64_t> &shape) {
  return fmt::format("{} [{}]", name_of(t), fmt::join(shape, ", "));
}

void require_names(const qkv_kernel &k, const std::map<std::string, std::string> &by_name,
                   among which) {
  for (const auto &[name, path] : by_name) {
    bool known = false;
    for (int i = 0; i < k.n_arguments; ++i)
      known = known || (name == k.arguments[i].name &&
                        (which == among::all || k.arguments[i].role == QKV_OUT));
    if (!known) throw refusal(fmt::format("{} has no {}: {}", k.name, name, signature_text(k)));
  }
}

std::vector<value> inputs_from_files(const request &r, kernel_sizes &s, std::string &words) {
  const qkv_kernel &k = *r.kernel;
  require_names(k, r.in, among::all);
  std::vector<value> all(static_cast<std::size_t>(k.n_arguments));
  for (int i = 0; i < k.n_arguments; ++i) {
    const qkv_argument &a = k.arguments[i];
    if (a.role == QKV_OUT) continue;
    const auto file = r.in.find(a.name);
    if (file == r.in.end())
      throw refusal(
          fmt::format("{} needs --in {}=file.npy: {}", k.name, a.name, signature_text(k)));
    value &v = all[static_cast<std::size_t>(i)] = load(file->second, a, words);
    for (int d = 0; d < a.rank && d < v.descriptor().rank; ++d) {
      if (!s.known(a.axes[d])) s.set(a.axes[d], v.descriptor().extent[d]);
    }
  }
  s.complete();
  return all;
}

}  // namespace qkv::tool
