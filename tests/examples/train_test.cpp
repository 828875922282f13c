// SPDX-License-Identifier: BSL-1.0
// The gradient of a whole model trains it: 30 steps of the example, and what must hold for them.
#include <cmath>
#include <cstring>
#include <fstream>

#include "examples/train/schedule.hpp"
#include "examples/train/trainer.hpp"
#include "tests/catch.hpp"

namespace {

const my::text &sonnets() {
  static const my::text all(SONNETS);
  return all;
}

struct run {
  float before, after;
  my::weights last;
};

constexpr std::int64_t few_rows = 8, few_characters = 48;

run of_30_steps(int threads) {
  my::random_numbers random(1);
  my::trainer t(random, threads);
  const my::batch_of_text held_back = sonnets().held_back(few_characters);
  const float before = t.loss_of(held_back);
  for (int step = 0; step < 30; ++step)
    t.step(sonnets().draw(random, few_rows, few_characters), my::rate_of(step, 30));
  return {before, t.loss_of(held_back), t.current()};
}

bool same_bits(const my::weights &a, const my::weights &b) {
  const auto x = my::numbers_of(a), y = my::numbers_of(b);
  for (std::size_t t = 0; t < my::n_tensors; ++t)
    if (std::memcmp(x[t].data(), y[t].data(), x[t].size_bytes()) != 0) return false;
  return true;
}

}  // namespace

TEST_CASE("30 steps lower the loss") {
  const run r = of_30_steps(1);
  INFO("from " << r.before << " to " << r.after);
  CHECK(std::fabs(r.before - std::log(64.f)) < 0.3f);  // nothing is known: all are as likely
  CHECK(r.after < 3.2f);
}

TEST_CASE("training gives the same bits again, and on two threads") {
  const run r = of_30_steps(1);
  CHECK(same_bits(r.last, of_30_steps(1).last));
  CHECK(same_bits(r.last, of_30_steps(2).last));
}

// Kept by compare.py: 200 steps from the same weights with PyTorch, and with autograd in double
// precision.
TEST_CASE("the losses of the first 30 steps are those of other frameworks") {
  constexpr int all_steps = 200;
  std::ifstream torch(LOSSES ".torch.txt"), autograd(LOSSES ".autograd.txt");
  my::random_numbers random(1);
  my::trainer t(random);
  for (int step = 0; step < 30; ++step) {
    const my::batch_of_text batch = sonnets().draw(random, my::rows, my::row_width);
    float of_torch = 0, of_autograd = 0;
    REQUIRE(torch >> of_torch);
    REQUIRE(autograd >> of_autograd);
    INFO("step " << step);
    const float loss = t.loss_of(batch);
    CHECK(std::fabs(loss - of_torch) < 1e-3f);
    CHECK(std::fabs(loss - of_autograd) < 1e-3f);
    t.step(batch, my::rate_of(step, all_steps));
  }
}

// The slope along the gradient, each element of it times a random number: for each tensor alone.
TEST_CASE("the gradient agrees with differences of the loss") {
  my::random_numbers random(2);
  my::trainer t(random);
  const auto draw = [&] { return sonnets().draw(random, few_rows, few_characters); };
  for (int step = 0; step < 5; ++step) t.step(draw(), 3e-3);
  const my::batch_of_text batch = draw();
  const my::weights gradient = t.gradient_of(batch);
  for (std::size_t k = 0; k < my::n_tensors; ++k) {
    const auto slopes = my::numbers_of(gradient)[k];
    std::vector<float> direction;
    double squares = 0, expected = 0;
    for (const float g : slopes) {
      direction.push_back(g * 2 * random.uniform());
      squares += static_cast<double>(direction.back()) * direction.back();
    }
    const double length = 0.05 / std::sqrt(squares);
    my::weights up = t.current(), down = t.current();
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      const auto change = static_cast<float>(length * direction[i]);
      my::numbers_of(up)[k][i] += change, my::numbers_of(down)[k][i] -= change;
      expected += 2 * static_cast<double>(change) * slopes[i];
    }
    const double found =
        static_cast<double>(t.loss_of(batch, up)) - static_cast<double>(t.loss_of(batch, down));
    INFO(my::weight_names[k] << ": " << found << ", expected " << expected);
    CHECK(expected > 0);
    CHECK(std::fabs(found - expected) < 0.02 * expected + 2e-6);
  }
}
