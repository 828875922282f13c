// SPDX-License-Identifier: BSL-1.0
#include "tests/fuzz/drawer.hpp"

namespace qkv::fuzz {

drawer::drawer(std::uint64_t seed, const taste &t)
    : d_(seed * 0x2545f4914f6cdd1du + 1), taste_(t), l_("k" + std::to_string(seed)) {
  const double type = d_.uniform();
  if (type < 0.1 && !taste_.no_f64) main_type_ = f64;
  mixed_ = type > 0.75;
  choose_axes();
}

long drawer::some_size() {
  if (taste_.small) return d_.one_of(std::vector<long>{1, 2, 2, 3, 3, 4, 5, 6});
  return d_.one_of(std::vector<long>{1,  2,  3,  4,  4,  5,  6,  7,  8,  8,  9,  12,
                                     13, 15, 16, 16, 17, 20, 24, 31, 32, 33, 40, 64});
}

int drawer::fresh_axis(long size, bool batch, int alias, const char *stem) {
  axis_of a;
  a.name = stem + std::to_string(names_++);
  a.size = size, a.batch = batch, a.alias_of = alias;
  return l_.add_axis(a);
}

void drawer::choose_axes() {
  const auto size = [&](double run_time) { return d_.chance(run_time) ? -1 : some_size(); };
  if (d_.chance(0.7))
    batch_.push_back(fresh_axis(d_.chance(0.7) ? -1 : 1 + d_.below(3), true, -1, "b"));
  if (d_.chance(0.5))
    batch_.push_back(fresh_axis(d_.chance(0.3) ? -1 : 1 + d_.below(4), true, -1, "h"));
  rows_.push_back(fresh_axis(size(0.85), false, -1, "s"));
  if (d_.chance(0.7)) rows_.push_back(fresh_axis(-1, false, rows_[0], "kv"));
  if (d_.chance(0.5)) rows_.push_back(fresh_axis(size(0.8), false, -1, "t"));
  features_.push_back(fresh_axis(size(0.15), false, -1, "d"));
  if (d_.chance(0.7)) features_.push_back(fresh_axis(size(0.15), false, -1, "e"));
  if (d_.chance(0.3)) features_.push_back(fresh_axis(size(0.1), false, -1, "f"));
}

int drawer::put(step s) {
  if (std::find(s.in.begin(), s.in.end(), -1) != s.in.end()) return -1;
  const int v = l_.add(std::move(s));
  if (v >= 0 && of(v).tensor()) pool_.push_back(v);
  return v;
}

int drawer::put(op kind, values in, std::vector<int> over, dtype type) {
  step s;
  s.kind = kind, s.in = std::move(in), s.over = std::move(over), s.type = type;
  return put(std::move(s));
}

int drawer::put(word what, values in, std::vector<int> over, double number) {
  step s;
  s.what = what, s.in = std::move(in), s.over = std::move(over), s.number = number;
  s.type = main_type_;
  return put(std::move(s));
}

int drawer::literal(double x) {
  step s;
  s.number = x;
  return put(std::move(s));
}

int drawer::whole(long x) {
  step s;
  s.number = static_cast<double>(x), s.type = i32;
  return put(std::move(s));
}

dtype drawer::some_type() {
  if (main_type_ == f64) return d_.chance(0.9) ? f64 : f32;
  if (!mixed_) return f32;
  return d_.one_of(std::vector<dtype>{f32, f16, bf16});
}

int drawer::input(dtype type, const std::vector<int> &axes) {
  step s;
  s.kind = op::input, s.type = type, s.over = axes;
  s.name = (type == i32 ? "N" : type == b8 ? "M" : "X") + std::to_string(names_++);
  return put(std::move(s));
}

int drawer::filled(double number, dtype type, const std::vector<int> &axes) {
  step s;
  s.what = word::filled, s.type = type, s.over = axes, s.number = number;
  return put(std::move(s));
}

// A batch axis whose size the call decides needs two params.
int drawer::param(const std::vector<int> &axes) {
  const dtype type = some_type();
  const auto one = [&] {
    step s;
    s.kind = op::param, s.type = type, s.over = axes;
    s.name = "W" + std::to_string(names_++);
    return put(std::move(s));
  };
  if (std::none_of(axes.begin(), axes.end(), [&](int a) { return batch(a) && size(a) < 0; }))
    return one();
  if (d_.chance(0.5)) return input(type, axes);
  const int first = one();
  return put(op::add, {first, one()});
}

int drawer::argument(const std::vector<int> &axes) {
  return d_.chance(0.3) ? param(axes) : input(some_type(), axes);
}

int drawer::named(int v) {
  if (v < 0 || !d_.chance(0.06)) return v;
  step s;
  s.what = word::let, s.in = {v}, s.name = "L" + std::to_string(names_++);
  return put(std::move(s));
}

int drawer::pick(const std::function<bool(int)> &fits) {
  values fitting;
  for (int v : pool_)
    if (fits(v)) fitting.push_back(v);
  if (fitting.empty()) return -1;
  const double u = d_.uniform();
  const auto back = static_cast<std::size_t>(u * u * static_cast<double>(fitting.size()));
  return fitting[fitting.size() - 1 - std::min(back, fitting.size() - 1)];
}

std::vector<int> drawer::some(std::vector<int> axes, double each) {
  std::erase_if(axes, [&](int) { return !d_.chance(each); });
  return axes;
}

int drawer::anything() {
  struct kind {
    double weight;
    int (drawer::*draw)();
  };
  static const std::vector<kind> kinds = {
      {14, &drawer::unary},           {16, &drawer::binary}, {6, &drawer::choice},
      {4, &drawer::conversion},       {3, &drawer::noise},   {7, &drawer::masked},
      {14, &drawer::reduction},       {8, &drawer::weights}, {14, &drawer::product},
      {5, &drawer::recurrence},       {16, &drawer::view},   {5, &drawer::joined},
      {6, &drawer::gathered},         {5, &drawer::sliced},  {5, &drawer::attention},
      {2, &drawer::linear_attention},
  };
  double all = 0;
  for (const kind &k : kinds) all += k.weight;
  double at = d_.uniform() * all;
  for (const kind &k : kinds)
    if ((at -= k.weight) < 0) return named((this->*k.draw)());
  return -1;
}

bool drawer::add_result(int v) {
  if (!tensor(v) || l_[v].state >= 0) return false;
  result r;
  r.name = "O" + std::to_string(l_.written().results.size());
  r.axes = axes(v);
  if (r.axes.size() > 5) return false;
  if (d_.chance(0.3)) d_.shuffle(r.axes);
  r.value = v;
  r.type = of(v).m.type;
  if (detail::is_float(r.type) && r.type != f64)
    r.type = mixed_ ? d_.one_of(std::vector<dtype>{f32, f16, bf16}) : f32;
  if ((r.type == b8 || r.type == i32) && d_.chance(0.2)) r.type = r.type == b8 ? i32 : f32;
  return l_.add(std::move(r));
}

void drawer::results() {
  std::vector<bool> used(static_cast<std::size_t>(l_.size()), false);
  for (const step &s : l_.written().steps)
    for (int v : s.in) used[static_cast<std::size_t>(v)] = true;
  const int most = d_.chance(0.6) ? 1 : d_.chance(0.7) ? 2 : 3;
  int some = 0;
  d_.shuffle(wanted_);
  for (int v : wanted_)
    if (some < most && d_.chance(0.8)) some += add_result(v);
  for (int v = l_.size(); v-- > 0 && some < most;)
    if (!used[static_cast<std::size_t>(v)] && !is_source(l_.written()[v].kind))
      some += add_result(v);
  for (int tries = 0; tries < 20 && some < most; ++tries)
    some += add_result(pick([&](int v) { return !is_source(l_.written()[v].kind); }));
  for (int v = l_.size(); v-- > 0 && some < 1;) some += add_result(v);
}

recipe drawer::run() {
  const int steps = 2 + d_.below(d_.chance(0.3) ? 24 : 9);
  if (d_.chance(0.45)) wanted_.push_back(attention());
  if (pool_.empty()) {
    std::vector<int> axes = some(batch_, 0.7);
    for (int a : some(rows_, 0.5)) axes.push_back(a);
    axes.push_back(d_.one_of(features_));
    input(some_type(), axes);
  }
  for (int done = 0, tries = 0; done < steps && tries < 6 * steps && l_.size() < 90; ++tries)
    done += anything() >= 0;
  results();
  return l_.written();
}

}  // namespace qkv::fuzz
