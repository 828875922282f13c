// SPDX-License-Identifier: BSL-1.0
#include "serve/serve.hpp"

#include <fmt/format.h>
#include <qkv/registry.hpp>
#include <qkv/run.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "call/check.hpp"
#include "files/value.hpp"
#include "serve/json.hpp"

namespace qkv::serving {
namespace {

using detail::value;

// The case, or what there is to run it, is not as it should be.
struct refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Batch entries, heads, rows, keys, features.
struct case_sizes {
  std::int64_t b = 0, hq = 0, hkv = 0, sq = 0, skv = 0, dk = 0, dv = 0;
};

// A case of the benchmark, as it is received.
struct task {
  std::string kind, dtype, mask;
  case_sizes size;
  std::int64_t window = 0;
  double softcap = 0, scale = 0;
  value q, k, v, bias, lengths, parameters;
  std::string out;
};

value load(const std::string &path, int dtype, const char *name) {
  if (path.empty()) return {};
  npy_array file;
  if (status s = read_npy(path, file); !s) throw refusal(s.text());
  value v;
  if (std::string wrong = value::from(file, dtype, v); !wrong.empty())
    throw refusal(fmt::format("{} {}", name, wrong));
  return v;
}

// Checks the case's claims about a file: views are made from it.
void must_hold(const value &v, const char *name, std::initializer_list<std::int64_t> shape) {
  double n = 1;
  for (const std::int64_t extent : shape)
    n *= static_cast<double>(std::max<std::int64_t>(extent, 0));
  if (v.data() && static_cast<double>(v.elements()) != n)
    throw refusal(fmt::format("{} has {} elements, not the {} of the case", name, v.elements(), n));
}

task read_task(const flat_object &o) {
  task t;
  t.kind = o.text("kind").empty() ? "sdpa" : o.text("kind");
  t.dtype = o.text("dtype");
  t.mask = o.text("mask");
  const auto size = [&](const char *name) { return static_cast<std::int64_t>(o.number(name)); };
  t.size.b = size("B"), t.size.hq = size("Hq"), t.size.hkv = size("Hkv"), t.size.sq = size("Sq"),
  t.size.skv = size("Skv"), t.size.dk = size("Dk"), t.size.dv = size("Dv");
  t.window = size("window");
  t.softcap = o.number("softcap");
  t.scale = o.number("scale");
  t.out = o.text("out");
  if (t.size.hkv <= 0 || t.size.hq % t.size.hkv != 0)
    throw refusal("heads that do not form groups");
  const int type = t.dtype == "fp32"   ? QKV_F32
                   : t.dtype == "bf16" ? QKV_BF16
                   : t.dtype == "fp16" ? QKV_F16
                                       : throw refusal(t.dtype + " is not built");
  t.q = load(o.text("q"), type, "q");
  t.k = load(o.text("k"), type, "k");
  t.v = load(o.text("v"), type, "v");
  t.bias = load(o.text("bias"), QKV_F32, "bias");
  t.lengths = load(o.text("lengths"), QKV_I32, "lengths");
  t.parameters = load(o.text("w"), QKV_F32, "w");
  must_hold(t.q, "q", {t.size.b, t.size.hq, t.size.sq, t.size.dk});
  must_hold(t.k, "k", {t.size.b, t.size.hkv, t.size.skv, t.size.dk});
  must_hold(t.v, "v", {t.size.b, t.size.hkv, t.size.skv, t.size.dv});
  must_hold(t.bias, "bias", {t.size.hq, t.size.sq, t.size.skv});
  must_hold(t.lengths, "lengths", {t.size.b});
  return t;
}

// The parts of a kernel's name.
struct words {
  std::string mask = "none";
  double window = 0, softcap = 0;
  bool decode = false;
};

words words_of(std::string_view name) {
  words w;
  const auto constant = [](std::string_view word, std::string_view of) {
    return word.size() > of.size() && word.substr(0, of.size()) == of
               ? std::atof(std::string(word.substr(of.size())).c_str())
               : 0;
  };
  while (!name.empty()) {
    const std::string_view word = name.substr(0, name.find('_'));
    name.remove_prefix(std::min(name.size(), word.size() + 1));
    if (word == "causal" || word == "padding" || word == "bias") w.mask = word;
    if (word.substr(0, 6) == "window") w.mask = "window";
    w.window = std::max(w.window, constant(word, "window"));
    w.softcap = std::max(w.softcap, constant(word, "softcap"));
    w.decode |= word == "decode";
  }
  return w;
}

struct dim {
  std::int64_t extent, stride;
};

qkv_tensor tensor(const value &v, std::initializer_list<dim> dims) {
  qkv_tensor t = v.descriptor();
  t.rank = 0;
  for (const dim &d : dims) {
    t.extent[t.rank] = d.extent;
    t.stride[t.rank++] = d.stride;
  }
  return t;
}

// One kernel set up for one case.
class service {
 public:
  // The text is why the kernel does not fit, or empty.
  std::string set_up(const qkv_kernel &k, task &t) {
    kernel_ = &k;
    const words w = words_of(k.name);
    if (w.mask != t.mask) return fmt::format("its mask is {}", w.mask);
    bool takes_window = w.window == static_cast<double>(t.window),
         takes_softcap = w.softcap == t.softcap, takes_scale = false;
    out_ = value(k.arguments[k.n_arguments - 1].dtype,
                 std::vector{t.size.b, t.size.hq, t.size.sq, t.size.dv});
    numbers_.clear();
    numbers_.reserve(3);
    tensors_.clear();
    used_ = 0;
    bool grouped = false;
    for (int i = 0; i < k.n_arguments; ++i) {
      const qkv_argument &a = k.arguments[i];
      const std::string_view name = a.name;
      grouped |= name == "Q" && a.rank == 5;
      if (name == "Q" || a.role == QKV_OUT) {
        tensors_.push_back(rows(a, t));
      } else if (name == "K") {
        tensors_.push_back(t.k.descriptor());
      } else if (name == "V") {
        tensors_.push_back(t.v.descriptor());
      } else if (name == "bias" && t.bias.data()) {
        tensors_.push_back(bias(a, t, grouped));
      } else if (name == "len" && t.lengths.data()) {
        tensors_.push_back(t.lengths.descriptor());
      } else if (a.role == QKV_PARAM && t.parameters.data()) {
        tensors_.push_back(parameter(a, k, t));
      } else if (a.rank == 0 && (name == "window" || name == "softcap" || name == "scale")) {
        value &v = numbers_.emplace_back(a.dtype, std::span<const std::int64_t>{});
        v.set(0, name == "window"    ? static_cast<double>(t.window)
                 : name == "softcap" ? t.softcap
                                     : t.scale);
        takes_window |= name == "window";
        takes_softcap |= name == "softcap" && t.softcap != 0;
        takes_scale |= name == "scale";
        tensors_.push_back(v.descriptor());
      } else {
        return fmt::format("the case has no {}", name);
      }
    }
    if (used_ != (t.parameters.data() ? t.parameters.elements() : 0))
      return fmt::format("its parameters have {} elements", used_);
    if (!takes_window) return fmt::format("its window is {}", w.window);
    if (!takes_softcap) return fmt::format("its softcap is {}", w.softcap);
    if (!takes_scale && std::abs(t.scale * std::sqrt(static_cast<double>(t.size.dk)) - 1) > 1e-3)
      return "its scale is 1 / sqrt(Dk)";
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(k.n_axes));
    status s = detail::check(k, tensors_, sizes);
    if (s.ok()) s = prepare();
    return s.ok() ? "" : s.text() + std::strlen(k.name) + 2;  // without the name
  }

  // Nanoseconds of one call.
  long long call() const {
    const auto begin = std::chrono::steady_clock::now();
    const status s = prepared_.run(tensors_);
    const auto end = std::chrono::steady_clock::now();
    if (!s) throw refusal(s.text());
    return std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count();
  }

  status write(const std::string &path) const {
    const tool::array a = out_.numbers();
    const std::vector<float> numbers(a.data.begin(), a.data.end());
    return write_npy(path, npy_type::f32, a.shape, numbers.data());
  }

 private:
  // Binds the parameters; `tensors_` are the other arguments then.
  status prepare() {
    std::vector<qkv_tensor> parameters, others;
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      (kernel_->arguments[i].role == QKV_PARAM ? parameters : others).push_back(tensors_[i]);
    tensors_ = std::move(others);
    return prepared::make(*kernel_, parameters, prepared_);
  }

  // Queries, or the result: with grouped heads, one axis for the key heads and one for each group;
  // without heads where there is one.
  qkv_tensor rows(const qkv_argument &a, const task &t) {
    const bool is_result = a.role == QKV_OUT;
    const value &v = is_result ? out_ : t.q;
    if (a.rank == 3 && t.size.hq == 1) {
      const std::int64_t d = is_result ? t.size.dv : t.size.dk;
      return tensor(v, {{t.size.b, t.size.sq * d}, {t.size.sq, d}, {d, 1}});
    }
    if (a.rank != 5) return v.descriptor();
    const std::int64_t d = is_result ? t.size.dv : t.size.dk, head = t.size.sq * d,
                       g = t.size.hq / t.size.hkv;
    return tensor(
        v,
        {{t.size.b, t.size.hq * head}, {t.size.hkv, g * head}, {g, head}, {t.size.sq, d}, {d, 1}});
  }

  // The parameters lie one after the other, in the order of the kernel's arguments.
  qkv_tensor parameter(const qkv_argument &a, const qkv_kernel &k, const task &t) {
    qkv_tensor x = t.parameters.descriptor();
    x.rank = a.rank;
    std::int64_t dense = 1;
    for (int d = a.rank; d-- > 0;) {
      x.extent[d] = std::max<std::int64_t>(k.axes[a.axes[d]].size, 0);
      x.stride[d] = dense;
      dense *= x.extent[d];
    }
    if (used_ + dense <= t.parameters.elements())
      x.data = static_cast<float *>(t.parameters.data()) + used_;
    used_ += dense;
    return x;
  }

  static qkv_tensor bias(const qkv_argument &a, const task &t, bool grouped) {
    const std::int64_t head = t.size.sq * t.size.skv, g = t.size.hq / t.size.hkv;
    if (grouped && a.rank == 5)
      return tensor(t.bias, {{t.size.b, 0},
                             {t.size.hkv, g * head},
                             {g, head},
                             {t.size.sq, t.size.skv},
                             {t.size.skv, 1}});
    if (grouped && a.rank == 4)
      return tensor(t.bias,
                    {{t.size.hkv, g * head}, {g, head}, {t.size.sq, t.size.skv}, {t.size.skv, 1}});
    if (a.rank == 4)
      return tensor(t.bias,
                    {{t.size.b, 0}, {t.size.hq, head}, {t.size.sq, t.size.skv}, {t.size.skv, 1}});
    return tensor(t.bias, {{t.size.hq, head}, {t.size.sq, t.size.skv}, {t.size.skv, 1}});
  }

  const qkv_kernel *kernel_ = nullptr;
  value out_;
  std::int64_t used_ = 0;  // elements of the parameters
  std::vector<value> numbers_;
  std::vector<qkv_tensor> tensors_;
  prepared prepared_;
};

// The text is why no kernel fits, or empty. Kernels meant for one query come first when there is
// one, else last.
std::string choose(task &t, service &s) {
  std::string nearest = fmt::format("no kernel with mask {}", t.mask);
  bool any = false;
  for (const bool decode : {t.size.sq == 1, t.size.sq != 1}) {
    for (const qkv_kernel *k : kernels()) {
      const words w = words_of(k->name);
      if (!std::string_view(k->name).starts_with(t.kind + "_") || w.decode != decode) continue;
      any = true;
      const std::string why = s.set_up(*k, t);
      if (why.empty()) return "";
      if (w.mask == t.mask)
        nearest = fmt::format("{}: {}", k->name, why);  // more precise than "another mask"
    }
  }
  return any ? nearest : fmt::format("no kernel here is named {}_...", t.kind);
}

void answer(const std::string &text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fputc('\n', stdout);
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    throw refusal(fmt::format("standard output: {}", std::strerror(errno)));
}

}  // namespace

int serve() {
  std::string line;
  const auto next_line = [&] {
    if (std::getline(std::cin, line)) return true;
    if (std::cin.bad()) throw std::bad_alloc();  // the stream does not report that memory ran out
    return false;
  };
  if (!next_line()) return 0;
  flat_object described;
  if (!described.read(line)) {
    answer("unsupported: the case is not a flat JSON object");
    return 2;
  }
  task t;
  service s;
  std::string why;
  try {
    t = read_task(described);
    set_threads(static_cast<int>(described.number("threads", 0)));
    why = choose(t, s);
  } catch (const refusal &e) {
    why = e.what();
  }
  if (!why.empty()) {
    answer("unsupported " + why);
    return 0;
  }
  answer("ready");
  while (next_line() && line != "quit") {
    if (line.substr(0, 4) == "run ") {
      std::string times;
      for (int i = std::atoi(line.c_str() + 4); i > 0; --i)
        times += fmt::format("{}{}", times.empty() ? "" : " ", s.call());
      answer(times);
    } else if (line == "write") {
      const status written = s.write(t.out);
      answer(written.ok() ? "ok" : written.text());
    } else {
      answer("not understood");
    }
  }
  return 0;
}

}  // namespace qkv::serving
