// Draws specs for as long as requested: ./run fuzz
//
//   fuzz [--minutes N] [--seed S] [--resume] [--only rewrites|cpu|opencl|special]
//        [--programs N] [--out FOLDER]
//
// Prints one line a minute. Shrinks the first failure of each kind and prints it as C++; counts
// later ones.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/fuzz/check.hpp"
#include "tests/fuzz/draw.hpp"
#include "tests/fuzz/isolate.hpp"
#include "tests/fuzz/print.hpp"
#include "tests/fuzz/shrink.hpp"

using namespace qkv::fuzz;

namespace {

struct settings {
  double minutes = 10;
  std::uint64_t seed = 1;
  bool resume = false, shrink = true;
  std::string only, out = "fuzz.out";
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
  }

  int run() {
    for (std::uint64_t k = 0; k < s_.programs && now() - began_ < 60 * s_.minutes; ++k) {
      one(s_.seed++);
      std::ofstream(state()) << s_.seed << "\n";
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
    if (wanted("rewrites")) rewrites(seed);
    if (wanted("cpu")) compiled(seed, false, false, "cpu");
    if (wanted("opencl") && (seed % 4 == 0 || !s_.only.empty()))
      compiled(seed, true, false, "opencl");
    if (wanted("special") && (seed % 4 == 2 || !s_.only.empty()))
      compiled(seed, false, true, "special");
  }

  void rewrites(std::uint64_t seed) {
    constexpr std::uint64_t many = 100;
    counts_["rewrites"] += many;
    const auto drawn = [](std::uint64_t s) {
      taste t;
      t.small = true;
      return pruned(draw(s, t), s % 10 == 0);
    };
    const std::string wrong = isolated(
        [&]() -> std::string {
          for (std::uint64_t s = seed * many; s < (seed + 1) * many; ++s) {
            const std::string w = wrong_meaning(drawn(s), s);
            if (!w.empty()) return fmt::format("{} {}", s, w);
          }
          return "";
        },
        600);
    if (wrong.empty()) return;
    if (!std::isdigit(static_cast<unsigned char>(wrong[0])))
      return report("rewrites", seed, wrong, {});
    const std::uint64_t bad = std::strtoull(wrong.c_str(), nullptr, 10);
    failed("rewrites", bad, drawn(bad), wrong.substr(wrong.find(' ') + 1),
           [&](const recipe &r) { return wrong_meaning(r, bad); });
  }

  void compiled(std::uint64_t seed, bool opencl, bool special, const std::string &what) {
    taste t;
    t.gpu_types = opencl;
    compiled_check c;
    c.seed = seed, c.opencl = opencl, c.special = special, c.seconds = s_.seconds;
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
    const recipe small = shrunk(r, [&](const recipe &x) { return kind_of(again(x)) == kind; });
    report(what, seed, again(small), small);
  }

  void report(const std::string &what, std::uint64_t seed, const std::string &wrong,
              const recipe &r) {
    ++failures_;
    const bool known = ++seen_[what + " " + kind_of(wrong)] > most_of_a_kind;
    const std::string text = fmt::format("== {} seed {}: {}\n{}\n", what, seed, wrong,
                                         r.results.empty() ? "" : cpp_of(r));
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

  static constexpr int most_of_a_kind = 3;
  settings s_;
  double began_, said_;
  std::map<std::string, std::uint64_t> counts_;
  std::map<std::string, int> seen_;
  int failures_ = 0;
};

}  // namespace

int main(int argc, char **argv) {
  settings s;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const auto next = [&]() -> std::string { return k + 1 < argc ? argv[++k] : "0"; };
    if (word == "--minutes")
      s.minutes = std::strtod(next().c_str(), nullptr);
    else if (word == "--seed")
      s.seed = std::strtoull(next().c_str(), nullptr, 10);
    else if (word == "--programs")
      s.programs = std::strtoull(next().c_str(), nullptr, 10);
    else if (word == "--seconds")
      s.seconds = std::atoi(next().c_str());
    else if (word == "--only")
      s.only = next();
    else if (word == "--out")
      s.out = next();
    else if (word == "--resume")
      s.resume = true;
    else if (word == "--as-drawn")
      s.shrink = false;
    else {
      fmt::print(
          stderr,
          "usage: fuzz [--minutes N] [--seed S] [--resume] [--only rewrites|cpu|opencl|special] "
          "[--programs N] [--seconds N] [--as-drawn] [--out FOLDER]\n");
      return 2;
    }
  }
  return fuzzer(std::move(s)).run();
}
