// SPDX-License-Identifier: BSL-1.0
// Trains the model on a text, draws its losses, and lets it write before and after.
//
//   train [--steps N] [--seed N] [--threads N] [--out DIR] [--export DIR] [TEXT]
//
// With --export, the first weights, all batches and the loss before each step are written for
// compare.py. The same seed gives the same weights, to the last bit, for any number of threads.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "curve.hpp"
#include "recorder.hpp"
#include "sample.hpp"
#include "schedule.hpp"
#include "trainer.hpp"

namespace {

using namespace my;

struct arguments {
  int steps = 2000, threads = 1;
  std::uint64_t seed = 1;
  std::string out = ".", recorded, text = SONNETS;
};

arguments parsed(int argc, char **argv) {
  arguments a;
  for (int k = 1; k < argc; ++k) {
    const std::string name = argv[k];
    if (name.rfind("--", 0) != 0) {
      a.text = name;
      continue;
    }
    if (++k == argc) throw std::invalid_argument(name + " needs a value");
    if (name == "--steps")
      a.steps = std::atoi(argv[k]);
    else if (name == "--threads")
      a.threads = std::atoi(argv[k]);
    else if (name == "--seed")
      a.seed = std::strtoull(argv[k], nullptr, 10);
    else if (name == "--out")
      a.out = argv[k];
    else if (name == "--export")
      a.recorded = argv[k];
    else
      throw std::invalid_argument("there is no option " + name);
  }
  if (a.steps < 1) throw std::invalid_argument("--steps needs a number of 1 or more");
  return a;
}

void write_file(const std::string &path, const std::string &all) {
  std::ofstream file(path);
  file << all;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
  std::printf("%s\n", path.c_str());
}

std::string written(const text &words, const trainer &t, std::uint64_t seed) {
  random_numbers random(seed);
  return sample(words, t.current(), random, "\n\n", 500, 0.7);
}

// Trains, prints the losses of some steps, and returns them.
std::vector<losses> train(const arguments &a, const text &words, trainer &t,
                          random_numbers &random) {
  using clock = std::chrono::steady_clock;
  const batch_of_text held_back = words.held_back(row_width);
  std::unique_ptr<recorder> record;
  if (!a.recorded.empty()) record = std::make_unique<recorder>(a.recorded, t.current());
  std::vector<losses> all;
  double seconds = 0;
  for (int step = 0; step <= a.steps; ++step) {
    const batch_of_text batch = words.draw(random, rows, row_width);
    if (step % 100 == 0 || step == a.steps) {
      all.push_back({step, t.loss_of(batch), t.loss_of(held_back)});
      std::printf("step %4d  loss %.3f  held back %.3f", step, all.back().train,
                  all.back().held_back);
      if (step) std::printf("  %.0f tokens/s", step * rows * row_width / seconds);
      std::printf("\n"), std::fflush(stdout);
    }
    if (step == a.steps) break;
    const double rate = rate_of(step, a.steps);
    if (record) record->add(batch, rate, t.loss_of(batch));
    const auto begin = clock::now();
    t.step(batch, rate);
    seconds += std::chrono::duration<double>(clock::now() - begin).count();
  }
  if (record) record->write();
  std::printf("%d steps in %.1f s\n", a.steps, seconds);
  return all;
}

void run(const arguments &a) {
  const text words(a.text);
  random_numbers random(a.seed);
  trainer t(random, a.threads);
  std::printf("%zu characters, %zu different ones; %zu weights\n", words.characters(),
              words.different(), count_of(t.current()));
  std::string report = "before training:\n" + written(words, t, a.seed);
  const std::vector<losses> all = train(a, words, t, random);
  report += "\n\nafter " + std::to_string(a.steps) + " steps:\n" + written(words, t, a.seed) + "\n";
  std::printf("%s", report.c_str());
  std::filesystem::create_directories(a.out);
  write_file(a.out + "/sample.txt", report);
  write_file(a.out + "/loss.svg", loss_curve("A model of characters learns", all));
}

}  // namespace

int main(int argc, char **argv) {
  try {
    run(parsed(argc, argv));
    return 0;
  } catch (const std::invalid_argument &e) {
    std::fprintf(stderr, "train: %s\n", e.what());
    return 2;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "train: %s\n", e.what());
    return 1;
  }
}
