// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/loss_slips.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "codegen/program/position_sets.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/roots.hpp"
#include "codegen/program/score_masks.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class loss_finder : slip_finder {
 public:
  explicit loss_finder(const program &p) : slip_finder(p) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (is(op::take, n)) predicts_what_it_reads(n), sees_the_label(n);
      if (is(op::mul, n) || is(op::dot, n))
        for (const std::size_t k : {0, 1}) softened_alone(n, p_[n].in[k], p_[n].in[1 - k]);
      if (is(op::sub, n)) exchanged_margin(n);
    }
    return std::move(slips_);
  }

 private:
  // take<vocabulary>(slice<seq, body>(logits, 0), slice<seq, body>(tokens, 0)), where causal
  // attention over the embedded tokens gives logits. take_slips.cpp knows the whole tokens.
  void predicts_what_it_reads(node_id n) {
    const node_id logits = p_[n].in[0];
    const shifted label = part_of(p_[n].in[1]);
    if (!is_floating(p_[n].type) || label.of == p_[n].in[1] || p_[label.of].kind != op::input ||
        p_[label.of].shape.empty() || p_[label.of].type != i32)
      return;
    std::set<node_id> below;
    walk(p_, logits, [](node_id) { return true; }, below);
    bool embeds = false, is_autoregressive = false, is_cut = false;
    double first = 0;
    for (const node_id m : below) {
      const node &x = p_[m];
      if (x.kind == op::take && inner_of(p_, x.in[1]) == label.of) embeds = true;
      if (x.kind == op::softmax)
        for (const node_id c : masks_of_weights(p_, m))
          is_autoregressive = is_autoregressive || is_causal(p_, c, x.over);
      if (x.kind != op::take || !is_floating(x.type)) continue;
      if (const shifted cut = part_of(m); cut.of != m) is_cut = true, first = cut.by;
    }
    if (embeds && is_autoregressive && is_cut && first == label.by)
      say(n,
          "the label at each position is the token that the model reads there; did you mean the "
          "tokens one position later?");
  }

  // take<vocabulary>(logits, take<seq>(tokens, index(seq) + 1)), where attention without a mask
  // over the embedded tokens gives logits
  void sees_the_label(node_id n) {
    const node_id next = inner_of(p_, p_[n].in[1]);
    if (!is_floating(p_[n].type) || !is(op::take, next) || !is_later(p_[next].in[1])) return;
    const node_id tokens = inner_of(p_, p_[next].in[0]);
    const axis_id seq = p_[next].over[0];
    if (p_[tokens].kind != op::input || p_[tokens].type != i32) return;
    bool embeds = false;
    node_id all = -1;
    std::set<node_id> below;
    // where() may hide tokens from the model
    walk(p_, p_[n].in[0], [&](node_id m) { return p_[m].kind != op::where; }, below);
    for (const node_id m : below) {
      const node &x = p_[m];
      if (x.kind == op::take && inner_of(p_, x.in[1]) == tokens) embeds = true;
      if (!is(op::softmax, m) || !has_root(x.over, seq) || !has(x.shape, seq)) continue;
      const std::vector<node_id> masks = masks_of_weights(p_, m);
      const auto hides_padding = [&](node_id c) { return is_padding(p_, c); };
      if (!is(op::dot, unscaled(p_, unmasked(p_, x.in[0])))) return;
      if (!std::all_of(masks.begin(), masks.end(), hides_padding)) return;
      all = m;
    }
    if (embeds && all >= 0)
      say(n,
          "the label at each position is a later token, which {} sees; did you mean a causal mask "
          "there?",
          written_as(p_, all));
  }
  // index(seq) + 1, or its minimum with something
  bool is_later(node_id position) const {
    position = inner_of(p_, position);
    if (is(op::min, position)) return is_later(p_[position].in[0]) || is_later(p_[position].in[1]);
    const affine a = affine_of(p_, position);
    return a.form.size() == 1 && a.form.begin()->first.what == term::position &&
           a.form.begin()->second == 1 && a.number > 0;
  }

  // A part of a tensor from a position on; the tensor itself.
  struct shifted {
    node_id of;
    double by = 0;
  };
  shifted part_of(node_id n) const {
    n = inner_of(p_, n);
    if (!is(op::take, n)) return {n};
    const node_id at = inner_of(p_, p_[n].in[1]);
    if (p_[at].kind == op::index) return {inner_of(p_, p_[n].in[0])};
    const affine a = affine_of(p_, at);
    if (a.form.size() != 1 || a.form.begin()->first.what != term::position ||
        a.form.begin()->second != 1)
      return {n};
    return {inner_of(p_, p_[n].in[0]), static_cast<double>(a.number)};
  }

  // sum<v>(softmax<v>(teacher) * log_softmax(student / T))
  void softened_alone(node_id n, node_id weights, node_id beside) {
    weights = inner_of(p_, weights);
    if (!is(op::softmax, weights) || temperature_of(p_[weights].in[0]) >= 0) return;
    std::set<node_id> below;
    walk(
        p_, beside, [&](node_id m) { return is(op::add, m) || is(op::sub, m) || is(op::neg, m); },
        below);
    for (const node_id m : below) {
      const node_id scores = is(op::sub, m) ? of_log_softmax(m, p_[weights].over) : -1;
      if (scores < 0) continue;
      const node_id temperature = temperature_of(scores);
      if (temperature < 0 || !(mentions(weights, "teacher") || mentions(scores, "student")))
        continue;
      return say(n, "{} is divided by {}, but {} is not; did you mean to divide both?",
                 written_as(p_, p_[scores].in[0]), written_as(p_, temperature),
                 written_as(p_, p_[weights].in[0]));
    }
  }
  // The scores of s - logsumexp(s), or of its negative; -1: of something else.
  node_id of_log_softmax(node_id n, const std::vector<axis_id> &over) const {
    for (const std::size_t k : {0, 1}) {
      const node_id scores = inner_of(p_, p_[n].in[k]), total = inner_of(p_, p_[n].in[1 - k]);
      if (is(op::logsumexp, total) && inner_of(p_, p_[total].in[0]) == scores &&
          p_[total].over == over)
        return scores;
    }
    return -1;
  }
  // The number or argument that divides scores; -1: none does.
  node_id temperature_of(node_id scores) const {
    scores = inner_of(p_, scores);
    if (!is(op::div, scores) && !is(op::mul, scores)) return -1;
    const node_id by = inner_of(p_, p_[scores].in[1]);
    return p_[by].shape.empty() ? by : -1;
  }

  // (chosen - rejected) - (reference_rejected - reference_chosen)
  void exchanged_margin(node_id n) {
    const node_id first = unscaled(p_, p_[n].in[0]), second = unscaled(p_, p_[n].in[1]);
    if (!is(op::sub, first) || !is(op::sub, second)) return;
    const int a = side_of(p_[first].in[0]), b = side_of(p_[first].in[1]),
              c = side_of(p_[second].in[0]), d = side_of(p_[second].in[1]);
    if (a == 0 || b != -a || c != b || d != a) return;
    say(n, "{} has its sides in another order than {}; did you mean {} - {}?",
        written_as(p_, second), written_as(p_, first), written_as(p_, p_[second].in[1]),
        written_as(p_, p_[second].in[0]));
  }
  // 1: made of what is preferred; -1: of what is not; 0: unknown, or of both.
  int side_of(node_id n) const {
    const bool is_better = mentions(n, "chosen") || mentions(n, "winner"),
               is_worse = mentions(n, "rejected") || mentions(n, "loser");
    return is_better == is_worse ? 0 : is_better ? 1 : -1;
  }

  // True if the name of an argument that a step is made of has this part.
  bool mentions(node_id n, const std::string &part) const {
    return depends_on(p_, n, [&](node_id m) {
      return is_argument(p_[m]) && p_[m].name.find(part) != std::string::npos;
    });
  }
};

}  // namespace

std::vector<slip> loss_slips(const program &p) { return loss_finder(p).run(); }

}  // namespace qkv::codegen
