// SPDX-License-Identifier: BSL-1.0
#include "tool/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <qkv/registry.hpp>

#include <algorithm>
#include <charconv>
#include <set>

#include "call/libraries.hpp"
#include "devices/devices.hpp"
#include "tool/nearest.hpp"

namespace qkv::tool {
namespace {

using std::string_view;

std::int64_t number(string_view text, string_view what) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || n < 0 || n > INT32_MAX) {
    throw refusal(fmt::format("{} needs a number from 0 to {}, not {}", what, INT32_MAX, text));
  }
  return n;
}

double real(string_view option, string_view text) {
  double x = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (error != std::errc{} || end != text.data() + text.size() || !(x > 0 && x < 1e30))
    throw refusal(fmt::format("{} needs a positive number, not {}", option, text));
  return x;
}

std::pair<std::string, std::string> pair(string_view option, string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == 0 || equals == string_view::npos)
    throw refusal(fmt::format("{} needs name=value, not {}", option, word));
  return {std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))};
}

enum class takes : unsigned char { nothing, one, list };

struct option {
  string_view name, value, what;
  takes how;
  void (*take)(request &, string_view word);
};

void take_size(request &r, string_view word) {
  const auto [name, n] = pair("--size", word);
  if (!r.size.emplace(name, number(n, name)).second)
    throw refusal(fmt::format("--size gives {} twice", name));
}

// Adds a word of --in or --out.
void take_file(std::map<std::string, std::string> &files, string_view option, string_view word) {
  const auto named = pair(option, word);
  if (!files.insert(named).second)
    throw refusal(fmt::format("{} gives {} twice", option, named.first));
}

void take_device(request &r, string_view word) {
  const detail::device_kind *kind = detail::kind_named(word);
  if (!kind) throw refusal(fmt::format("--device is {}, not {}", detail::device_names(), word));
  r.on = static_cast<device>(kind->number);
}

const option options[] = {
    {"--size", "seq=1000 ...", "sizes of axes that the call decides", takes::list, take_size},
    {"--in", "Q=q.npy ...", "arguments from files, as NumPy saves them", takes::list,
     [](request &r, string_view word) { take_file(r.in, "--in", word); }},
    {"--out", "O=o.npy ...", "files for results", takes::list,
     [](request &r, string_view word) { take_file(r.out, "--out", word); }},
    {"--svg", "FILE", "where to draw", takes::one,
     [](request &r, string_view word) { r.svg = word; }},
    {"--threads", "N", "most threads to use", takes::one,
     [](request &r, string_view word) { r.threads = static_cast<int>(number(word, "--threads")); }},
    {"--seed", "N", "of random arguments", takes::one,
     [](request &r, string_view word) { r.seed = static_cast<unsigned>(number(word, "--seed")); }},
    {"--device", "cuda|opencl", "where to run", takes::one, take_device},
    {"--finite-differences", "", "compare a gradient with differences of its kernel, too",
     takes::nothing, [](request &r, string_view) { r.compared.by_differences = true; }},
    {"--tool", "qemu-aarch64 arm/my_tool", "whose kernel to check: the tool of another build",
     takes::list, [](request &r, string_view word) { r.compared.tool.emplace_back(word); }},
    {"--machine", "NAME", "whose tiles to show, too", takes::one,
     [](request &r, string_view word) { r.machine = word; }},
    {"--ranks", "N", "what it costs on 1 to N machines, as DISTRIBUTED", takes::one,
     [](request &r, string_view word) {
       r.shared_by.ranks = static_cast<int>(number(word, "--ranks"));
     }},
    {"--peak", "2e12", "flop/s of one machine at this kernel", takes::one,
     [](request &r, string_view word) { r.shared_by.peak = real("--peak", word); }},
    {"--link", "12.5e9", "bytes a second of a machine's link", takes::one,
     [](request &r, string_view word) { r.shared_by.link = real("--link", word); }},
    {"--bandwidth", "200e9", "bytes a second that a machine reads", takes::one,
     [](request &r, string_view word) { r.shared_by.bandwidth = real("--bandwidth", word); }},
    {"--latency", "10e-6", "seconds of a message", takes::one,
     [](request &r, string_view word) { r.shared_by.latency = real("--latency", word); }},
    {"--json", "", "print JSON", takes::nothing, [](request &r, string_view) { r.json = true; }},
};

const option &option_named(string_view name) {
  return *std::ranges::find(options, name, &option::name);
}

template <void (*Command)(const request &)>
int done(const request &r) {
  Command(r);
  return 0;
}

const std::vector<command> &commands() {
  static const std::vector<command> all = {
      {"list", "", "The kernels of this library, with their signatures and machines.", {"--json"}},
      {"describe",
       "K",
       "Shapes of all steps, cost, stages; a picture of the pipeline; costs on many machines.",
       {"--size", "--svg", "--json", "--machine", "--ranks", "--peak", "--link", "--bandwidth",
        "--latency"},
       done<describe>},
      {"run",
       "K --in Q=q.npy ... --out O=o.npy",
       "Runs a kernel on files.",
       {"--in", "--out", "--size", "--threads", "--device"},
       done<run>},
      {"trace",
       "K",
       "The numbers of every step, by the reference interpreter; heat maps.",
       {"--in", "--size", "--seed", "--svg"},
       done<trace>},
      {"check",
       "K",
       "Compares a kernel with the reference interpreter on random arguments.",
       {"--size", "--threads", "--seed", "--device", "--finite-differences", "--tool", "--json"},
       [](const request &r) { return check(r) ? 0 : 1; }},
      {"bench",
       "K",
       "Measures a kernel, its params prepared; sizes that are not given are 512, the batch 1.",
       {"--size", "--threads", "--seed", "--device", "--json"},
       done<bench>},
      {"serve", "", "Runs the cases of a benchmark that it reads from standard input.", {}},
  };
  return all;
}

const qkv_kernel &find(string_view name) {
  const qkv_kernel *found = nullptr;
  const status s = detail::find_table(name, found);
  if (found) return *found;
  if (s.code() != status_code::not_linked) throw refusal(s.text());
  std::vector<string_view> names;
  for (const qkv_kernel *k : kernels()) names.push_back(k->name);
  throw refusal(unknown("kernel", name, names));
}

bool takes_size_of(const command &c, const request &r, string_view axis) {
  if (!r.kernel || std::ranges::find(c.options, "--size") == c.options.end()) return false;
  const qkv_kernel &k = *r.kernel;
  return std::any_of(k.axes, k.axes + k.n_axes, [&](const qkv_axis &a) { return axis == a.name; });
}

[[noreturn]] void refuse_word(const command &c, const request &r, string_view word) {
  std::string meant;
  if (const std::size_t at = word.find('='); at != word.npos)
    if (takes_size_of(c, r, word.substr(0, at)))
      meant = fmt::format("; did you mean --size {}?", word);
  throw refusal(fmt::format("{}: not understood{}", word, meant));
}

[[noreturn]] void refuse_option(const command &c, const request &r, string_view word) {
  const string_view name = word.substr(2, word.find('=') - 2);
  if (takes_size_of(c, r, name))
    throw refusal(
        fmt::format("{} has no option {}; did you mean --size {}=N?", c.name, word, name));
  const string_view meant = nearest(word, c.options);
  throw refusal(fmt::format("{} has no option {}; {}", c.name, word,
                            meant.empty() ? fmt::format("it has: {}", fmt::join(c.options, " "))
                                          : fmt::format("did you mean {}?", meant)));
}

}  // namespace

const command *command_named(string_view name) {
  const auto it = std::ranges::find(commands(), name, &command::name);
  return it == commands().end() ? nullptr : &*it;
}

std::vector<string_view> command_names() {
  std::vector<string_view> all;
  for (const command &c : commands()) all.push_back(c.name);
  return all;
}

std::string usage(string_view program) {
  std::string text = fmt::format("{} COMMAND [KERNEL] [OPTION ...]\n", program);
  for (const command &c : commands()) text += fmt::format("  {:9} {}\n", c.name, c.what);
  return text + fmt::format("{} help COMMAND names its options; --version the version.\n", program);
}

std::string usage_of(const command &c, string_view program) {
  std::string text = fmt::format("{} {}{}{}\n  {}\n", program, c.name,
                                 c.arguments.empty() ? "" : " ", c.arguments, c.what);
  for (const string_view name : c.options) {
    const option &o = option_named(name);
    text += fmt::format("  {:22} {}\n", fmt::format("{} {}", o.name, o.value), o.what);
  }
  return text;
}

std::string unknown(string_view kind, string_view word, const std::vector<string_view> &known) {
  const string_view meant = nearest(word, known);
  if (!meant.empty()) return fmt::format("there is no {} {}; did you mean {}?", kind, word, meant);
  return fmt::format("there is no {} {}; there are: {}", kind, word, fmt::join(known, ", "));
}

// Options that take a list go on until the next option.
request read(const command &c, const std::vector<string_view> &words,
             const std::vector<entry> &entries) {
  request r;
  r.entries = &entries;
  std::size_t first = 0;
  if (c.run) {
    if (words.empty()) {
      std::vector<string_view> names;
      for (const qkv_kernel *k : kernels()) names.push_back(k->name);
      throw refusal(fmt::format("which kernel? there are: {}", fmt::join(names, ", ")));
    }
    r.kernel = &find(words[0]);
    for (const entry &e : entries)
      if (e.name == words[0]) r.spec = &e;
    first = 1;
  }
  std::set<string_view> given;
  const option *now = nullptr;
  bool taken = true;
  const auto end_option = [&] {
    if (!taken) throw refusal(fmt::format("{} needs a value", now->name));
  };
  for (std::size_t i = first; i < words.size(); ++i) {
    const string_view word = words[i];
    if (word.starts_with("--")) {
      end_option();
      if (std::ranges::find(c.options, word) == c.options.end()) refuse_option(c, r, word);
      now = &option_named(word);
      if (now->how != takes::list && !given.insert(word).second)
        throw refusal(fmt::format("{} is given twice", word));
      taken = now->how == takes::nothing;
      if (taken) now->take(r, word);
      continue;
    }
    if (!now || now->how == takes::nothing || (taken && now->how == takes::one))
      refuse_word(c, r, word);
    now->take(r, word);
    taken = true;
  }
  end_option();
  return r;
}

}  // namespace qkv::tool
