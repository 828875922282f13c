// SPDX-License-Identifier: BSL-1.0
#pragma once
// The state that the files draw_*.cpp share: dice, the axes of a spec and the steps drawn so far.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/fuzz/language.hpp"
#include "tests/fuzz/recipe.hpp"
#include "tests/fuzz/taste.hpp"

namespace qkv::fuzz {

class dice {  // splitmix64: the same numbers on every machine
 public:
  explicit dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  int below(int n) { return n < 1 ? 0 : static_cast<int>(bits() % static_cast<std::uint64_t>(n)); }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  bool chance(double p) { return uniform() < p; }
  template <class T>
  T one_of(const std::vector<T> &list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }
  template <class T>
  void shuffle(std::vector<T> &list) {
    for (std::size_t k = list.size(); k > 1; --k)
      std::swap(list[k - 1], list[static_cast<std::size_t>(below(static_cast<int>(k)))]);
  }

 private:
  std::uint64_t state_;
};

using values = std::vector<int>;

class drawer {
 public:
  drawer(std::uint64_t seed, const taste &);
  recipe run();

 private:
  // Adds the step's value to the pool. Returns -1 if an operand is -1 or the language refuses the
  // step.
  int put(step);
  int put(op, values in, std::vector<int> over = {}, dtype = f32);
  int put(word, values in, std::vector<int> over = {}, double number = 0);
  int literal(double);
  int whole(long);
  int input(dtype, const std::vector<int> &axes);
  int param(const std::vector<int> &axes);
  int argument(const std::vector<int> &axes);  // an input or a param
  int filled(double number, dtype, const std::vector<int> &axes);
  int named(int v);  // perhaps with a let

  // Properties of values
  const detail::info &of(int v) const { return l_[v].x; }
  bool tensor(int v) const { return v >= 0 && of(v).tensor(); }
  bool number(int v) const { return tensor(v) && detail::is_float(of(v).m.type); }
  std::vector<int> axes(int v) const { return v < 0 ? std::vector<int>{} : l_.axes_of(v); }
  bool has(int v, int axis) const { return v >= 0 && of(v).s.has(l_.axis(axis)); }
  long size(int axis) const { return l_.axis(axis)->size; }
  bool batch(int axis) const { return l_.axis(axis)->batch; }

  // Choices
  int pick(const std::function<bool(int)> &);  // of the pool, preferring later ones; -1: none fits
  int pick_number() {
    return pick([this](int v) { return number(v); });
  }
  std::vector<int> some(std::vector<int> axes, double each);
  int fresh_axis(long size, bool batch = false, int alias = -1, const char *stem = "x");
  long some_size();
  dtype some_type();

  // draw_pointwise.cpp
  int unary();
  int binary();
  int partner(int x);
  int choice();
  int conversion();
  int noise();
  // draw_conditions.cpp
  int condition(const std::vector<int> &axes);
  int one_condition(const std::vector<int> &axes);
  int positions(const std::vector<int> &axes);  // an i32 expression
  int masked();
  // draw_folds.cpp
  int reduction();
  int weights();
  int product();
  int recurrence();
  // draw_views.cpp
  int view();
  int renamed();
  int divided();
  int joined();
  int gathered();
  int sliced();
  // draw_attention.cpp
  int attention();
  int scores(int q, int k, const std::vector<int> &features, int row, int key);
  int adjusted(int scores, int row, int key);
  int made_weights(int scores, int key);
  int another_sum(int pairs, int row, int key);
  int linear_attention();

  int anything();
  void choose_axes();
  void results();
  bool add_result(int v);

  dice d_;
  taste taste_;
  language l_;
  values pool_;
  std::vector<int> batch_, rows_, features_;
  values wanted_;  // candidates for results
  dtype main_type_ = f32;
  bool mixed_ = false, in_scan_ = false;
  int names_ = 0;
};

}  // namespace qkv::fuzz
