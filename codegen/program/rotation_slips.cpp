// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/rotation_slips.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "codegen/program/queries.hpp"
#include "codegen/program/roots.hpp"
#include "codegen/program/score_keys.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class rotation_finder : slip_finder {
 public:
  explicit rotation_finder(const program &p) : slip_finder(p), positions_(steps_of_positions(p)) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (is(op::split, n)) split_after(n);
      if (is(op::dot, n)) unlike(n), grows_alike(n);
      if (is(op::add, n) || is(op::sub, n)) turned_once(n);
    }
    return std::move(slips_);
  }

 private:
  // dot<d_k>(turned(Q, cos(a) * pow(zeta, index(seq)), ..), turned(K, ..)); where powers multiply
  // queries and keys themselves, position_formulas.cpp has the formula.
  void grows_alike(node_id n) {
    if (keys_of_scores(p_, users_, n).empty()) return;
    for (const node_id of_queries : powers_of(p_[n].in[0]))
      for (const node_id of_keys : powers_of(p_[n].in[1]))
        if (of_queries != of_keys && are_alike(of_queries, of_keys) &&
            !(is_factor(of_queries, p_[n].in[0]) && is_factor(of_keys, p_[n].in[1])))
          return say(n,
                     "{} multiplies one side and {} the other: the product is one of the sum of "
                     "their positions; did you mean the inverse for keys?",
                     written_as(p_, of_queries), written_as(p_, of_keys));
  }
  bool is_factor(node_id power, node_id of) const {
    of = inner_of(p_, of);
    return is(op::mul, of) &&
           (inner_of(p_, p_[of].in[0]) == power || inner_of(p_, p_[of].in[1]) == power);
  }
  // Powers with a position as exponent that a step is multiplied by.
  std::set<node_id> powers_of(node_id n) const {
    std::set<node_id> below, powers;
    const auto look = [&](node_id m) {
      const op kind = p_[m].kind;
      const bool is_power = kind == op::pow || kind == op::exp;
      if (is_power && positions_[m] && affine_of_position(p_[m].in.back())) powers.insert(m);
      return p_[m].name.empty() && !is_power && kind != op::cos && kind != op::sin &&
             kind != op::div && (is_pointwise(kind) || is_view(kind) || is_gather(kind));
    };
    walk(p_, n, look, below);
    return powers;
  }
  // A position times numbers.
  bool affine_of_position(node_id n) const {
    n = unscaled(p_, n);
    if (is(op::cast, n)) n = inner_of(p_, p_[n].in[0]);
    return p_[n].kind == op::index;
  }
  // The same steps, of the same numbers and positions along any axis.
  bool are_alike(node_id a, node_id b) const {
    a = unconverted(p_, a), b = unconverted(p_, b);
    const node &x = p_[a], &y = p_[b];
    if (a == b || (x.kind == op::index && y.kind == op::index)) return true;
    return x.kind == y.kind && !is_argument(x) && x.value == y.value && !x.in.empty() &&
           x.in.size() == y.in.size() &&
           std::equal(x.in.begin(), x.in.end(), y.in.begin(),
                      [&](node_id i, node_id j) { return are_alike(i, j); });
  }

  // The cosines of positions that a step is multiplied by, through pointwise steps and views.
  std::set<node_id> cosines_of(node_id n) const {
    std::set<node_id> below, cosines;
    walk(
        p_, n,
        [&](node_id m) {
          const op kind = p_[m].kind;
          if (kind == op::cos && positions_[m]) cosines.insert(m);
          return p_[m].name.empty() && kind != op::cos &&
                 (is_pointwise(kind) || is_view(kind) || is_gather(kind));
        },
        below);
    return cosines;
  }

  // True if cosines multiply something, unlike those of sinusoidal embeddings.
  bool is_multiplied(node_id n) const {
    const std::set<node_id> cosines = cosines_of(n);
    return std::any_of(cosines.begin(), cosines.end(), [&](node_id cosine) {
      return std::any_of(users_[cosine].begin(), users_[cosine].end(),
                         [&](node_id user) { return is_product(user); });
    });
  }
  bool is_product(node_id n) const {
    if (is_view(p_[n].kind) || p_[n].kind == op::cast)
      return std::any_of(users_[n].begin(), users_[n].end(),
                         [&](node_id user) { return is_product(user); });
    return p_[n].kind == op::mul;
  }

  // split<d_model, heads, d_k>(rope<d_model, two, half>(X, cos(angle), sin(angle)))
  void split_after(node_id n) {
    const axis_id whole = p_[n].over[0];
    const node_id joined = inner_of(p_, p_[n].in[0]);
    const bool is_joined = is(op::merge, joined) || is(op::concat, joined);
    if (!is_joined || p_[joined].over[0] != whole) return;
    if (!is_multiplied(joined)) return;
    for (const node_id cosine : cosines_of(joined)) {
      bool is_of_part = false;  // features that are rotated are a part of the whole
      for (const axis_id a : p_[joined].over)
        is_of_part = is_of_part || (a != whole && has(p_[cosine].shape, a));
      if (!is_of_part) continue;
      return say(
          n,
          "features of {0} are rotated before they are split, each part by other angles; did you "
          "mean to rotate {1} after the split?",
          p_.axes[whole].name, p_.axes[p_[n].over.back()].name);
    }
  }

  // x cos(t) + y sin(t) and y cos(t) + x sin(t), or both with a minus
  struct half_turn {
    node_id of_cosine, of_sine, angle;
  };
  void turned_once(node_id n) {
    const std::optional<half_turn> a = half_turn_of(n);
    if (!a || is_said_) return;
    for (node_id m = 0; m < n; ++m) {
      if (!is(p_[n].kind, m)) continue;
      const std::optional<half_turn> b = half_turn_of(m);
      if (!b || a->angle != b->angle || a->of_cosine == a->of_sine) continue;
      if (a->of_cosine != b->of_sine || a->of_sine != b->of_cosine) continue;
      is_said_ = true;  // of queries; keys mostly have the same slip
      return say(
          n,
          "has the same sign as {}, which is not a rotation; did you mean a minus in the first "
          "half and a plus in the second?",
          written_as(p_, m));
    }
  }
  std::optional<half_turn> half_turn_of(node_id n) const {
    node_id parts[2] = {-1, -1}, angles[2] = {-1, -1};
    for (const node_id operand : p_[n].in) {
      const node_id product = inner_of(p_, operand);
      if (!is(op::mul, product)) return {};
      for (const std::size_t k : {0, 1}) {
        const node_id by = inner_of(p_, p_[product].in[k]);
        const bool is_cosine = is(op::cos, by) || is_named(by, "cos"),
                   is_sine = is(op::sin, by) || is_named(by, "sin");
        if (!is_cosine && !is_sine) continue;
        parts[is_sine] = inner_of(p_, p_[product].in[1 - k]);
        angles[is_sine] = is_argument(p_[by]) ? 0 : inner_of(p_, p_[by].in[0]);
      }
    }
    if (parts[0] < 0 || parts[1] < 0 || angles[0] != angles[1]) return {};
    return half_turn{parts[0], parts[1], angles[0]};
  }

  // An argument that holds the cosines of all positions
  bool is_named(node_id n, const char *word) const {
    return is_argument(p_[n]) && p_[n].name.find(word) != std::string::npos;
  }

  // How a side of scores is rotated: pairs of features, and the factor of its positions.
  struct rotation {
    std::int64_t pairs;
    double scale;
    auto operator<=>(const rotation &) const = default;
  };
  std::set<rotation> rotations_of(node_id side) const {
    std::set<rotation> all;
    for (const node_id cosine : cosines_of(side)) {
      std::int64_t pairs = 1;
      const std::set<axis_id> positions = position_axes(cosine);
      for (const axis_id a : p_[cosine].shape)
        if (static_size(p_, a) > 0 && !p_.axes[a].batch && positions.count(a) == 0)
          pairs *= static_size(p_, a);
      all.insert({pairs, scale_of(p_[cosine].in[0])});
    }
    return all;
  }
  // False for rotations along axes of unlike sizes, as video and sound are.
  bool have_one_clock(node_id left, node_id right) const {
    std::set<axis_id> roots[2];
    for (const std::size_t k : {0, 1})
      for (const node_id cosine : cosines_of(k == 0 ? left : right)) {
        for (const axis_id a : position_axes(cosine)) roots[k].insert(root(a));
        for (const axis_id a : p_[cosine].shape)
          if (p_.axes[root(a)].size < 0 && !p_.axes[a].batch) roots[k].insert(root(a));
      }
    return roots[0] == roots[1];
  }
  // The axes whose positions an angle counts, other than those of its frequencies.
  std::set<axis_id> position_axes(node_id cosine) const {
    std::set<axis_id> axes;
    std::set<node_id> below;
    walk(
        p_, p_[cosine].in[0],
        [&](node_id m) {
          if (p_[m].kind == op::index) axes.insert(p_[m].over[0]);
          return p_[m].kind != op::pow && p_[m].kind != op::exp && p_[m].kind != op::take;
        },
        below);
    return axes;
  }
  // The product of the numbers in an angle: 0.25 of index(seq) * frequency / 4.
  double scale_of(node_id n) const {
    n = inner_of(p_, n);
    const node &x = p_[n];
    if (const auto number = known_number(p_, n)) return std::abs(*number);
    if (!x.name.empty()) return 1;
    if (x.kind == op::neg) return scale_of(x.in[0]);
    if (x.kind == op::mul) return scale_of(x.in[0]) * scale_of(x.in[1]);
    if (x.kind == op::div) return scale_of(x.in[0]) / scale_of(x.in[1]);
    return 1;
  }

  // The inputs that positions of an angle come from: rows of an image, say.
  std::set<std::set<std::string>> counts_of(node_id side) const {
    std::set<std::set<std::string>> all;
    for (const node_id cosine : cosines_of(side)) {
      std::set<std::string> names;
      const auto look = [&](node_id m) {
        if (p_[m].kind == op::input) names.insert(p_[m].name);
        return p_[m].kind != op::pow && p_[m].kind != op::exp && p_[m].kind != op::index;
      };
      std::set<node_id> below;
      walk(p_, p_[cosine].in[0], look, below);
      if (!names.empty()) all.insert(std::move(names));
    }
    return all;
  }
  // Queries are turned by rows and columns, but keys by rows in both halves.
  bool counted_once(node_id n) {
    const auto left = counts_of(p_[n].in[0]), right = counts_of(p_[n].in[1]);
    const bool is_left_more = left.size() > right.size();
    const auto &more = is_left_more ? left : right, &fewer = is_left_more ? right : left;
    if (more.size() == fewer.size() || fewer.empty() ||
        !std::includes(more.begin(), more.end(), fewer.begin(), fewer.end()))
      return false;
    for (const auto &names : more)
      if (fewer.count(names) == 0) {
        say(n,
            "one side is turned by angles of {}, too, the other by those of {} alone; did you mean "
            "both in both?",
            *names.begin(), *fewer.begin()->begin());
        return true;
      }
    return false;
  }

  // W of dot<d_k>(x, W); -1: none
  node_id matrix_of(node_id side) const {
    const node_id n = inner_of(p_, side);
    if (is(op::dot, n))
      for (const node_id operand : p_[n].in)
        if (p_[inner_of(p_, operand)].kind == op::param) return inner_of(p_, operand);
    return -1;
  }

  // dot<d_k>(rope<d_k, two, half>(Q, ..), W), which meets keys in another space
  void before_matrix(node_id side) {
    const node_id n = inner_of(p_, side);
    if (!is(op::dot, n)) return;
    for (const std::size_t k : {0, 1}) {
      if (p_[inner_of(p_, p_[n].in[k])].kind != op::param) continue;
      const node_id rotated = inner_of(p_, p_[n].in[1 - k]);
      const bool is_joined = is(op::merge, rotated) || is(op::concat, rotated);
      if (!is_joined || !has(p_[n].over, p_[rotated].over[0]) || !is_multiplied(rotated)) continue;
      say(n,
          "{0} is rotated and then multiplied by {1}, so that scores do not depend on distances "
          "alone; did you mean to rotate the product?",
          written_as(p_, rotated), written_as(p_, p_[n].in[k]));
    }
  }

  // dot<d_k>(rope<..>(Q, cos(index(seq) * f / 4), ..), rope<..>(K, cos(index(kv) * f), ..))
  void unlike(node_id n) {
    if (keys_of_scores(p_, users_, n).empty()) return;
    // one matrix after both rotations, as a Hadamard one, keeps the scores
    const node_id matrix = matrix_of(p_[n].in[0]);
    if (matrix < 0 || matrix != matrix_of(p_[n].in[1]))
      for (const node_id operand : p_[n].in) before_matrix(operand);
    if (counted_once(n)) return;
    const std::set<rotation> left = rotations_of(p_[n].in[0]), right = rotations_of(p_[n].in[1]);
    if (left.size() != 1 || right.size() != 1) return;
    const rotation a = *left.begin(), b = *right.begin();
    if (a.pairs != b.pairs)
      return say(
          n, "{0} is rotated in {1} pairs of features, but {2} in {3}; did you mean equal numbers?",
          written_as(p_, p_[n].in[0]), a.pairs, written_as(p_, p_[n].in[1]), b.pairs);
    if (!nearly(a.scale, b.scale) && have_one_clock(p_[n].in[0], p_[n].in[1]))
      say(n,
          "the angles of {0} are multiplied by {1:g}, but those of {2} by {3:g}; did you mean one "
          "scale of positions?",
          written_as(p_, p_[n].in[0]), a.scale, written_as(p_, p_[n].in[1]), b.scale);
  }

  const std::vector<bool> positions_;
  bool is_said_ = false;
};

}  // namespace

std::vector<slip> rotation_slips(const program &p) { return rotation_finder(p).run(); }

}  // namespace qkv::codegen
