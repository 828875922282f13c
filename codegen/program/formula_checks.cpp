// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/formula_checks.hpp"

#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>

#include "codegen/program/position_sets.hpp"
#include "codegen/program/projections.hpp"
#include "codegen/program/roots.hpp"
#include "codegen/program/score_keys.hpp"
#include "codegen/program/score_masks.hpp"
#include "codegen/program/signs.hpp"

namespace qkv::codegen::checks {

namespace {

// -a, a * -2, 1 / (-2 * a): written with a minus.
bool has_minus(const program &p, node_id n) {
  n = unbroadcast(p, inner_of(p, n));
  const node &x = p[n];
  if (x.kind == op::number) return x.value < 0;
  if (!x.name.empty()) return false;
  if (x.kind == op::neg) return !has_minus(p, x.in[0]);
  if (x.kind == op::mul || x.kind == op::div) return has_minus(p, x.in[0]) != has_minus(p, x.in[1]);
  return false;
}

}  // namespace

bool is_rest_of(const place &x, const char *rest, const char *of) {
  const node_id n = inner_of(x.p, x[rest]);
  return is_unnamed(x.p, op::sub, n) && is_number(x.p, x.p[n].in[0]) &&
         x.p[x.p[n].in[0]].value == 1 && inner_of(x.p, x.p[n].in[1]) == inner_of(x.p, x[of]);
}

bool is_negated_later(const place &x) {
  bool found = false;
  walk_users(x.users, x.at, [&](node_id user, node_id step) {
    const node &u = x.p[user];
    const bool is_right = u.in.size() > 1 && u.in[1] == step;
    found = found || u.kind == op::neg || (u.kind == op::sub && is_right);
    const bool is_product = u.kind == op::mul || u.kind == op::div;
    for (const node_id other : u.in)
      found = found || (is_product && other != step && has_minus(x.p, other));
    return u.name.empty() && (is_pointwise(u.kind) || is_reduction(u.kind) || is_view(u.kind));
  });
  return found;
}

bool is_slip(const place &) { return true; }

bool has_two_axes(const place &x) { return x.root("a") != x.root("v"); }

bool is_small(const place &x) { return x.number("e") > 0 && x.number("e") <= 1e-3; }

bool is_small_and_kept(const place &x) {
  return is_small(x) && !x.is_used(x.at, [&](node_id user) {
    const op kind = x.p[user].kind;
    return kind == op::log || kind == op::sqrt || kind == op::rsqrt || kind == op::div ||
           kind == op::pow || kind == op::max || kind == op::min;
  });
}

bool is_most_of_one(const place &x) {
  const double a = x.number("a");
  return a > 0.75 && a < 1 && !nearly(a * a, 0.5) && !nearly(a * a, 0.75);
}

static bool names_loss(const std::string &name) { return has_word(name, {"loss", "nll"}); }

bool is_of_loss(const place &x) {
  bool found = false;
  walk_users(x.users, x.at, [&](node_id user, node_id) {
    const node &u = x.p[user];
    found = found || (u.kind == op::output && names_loss(u.name));
    return u.name.empty() &&
           (u.kind == op::neg || u.kind == op::add || u.kind == op::mul || u.kind == op::div ||
            u.kind == op::mean || u.kind == op::sum || is_view(u.kind));
  });
  return found;
}

bool is_of_falling_power(const place &x) {
  return x.number("b") > 1 && signs_of(x.p)[x["y"]] == sign::not_positive &&
         steps_of_positions(x.p)[x["y"]];
}

bool are_shares(const place &x) {
  return nearly(std::abs(x.number("a")) + std::abs(x.number("b")), 1);
}

bool is_inside_other(const place &x) { return x["r"] != x["z"] && x.reads(x["c"], x["r"]); }

bool is_result(const place &x) {
  return x.is_used(x.at, [&](node_id user) { return x.p[user].kind == op::output; });
}

bool is_carried_and_added(const place &x) {
  if (x.p[x["s"]].kind != op::carried) return false;
  bool is_outer = false, is_added = false;
  walk_users(x.users, x.at, [&](node_id user, node_id) {
    const node &u = x.p[user];
    const auto is = [&](node_id m, const char *v) { return of_all_positions(x.p, m) == x[v]; };
    const bool is_product = u.kind == op::mul || u.kind == op::dot;
    for (const node_id m : u.in)
      is_outer = is_outer || (is_product && (is(m, "k") || is(unscaled(x.p, m), "k")));
    if (u.kind == op::add)
      for (const node_id m : u.in) {
        is_added = is_added || is(m, "s");
        if (is_unnamed(x.p, op::mul, m))  // the state that a gate decays
          for (const node_id factor : x.p[m].in) is_added = is_added || is(factor, "s");
      }
    return u.kind == op::mul || u.kind == op::broadcast || u.kind == op::cast ||
           u.kind == op::rename;
  });
  return is_outer && is_added;
}

bool is_written_elsewhere(const place &x) {
  if (x.p[x["s"]].kind != op::carried) return false;
  bool is_own = false, is_other = false, is_added = false;
  walk_users(x.users, x.at, [&](node_id user, node_id step) {
    const node &u = x.p[user];
    const bool is_product = u.kind == op::mul || u.kind == op::dot;
    for (const node_id m : u.in) {
      if (u.kind == op::add) is_added = is_added || inner_of(x.p, m) == x["s"];
      if (!is_product || m == step) continue;
      const node_id key = of_all_positions(x.p, m);
      is_own = is_own || key == x["k"];
      is_other = is_other || has(x.p[key].shape, x.axes("a")[0]);
    }
    return u.kind == op::mul || u.kind == op::broadcast || u.kind == op::cast ||
           u.kind == op::rename;
  });
  return is_added && is_other && !is_own;
}

bool is_indicator(const place &x) {
  const auto is_bit = [](double v) { return v == 0 || v == 1; };
  return is_bit(x.number("a")) && is_bit(x.number("b"));
}
bool is_of_truth(const place &x) { return x.p[x.p[x["c"]].in[0]].type == b8; }

bool is_at_least_20(const place &x) { return x.number("n") >= 3; }

bool is_not_stride(const place &x) {
  const std::int64_t size = x.p.axes[x.root("a")].size;
  const node &page = x.p[x["page"]];
  const bool is_data = page.type == i32 && (page.kind == op::input || page.kind == op::take);
  return is_data && size > 1 && x.number("n") > 1 && static_cast<double>(size) != x.number("n");
}

bool is_growing_slope(const place &x) {
  const double by = x.number("n") * std::log2(x.number("b"));
  if (x.is_used(x.at, [&](node_id user) { return x.p[user].kind == op::div; })) return false;
  return x.root("h") == x.root("g") && x.p.axes[x.root("h")].batch && by >= 2;
}

// The sign of a step that grows or falls with one position alone; 0: another step.
static int direction_of(const program &p, node_id n) {
  n = inner_of(p, n);
  const node &x = p[n];
  if (x.type == i32) {
    const affine at = affine_of(p, n);
    int positions = 0, sign = 0;
    for (const auto &[t, factor] : at.form)
      if (t.what == term::position) ++positions, sign = factor < 0 ? -1 : 1;
    return positions == 1 ? sign : 0;
  }
  if (!x.name.empty()) return 0;
  if (x.kind == op::neg) return -direction_of(p, x.in[0]);
  if (x.kind != op::mul && x.kind != op::div) return 0;
  for (const std::size_t k : {0, 1}) {
    const auto by = known_number(p, x.in[1 - k]);
    if (by && (x.kind == op::mul || k == 0))
      return *by < 0 ? -direction_of(p, x.in[k]) : direction_of(p, x.in[k]);
  }
  return 0;
}

bool decay_alike(const place &x) {
  const int a = direction_of(x.p, x["x"]), b = direction_of(x.p, x["y"]);
  return a != 0 && a == b && are_scores(x);
}

bool are_scores(const place &x) {
  return !keys_of_scores(x.p, x.users, x.at).empty() && !is_negated_later(x);
}

bool adds_square_in_exponent(const place &x) {
  const scaled_step square = without_scale(x.p, x["b"]);
  const node_id product = unscaled(x.p, x["a"]), sum = unscaled(x.p, square.of);
  if (!is_unnamed(x.p, op::dot, product) || !is_unnamed(x.p, op::sum, sum) || square.by <= 0)
    return false;
  const node_id squares = inner_of(x.p, x.p[sum].in[0]);
  if (!is_unnamed(x.p, op::mul, squares)) return false;
  const node_id of = inner_of(x.p, x.p[squares].in[0]);
  if (of != inner_of(x.p, x.p[squares].in[1])) return false;
  bool is_of_param = false, is_of_same = false, is_exponent = false;
  for (const node_id operand : x.p[product].in) {
    const node_id m = unscaled(x.p, operand);
    is_of_param = is_of_param || x.p[m].kind == op::param;
    is_of_same = is_of_same || m == unscaled(x.p, of);
  }
  walk_users(x.users, x.at, [&](node_id user, node_id) {
    is_exponent = is_exponent || x.p[user].kind == op::exp;
    return x.p[user].kind == op::sub && x.p[user].name.empty();
  });
  return is_of_param && is_of_same && is_exponent;
}

bool are_projections_of_one(const place &x) {
  const node_id of = projected(x.p, without_bias(x.p, x["a"]));
  return of >= 0 && of == projected(x.p, without_bias(x.p, x["y"]));
}

bool is_cap_upside_down(const place &x) {
  bool are_small_scores = false;  // value_slips reports those
  walk_users(x.users, x.at, [&](node_id user, node_id) {
    const op kind = x.p[user].kind;
    are_small_scores = are_small_scores || (kind == op::softmax && x.p[x.at].kind == op::div);
    return kind == op::mask || kind == op::broadcast;
  });
  if (are_small_scores) return false;
  return x.number("n") > 1 && x.number("n") != 2 && x.p[x["x"]].kind != op::number;
}

bool is_unlike_gelu(const place &x) {
  const scaled_step u = without_scale(x.p, x["u"]);
  return u.of == x["h"] && !nearly(u.by, std::sqrt(0.5));
}

bool is_residual_dropped(const place &x) {
  for (const auto &[of, layer] : {std::pair("x", "y"), {"y", "x"}}) {
    const node_id product = without_bias(x.p, unscaled(x.p, x[layer]));
    if (x.p[x[of]].kind == op::input && x.reads(product, x[of]) && x.p[product].kind == op::dot)
      return true;
  }
  return false;
}

bool is_by_number_of_keys(const place &x) {
  const std::vector<axis_id> keys = keys_of_scores(x.p, x.users, x.at);
  return std::any_of(keys.begin(), keys.end(), [&](axis_id key) {
    return x.p.axes[key].root == x.root("a") && x.root("d") != x.root("a");
  });
}

bool is_scaled_alone(const place &x) {
  const std::vector<axis_id> keys = keys_of_scores(x.p, x.users, x.at);
  const node &product = x.p[x["s"]];
  const auto is_param = [&](node_id m) { return x.p[inner_of(x.p, m)].kind == op::param; };
  if (keys.size() != 1 || std::any_of(product.in.begin(), product.in.end(), is_param)) return false;
  if (!product.name.empty() || product.over == x.axes("d")) return false;
  for (const node_id m : product.in) {  // scaled, or of unit length, before the product
    const node_id operand = inner_of(x.p, m);
    const op kind = x.p[operand].kind;
    if (kind == op::mul || kind == op::div || kind == op::softmax) return false;
  }
  if (x.found.numbers.count("r") != 0) {
    const double r = std::abs(x.number("r"));
    const axis_id d = x.axes("d")[0];
    if (!is_root_of(x.p, r, d) && !is_root_of(x.p, 1 / r, d)) return false;
  }
  return has(product.shape, keys[0]) && same_set(product.shape, x.p[x.at].shape);
}

bool is_never_divided(const place &x) {
  bool is_divided = false;
  walk_users(x.users, x.at, [&](node_id user, node_id) {
    is_divided = is_divided || x.p[user].kind == op::div;
    return !is_divided && (is_pointwise(x.p[user].kind) || is_view(x.p[user].kind));
  });
  return !is_divided;
}

bool is_of_two_positions(const place &x) {
  const std::vector<bool> positions = steps_of_positions(x.p);
  const std::vector<axis_id> &a = x.p[x["a"]].shape, &b = x.p[x["b"]].shape;
  // of one sequence, not of two directions
  const auto is_along = [&](const std::vector<axis_id> &other) {
    return std::any_of(a.begin(), a.end(), [&](axis_id one) {
      return std::any_of(other.begin(), other.end(), [&](axis_id two) {
        return one != two && x.p.axes[one].root == x.p.axes[two].root;
      });
    });
  };
  return positions[x["a"]] && positions[x["b"]] && !a.empty() && !b.empty() && !contains(a, b) &&
         !contains(b, a) && is_along(b);
}

bool is_softened_alone(const place &x) {
  const auto is_divided = [&](const char *v) { return x.p[x[v]].kind == op::div; };
  return is_divided("t") && !is_divided("s") && x.p[x.p[x["t"]].in[1]].shape.empty();
}

bool is_power_beyond_one(const place &x) {
  return x.number("b") > 1 && signs_of(x.p)[x["y"]] == sign::not_negative &&
         steps_of_positions(x.p)[x["y"]];
}

bool is_routed_elsewhere(const place &x) {
  const std::vector<axis_id> &to = x.axes("e"), &over = x.axes("a");
  const node_id scores = unscaled(x.p, unmasked(x.p, x["s"]));
  if (x.root("e") == x.root("a") || contains(to, over) || !contains(x.p[x["y"]].shape, over))
    return false;
  const auto is_router = [&](node_id m) {
    const node &w = x.p[inner_of(x.p, m)];
    return w.kind == op::param && contains(w.shape, to) && !varies_along(w, over);
  };
  return is_unnamed(x.p, op::dot, scores) &&
         std::any_of(x.p[scores].in.begin(), x.p[scores].in.end(), is_router);
}

bool is_steep_slope(const place &x) {
  const axis_id heads = x.root("h");
  const double size = static_cast<double>(x.p.axes[heads].size);
  return x.p.axes[heads].batch && size >= 4 &&
         std::abs(x.number("n") * std::log2(x.number("b"))) >= 2 &&
         std::abs(x.number("n") * std::log2(x.number("b"))) * size >= 30;
}

bool is_half_missing(const place &x) {
  const std::int64_t whole = x.p.axes[x.root("d")].size, half = x.p.axes[x.root("h")].size;
  return half > 1 && whole == 2 * half;
}

bool is_not_divided(const place &x) {
  if (!(x.number("p") > 0 && x.number("p") < 1)) return false;
  if (!is_floating(x.p[x.at].type)) return false;
  const auto is_scaled = [&](node_id n) { return without_scale(x.p, n).by != 1; };
  // whole tokens of an input: a corrupted input, a condition that is left out
  const node &of = x.p[x["x"]];
  const auto draws_less = [&](node_id m) {
    return x.p[m].kind == op::uniform && !of.shape.empty() && !has(x.p[m].shape, of.shape.back());
  };
  if (of.kind == op::input && depends_on(x.p, x.at, draws_less)) return false;
  bool found = is_scaled(x["x"]);
  walk_users(x.users, x.at, [&](node_id user, node_id) {
    const node &u = x.p[user];
    const bool is_product = u.kind == op::mul || u.kind == op::div;
    for (const node_id m : u.in)
      found = found || (is_product && is_number(x.p, unbroadcast(x.p, m)));
    return u.name.empty() && (is_product || is_view(u.kind) || u.kind == op::cast);
  });
  return !found && x.p[x["x"]].kind != op::number;
}

bool has_weights_beside(const place &x) {
  const node &scores = x.p[x["s"]];
  if (!scores.name.empty() && !is_argument(scores)) return false;
  bool found = false;
  for (node_id n = 0; n < static_cast<node_id>(x.p.nodes.size()); ++n) {
    if (!is_unnamed(x.p, op::softmax, n) || x.p[n].over != x.axes("a")) continue;
    if (inner_of(x.p, x.p[n].in[0]) != x["s"]) continue;
    found = true;
    if (x.is_used(n, [&](node_id user) {
          return x.p[user].kind == op::dot && has(x.p[user].over, x.axes("a")[0]);
        }))
      return false;
  }
  return found;
}

bool is_length(const place &x) {
  const node &by = x.p[x["n"]];
  if (by.kind != op::input || by.type != i32 || !has_word(by.name, {"len"}) ||
      has_word(by.name, {"target", "ref", "text", "label"}))
    return false;
  const axis_id a = x.axes("a")[0];
  return x.p.axes[x.root("a")].size < 0 && !has(by.shape, a) &&
         !depends_on(
             x.p, x["x"],
             [&](node_id m) {
               const op kind = x.p[m].kind;
               const bool is_named = !x.p[m].name.empty() && !is_argument(x.p[m]);
               const bool keeps =
                   x.p[m].kind == op::input && has_word(x.p[m].name, {"keep", "mask"});
               return is_named || keeps || kind == op::mask || kind == op::where ||
                      kind == op::softmax || kind == op::uniform || x.p[m].type == b8;
             });
}

bool are_halves_exchanged(const place &x) {
  const std::vector<axis_id> &over = x.axes("d");
  if (x.p.axes[over[1]].size != x.p.axes[over.back()].size) return false;
  const auto may_be = [&](const char *variable, op kind) {
    const node &of = x.p[x[variable]];
    return of.kind == kind || (is_argument(of) && of.name.find("sign") == std::string::npos);
  };
  if (!may_be("c", op::cos) || !may_be("s", op::sin)) return false;
  return x.number("n") == static_cast<double>(x.p.axes[over[1]].size) &&
         x.p.axes[over[0]].size == 2 * x.p.axes[over[1]].size;
}

bool is_of_another(const place &x) {
  const node_id a = x["x"], b = x["y"];
  const axis_id along = x.axes("a")[0];
  if (a == b || x.p[a].kind == op::param || !has(x.p[a].shape, along)) return false;
  if (x.p[a].kind == op::input && x.p[b].kind == op::input) return false;
  if (x.reads(a, b) || x.reads(b, a)) return false;
  bool found = false;
  walk_users(x.users, x.at, [&](node_id user, node_id) {
    for (const node_id m : x.p[user].in)
      found = found || (x.p[user].kind == op::mul && inner_of(x.p, m) == b);
    return x.p[user].kind == op::mul || is_view(x.p[user].kind);
  });
  return !found;
}

bool is_share_kept(const place &x) {
  return nearly(x.number("n"), 1 - x.number("p")) && nearly(x.number("s") * x.number("n"), 1);
}

bool are_whole(const place &x) {
  const std::vector<node_id> masks = masks_of_weights(x.p, x["w"]);
  return std::none_of(masks.begin(), masks.end(), [&](node_id condition) {
    return depends_on(x.p, condition, [&](node_id m) { return is_argument(x.p[m]); });
  });
}

bool is_of_itself(const place &x) {
  const node_id s = unscaled(x.p, x["s"]);
  if (x.p[x["t"]].kind == op::index) return false;  // rows that are to differ
  return is_unnamed(x.p, op::dot, s) && inner_of(x.p, x.p[s].in[0]) == inner_of(x.p, x.p[s].in[1]);
}

bool is_hidden_late(const place &x) {
  const node_id condition = x["c"];
  if (x.p[condition].type != b8 || !has(x.p[condition].shape, x.axes("a")[0])) return false;
  if (x.reads(condition, x["w"])) return false;  // the best experts, weights that are not small
  if (depends_on(x.p, condition, [&](node_id m) { return x.p[m].kind == op::uniform; }))
    return false;
  return std::all_of(x.users[x.at].begin(), x.users[x.at].end(), [&](node_id user) {
    return x.p[user].kind == op::dot && has(x.p[user].over, x.axes("a")[0]);
  });
}

bool is_one_of_them(const place &x) {
  return x.axes("a") != x.axes("b") && (x.axes("a") == x.axes("d") || x.axes("b") == x.axes("d"));
}

double kept_share(const place &x) {
  const bool is_below = depends_on(
      x.p, x.at,
      [&](node_id m) { return x.p[m].kind == op::less || x.p[m].kind == op::less_equal; },
      [&](node_id m) { return m != x["x"]; });
  return is_below ? x.number("p") : 1 - x.number("p");
}

bool has_one_beside(const place &x) {
  static const formula_pattern positive("elu(x) + 1");
  return depends_on(
      x.p, x["k"],
      [&](node_id m) { return positive.find(x.p, m, [](const pattern_match &) { return true; }); },
      [&](node_id m) { return x.p[m].name.empty(); });
}

bool is_scaled_by_square(const place &x) {
  bool found = false;
  walk_users(x.users, x.at, [&](node_id user, node_id) {
    const node &u = x.p[user];
    if (u.kind == op::mul)
      for (const node_id m : u.in) {
        const auto by = known_number(x.p, m);
        found = found || (by && nearly(*by, x.number("n") * x.number("n")));
      }
    return u.name.empty() && (u.kind == op::mul || is_reduction(u.kind) || is_view(u.kind));
  });
  return found && x.number("n") != 1 && without_scale(x.p, x["z"]).by == 1;
}

bool is_of_earlier_alone(const place &x) {
  const node_id n = x["y"];
  const auto is_along = [&](axis_id a) { return x.p.axes[a].root == x.root("a"); };
  if (x.p[n].kind == op::scan) return is_along(x.p[n].over[0]);
  if (!is_unnamed(x.p, op::dot, n) || !is_along(x.p[n].over[0])) return false;
  return std::any_of(x.p[n].in.begin(), x.p[n].in.end(), [&](node_id m) {
    const node_id w = inner_of(x.p, m);
    return is_unnamed(x.p, op::mask, w) && is_causal(x.p, x.p[w].in[1], {x.p[n].over[0]});
  });
}

}  // namespace qkv::codegen::checks
