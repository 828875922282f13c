// SPDX-License-Identifier: BSL-1.0
// Draws specs for as long as requested: ./run fuzz
//
// Prints one line a minute. Shrinks the first failures of each kind, prints them as C++ with the
// arguments that run them again, and counts later ones.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "tests/fuzz/check.hpp"
#include "tests/fuzz/draw.hpp"
#include "tests/fuzz/isolate.hpp"
#include "tests/fuzz/print.hpp"
#include "tests/fuzz/shrink.hpp"

using namespace qkv::fuzz;
using qkv::device;

namespace {

constexpr const char *usage =
    "usage: fuzz [--minutes N] [--seed S] [--resume]\n"
    "            [--only rewrites|gradients|cpu|opencl|cuda|special|backward] [--programs N] "
    "[--seconds N] [--as-drawn] [--out FOLDER]\n"
    "\n"
    "  --minutes   until no further seed is drawn (10)\n"
    "  --seed      the first one (1); rewrites and gradients draw a hundred specs from each\n"
    "  --only      gradients are interpreted, backward compiles them\n"
    "  --resume    begins where the last run into the same folder ended\n"
    "  --programs  most seeds to draw\n"
    "  --seconds   before a compiled check is killed (120)\n"
    "  --as-drawn  does not shrink\n"
    "  --out       folder of failures.txt and next_seed (build/fuzz)\n";

struct settings {
  double minutes = 10;
  std::uint64_t seed = 1;
  bool resume = false, shrink = true;
  std::string only, out = "build/fuzz";
  std::uint64_t programs = ~std::uint64_t{0};
  int seconds = 120;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class fuzzer {
 public:
  explicit fuzzer(settings s) : s_(std::move(s)), began_(now()), said_(now()) {
    std::filesystem::create_directories(s_.out);
    if (s_.resume) std::ifstream(state()) >> s_.seed;
    for (const auto &[what, on] : devices) {
      const bool there = can_run_on(on);
      if (!there && wanted(what)) fmt::print("[SKIP] there is no device for {}\n", what);
      has_[what] = there;
    }
  }

  int run() {
    for (std::uint64_t k = 0; k < s_.programs && now() - began_ < 60 * s_.minutes; ++k) {
      const std::uint64_t seed = s_.seed++;
      std::ofstream(state()) << s_.seed
                             << "\n";  // first: a seed that ends the process is not drawn again
      one(seed);
      if (now() - said_ > 60) say();
    }
    say();
    return failures_ ? 1 : 0;
  }

 private:
  std::string state() const { return s_.out + "/next_seed"; }
  bool wanted(const std::string &what) const { return s_.only.empty() || s_.only == what; }

  // Interprets a hundred small specs in the time that compiling one takes.
  void one(std::uint64_t seed) {
    const auto check = [&](const std::string &what, bool in_turn, auto run) {
      if (!wanted(what) || (s_.only.empty() && !in_turn)) return;
      try {
        run();
      } catch (const std::exception &e) {
        report(what, seed, std::string("draw: ") + e.what(), {});
      }
    };
    for (const auto &[what, wrong] : interpreted_checks)
      check(what, what == "rewrites" || seed % 4 == 1,
            [&] { interpreted(what, wrong, seed, seed * block, (seed + 1) * block); });
    check("cpu", true, [&] { compiled(seed, device::host, false, "cpu"); });
    for (const auto &[what, on] : devices)
      check(what, seed % 4 == 0, [&] {
        if (has_[what]) compiled(seed, on, seed % 3 == 0, what);  // also where values are special
      });
    check("special", seed % 4 == 2, [&] { compiled(seed, device::host, true, "special"); });
    check("backward", false, [&] { compiled(seed, device::host, seed % 3 == 0, "backward"); });
  }

  static recipe small_spec(std::uint64_t s) {
    taste t;
    t.small = true;
    return pruned(draw(s, t), s % 10 == 0);
  }

  using interpreted_check = std::string (*)(const recipe &, std::uint64_t seed);

  // Checks these specs in one child process. If it crashes, checks each in its own.
  void interpreted(const std::string &what, interpreted_check check, std::uint64_t seed,
                   std::uint64_t first, std::uint64_t last) {
    while (first < last) {
      std::uint64_t bad = first;
      std::string wrong = isolated(
          [&]() -> std::string {
            for (std::uint64_t s = first; s < last; ++s) {
              const std::string w = check(small_spec(s), s);
              if (!w.empty()) return fmt::format("{} {}", s, w);
            }
            return "";
          },
          last - first > 1 ? 600 : 60);
      const char *end = wrong.data() + wrong.size();
      const auto number = std::from_chars(wrong.data(), end, bad);
      const bool crashed = !wrong.empty() && number.ec != std::errc{};
      if (crashed && last - first > 1) {
        for (std::uint64_t s = first; s < last; ++s) interpreted(what, check, seed, s, s + 1);
        return;
      }
      counts_[what] += (wrong.empty() ? last : bad + 1) - first;
      if (wrong.empty()) return;
      if (!crashed) wrong.erase(0, static_cast<std::size_t>(number.ptr - wrong.data()) + 1);
      failed(what, seed, small_spec(bad), wrong,
             [&](const recipe &r) { return isolated([&] { return check(r, bad); }, 60); });
      first = bad + 1;
    }
  }

  void compiled(std::uint64_t seed, device on, bool special, const std::string &what) {
    taste t;
    t.no_f64 = on != device::host;
    compiled_check c;
    c.seed = seed, c.on = on, c.special = special, c.gradient = what == "backward";
    c.seconds = s_.seconds;
    c.folder = fmt::format("{}/work_{}", s_.out, getpid());
    ++counts_[what];
    const recipe r = pruned(draw(seed, t), seed % 10 == 0);
    const std::string wrong = wrong_when_compiled(r, c);
    if (!wrong.empty())
      failed(what, seed, r, wrong, [&](const recipe &x) { return wrong_when_compiled(x, c); });
  }

  template <class F>
  void failed(const std::string &what, std::uint64_t seed, const recipe &r,
              const std::string &wrong, F again) {
    const std::string kind = kind_of(wrong);
    if (seen_[what + " " + kind] >= most_of_a_kind || !s_.shrink)
      return report(what, seed, wrong, r);
    const double end = now() + most_seconds_of_shrinking;
    std::string smaller = wrong;
    const recipe small = shrunk(r, [&](const recipe &x) {
      if (now() > end) return false;
      const std::string w = again(x);
      if (kind_of(w) != kind) return false;
      smaller = w;
      return true;
    });
    report(what, seed, smaller, small);
  }

  void report(const std::string &what, std::uint64_t seed, const std::string &wrong,
              const recipe &r) {
    ++failures_;
    const bool known = ++seen_[what + " " + kind_of(wrong)] > most_of_a_kind;
    const std::string text =
        fmt::format("== {} again: --only {} --seed {} --programs 1\n{}\n{}\n", what, what, seed,
                    wrong, r.results.empty() ? "" : cpp_of(r));
    std::ofstream(s_.out + "/failures.txt", std::ios::app) << text;
    if (!known) fmt::print("{}", text);
    std::fflush(stdout);
  }

  void say() {
    said_ = now();
    std::string text;
    for (const auto &[what, n] : counts_) text += fmt::format(" {} {},", n, what);
    fmt::print("[{:5.0f} s] next seed {}:{} {} failures\n", said_ - began_, s_.seed, text,
               failures_);
    std::fflush(stdout);
  }

  static inline const std::map<std::string, device> devices = {{"opencl", device::opencl},
                                                               {"cuda", device::cuda}};
  static inline const std::map<std::string, interpreted_check> interpreted_checks = {
      {"gradients", wrong_gradient},
      {"rewrites", [](const recipe &r, std::uint64_t seed) { return wrong_meaning(r, seed); }}};
  static constexpr std::uint64_t block = 100;  // interpreted specs of each seed
  static constexpr int most_of_a_kind = 3;
  static constexpr double most_seconds_of_shrinking = 90;
  settings s_;
  double began_, said_;
  std::map<std::string, std::uint64_t> counts_;
  std::map<std::string, int> seen_;
  int failures_ = 0;
  std::map<std::string, bool> has_;
};

template <class T>
bool read(const char *word, T &number) {
  const std::string_view text = word;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number >= 0;
}

// Nothing if the arguments are not those of the usage.
std::optional<settings> settings_from(int argc, char **argv) {
  settings s;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (word == "--resume" || word == "--as-drawn") {
      (word == "--resume" ? s.resume : s.shrink) = word == "--resume";
      continue;
    }
    const char *value = ++k < argc ? argv[k] : "";
    bool good = false;
    if (word == "--minutes") good = read(value, s.minutes);
    if (word == "--seed") good = read(value, s.seed);
    if (word == "--programs") good = read(value, s.programs);
    if (word == "--seconds") good = read(value, s.seconds);
    if (word == "--out") good = !(s.out = value).empty();
    if (word == "--only") {
      constexpr std::string_view all[] = {"rewrites", "gradients", "cpu",     "opencl",
                                          "cuda",     "special",   "backward"};
      good = std::find(std::begin(all), std::end(all), s.only = value) != std::end(all);
    }
    if (!good) return {};
  }
  return s;
}

}  // namespace

int main(int argc, char **argv) {
  std::optional<settings> s = settings_from(argc, argv);
  if (!s) {
    fmt::print(stderr, "{}", usage);
    return 2;
  }
  return fuzzer(std::move(*s)).run();
}
