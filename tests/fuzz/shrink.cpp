// SPDX-License-Identifier: BSL-1.0
#include "tests/fuzz/shrink.hpp"

#include <algorithm>
#include <optional>

#include "tests/fuzz/language.hpp"

namespace qkv::fuzz {
namespace {

bool is_argument(const step &s) {
  return s.what == word::step && (s.kind == op::input || s.kind == op::param);
}

// Removes the steps that are not marked; nothing may refer to them.
void drop_steps(recipe &r, const std::vector<bool> &keep) {
  std::vector<int> now(r.steps.size(), -1);
  std::vector<step> kept;
  for (std::size_t v = 0; v < r.steps.size(); ++v) {
    if (!keep[v]) continue;
    now[v] = static_cast<int>(kept.size());
    kept.push_back(r.steps[v]);
    for (int &i : kept.back().in) i = now[static_cast<std::size_t>(i)];
  }
  r.steps = std::move(kept);
  for (result &o : r.results) o.value = now[static_cast<std::size_t>(o.value)];
}

void drop_axes(recipe &r) {
  std::vector<bool> used(r.axes.size(), false);
  for (const step &s : r.steps)
    for (int a : s.over) used[static_cast<std::size_t>(a)] = true;
  for (const result &o : r.results)
    for (int a : o.axes) used[static_cast<std::size_t>(a)] = true;
  for (std::size_t a = r.axes.size(); a-- > 0;)
    if (used[a] && r.axes[a].alias_of >= 0)
      used[static_cast<std::size_t>(r.axes[a].alias_of)] = true;
  std::vector<int> now(r.axes.size(), -1);
  std::vector<axis_of> kept;
  for (std::size_t a = 0; a < r.axes.size(); ++a) {
    if (!used[a]) continue;
    now[a] = static_cast<int>(kept.size());
    kept.push_back(r.axes[a]);
    int &of = kept.back().alias_of;
    if (of >= 0) of = now[static_cast<std::size_t>(of)];
  }
  r.axes = std::move(kept);
  for (step &s : r.steps)
    for (int &a : s.over) a = now[static_cast<std::size_t>(a)];
  for (result &o : r.results)
    for (int &a : o.axes) a = now[static_cast<std::size_t>(a)];
}

}  // namespace

namespace {

recipe pruned(const recipe &from, bool keep_arguments, bool keep_elements) {
  recipe r = from;
  std::vector<bool> used(r.steps.size(), false);
  for (const result &o : r.results) used[static_cast<std::size_t>(o.value)] = true;
  for (std::size_t v = r.steps.size(); v-- > 0;) {
    const step &s = r.steps[v];
    if (keep_arguments && is_argument(s)) used[v] = true;
    if (keep_elements && s.what == word::step && s.kind == op::element &&
        used[static_cast<std::size_t>(s.in[1])])
      used[v] = true;
    if (!used[v]) continue;
    for (int i : s.in) used[static_cast<std::size_t>(i)] = true;
  }
  drop_steps(r, used);
  drop_axes(r);
  return r;
}

}  // namespace

recipe pruned(const recipe &from, bool keep_arguments) {
  const recipe r = pruned(from, keep_arguments, false);
  return program_of(r) ? r : pruned(from, keep_arguments, true);  // a scan needs an operand
}

namespace {

class shrinker {
 public:
  shrinker(recipe r, const std::function<bool(const recipe &)> &fails)
      : r_(std::move(r)), fails_(fails) {}

  recipe run() {
    attempt(pruned(r_));
    for (bool smaller = true; smaller && tries_ < most_tries;) {
      const int before = shrunk_;
      fewer_results();
      fewer_steps();
      fewer_axes();
      simpler_axes();
      simpler_types();
      smaller = shrunk_ > before;
    }
    return r_;
  }

 private:
  static constexpr int most_tries = 3000;

  // Keeps the recipe if it is accepted and still fails.
  bool attempt(recipe smaller) {
    if (tries_ >= most_tries || !program_of(smaller)) return false;
    ++tries_;
    if (!fails_(smaller)) return false;
    r_ = std::move(smaller);
    ++shrunk_;
    return true;
  }

  void fewer_results() {
    for (std::size_t k = r_.results.size(); k-- > 0 && r_.results.size() > 1;) {
      recipe r = r_;
      r.results.erase(r.results.begin() + static_cast<long>(k));
      attempt(pruned(r, true));
    }
  }

  // Replaces every use of v by w.
  static recipe replaced(recipe r, int v, int w) {
    for (step &s : r.steps)
      for (int &i : s.in)
        if (i == v) i = w;
    for (result &o : r.results)
      if (o.value == v) o.value = w;
    return r;
  }

  // Corrects the declared axes and types of results whose values have changed.
  static void declare(recipe &r) {
    language l(r.name);
    for (const axis_of &a : r.axes) l.add_axis(a);
    for (const step &s : r.steps)
      if (l.add(s) < 0) return;
    for (result &o : r.results) {
      const std::vector<int> axes = l.axes_of(o.value);
      if (axes.size() != o.axes.size() ||
          !std::is_permutation(axes.begin(), axes.end(), o.axes.begin()))
        o.axes = axes;
      const dtype type = l[o.value].x.m.type;
      if (detail::is_float(type) != detail::is_float(o.type) || (type == f64) != (o.type == f64))
        o.type = type;
    }
  }

  void fewer_steps() {
    for (int v = static_cast<int>(r_.steps.size()) - 1; v >= 0; --v) {
      if (v >= static_cast<int>(r_.steps.size())) continue;
      const step s = r_[v];
      for (int i : s.in) {
        recipe r = replaced(r_, v, i);
        declare(r);
        if (attempt(pruned(r, true))) break;
      }
      if (v >= static_cast<int>(r_.steps.size())) continue;
      if (is_argument(r_[v]))
        unused(v);
      else
        as_argument(v);
    }
  }

  void unused(int v) {
    for (const step &s : r_.steps)
      if (std::find(s.in.begin(), s.in.end(), v) != s.in.end()) return;
    for (const result &o : r_.results)
      if (o.value == v) return;
    recipe r = r_;
    std::vector<bool> keep(r.steps.size(), true);
    keep[static_cast<std::size_t>(v)] = false;
    drop_steps(r, keep);
    drop_axes(r);
    attempt(std::move(r));
  }

  // Replaces a step by an input.
  void as_argument(int v) {
    language l(r_.name);
    for (const axis_of &a : r_.axes) l.add_axis(a);
    for (const step &s : r_.steps)
      if (l.add(s) < 0) return;
    if (!l[v].x.tensor() && !l[v].x.index()) return;
    recipe r = r_;
    step in;
    in.kind = op::input;
    in.over = l.axes_of(v);
    in.type = l[v].x.m.type;
    in.name = "Z" + std::to_string(v);
    for (const step &s : r_.steps)
      if (s.name == in.name) in.name += "z";
    r.steps[static_cast<std::size_t>(v)] = in;
    attempt(pruned(r, true));
  }

  void fewer_axes() {
    for (int a = static_cast<int>(r_.axes.size()) - 1; a >= 0; --a) {
      if (a >= static_cast<int>(r_.axes.size())) continue;
      recipe r = r_;
      for (step &s : r.steps)
        if (is_argument(s) || s.what == word::filled || s.kind == op::uniform ||
            s.kind == op::broadcast || s.kind == op::dot || is_reduction(s.kind) ||
            makes_weights(s.kind))
          std::erase(s.over, a);
      for (result &o : r.results) std::erase(o.axes, a);
      declare(r);
      attempt(pruned(r, true));
      // Removes the axis from one argument alone.
      for (std::size_t v = 0; v < r_.steps.size(); ++v) {
        if (!is_argument(r_.steps[v])) continue;
        recipe one = r_;
        if (!std::erase(one.steps[v].over, a)) continue;
        declare(one);
        attempt(pruned(one, true));
      }
    }
  }

  void simpler_axes() {
    for (std::size_t a = 0; a < r_.axes.size(); ++a) {
      for (long size : {1L, 2L, 3L, 4L, 5L, 8L, 16L}) {
        if (r_.axes[a].size <= size || r_.axes[a].alias_of >= 0) continue;
        recipe r = r_;
        r.axes[a].size = size;
        if (attempt(std::move(r))) break;
      }
      if (r_.axes[a].batch && r_.axes[a].alias_of < 0) {
        recipe r = r_;
        r.axes[a].batch = false;
        attempt(std::move(r));
      }
      if (r_.axes[a].alias_of >= 0) {
        recipe r = r_;
        r.axes[a].alias_of = -1;
        attempt(std::move(r));
      }
    }
  }

  void simpler_types() {
    for (std::size_t v = 0; v < r_.steps.size(); ++v) {
      const step &s = r_.steps[v];
      if (!is_argument(s)) continue;
      if (s.type != f32 && s.type != i32 && s.type != b8) {
        recipe r = r_;
        r.steps[v].type = f32;
        declare(r);
        attempt(std::move(r));
      }
      if (r_.steps[v].kind == op::param) {
        recipe r = r_;
        r.steps[v].kind = op::input;
        attempt(std::move(r));
      }
    }
    for (std::size_t k = 0; k < r_.results.size(); ++k) {
      if (r_.results[k].type != f16 && r_.results[k].type != bf16) continue;
      recipe r = r_;
      r.results[k].type = f32;
      attempt(std::move(r));
    }
  }

  recipe r_;
  const std::function<bool(const recipe &)> &fails_;
  int tries_ = 0, shrunk_ = 0;
};

}  // namespace

recipe shrunk(recipe r, const std::function<bool(const recipe &)> &fails) {
  return shrinker(std::move(r), fails).run();
}

}  // namespace qkv::fuzz
