// SPDX-License-Identifier: BSL-1.0
// Computes the stages of a program one by one with the interpreter: results that a stage stores are
// inputs of later stages. Memory does not tell which weights are empty: a stage that reads weights
// computes them again, as compiled code does.
#include <algorithm>
#include <exception>
#include <set>

#include "codegen/plan/storage.hpp"
#include "codegen/program/assemble.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/text.hpp"
#include "tests/fuzz/rewritten.hpp"

namespace qkv::fuzz {

using codegen::node;
using codegen::node_id;
using codegen::program;
using codegen::stage;
using core::op;

namespace {

std::string name_in_memory(node_id n) { return "stored_" + std::to_string(n); }

class staged {
 public:
  staged(const program &p, const meaning &m, const cut &how)
      : p_(p),
        m_(m),
        cut_(how(p)),
        known_(m.arguments()),
        may_be_empty_(codegen::steps_with_empty_weights(p)) {}

  std::string run() {
    std::set<node_id> roots;
    for (std::size_t k = 0; k < cut_.list.size(); ++k)
      for (node_id r : codegen::roots_of(cut_.list[k])) {
        if (!roots.insert(r).second) return label(r) + " is stored twice";
        if (cut_.stored_by[r] != static_cast<int>(k)) return label(r) + " is stored by another";
        const auto order = codegen::storage_order(p_, cut_, r);
        if (!codegen::same_set(order, p_[r].shape)) return label(r) + " is stored with other axes";
      }
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n)
      if (cut_.stored_by[n] >= 0 && !roots.count(n)) return label(n) + " is stored by nobody";
    for (node_id n : p_.outputs)
      if (!roots.count(n)) return p_[n].name + " is never stored";
    for (std::size_t k = 0; k < cut_.list.size(); ++k)
      for (node_id r : codegen::roots_of(cut_.list[k]))
        if (std::string wrong = compute(k, r); !wrong.empty()) return wrong;
    codegen::arrays results;
    for (node_id n : p_.outputs) results[p_[n].name] = known_.at(name_in_memory(n));
    return m_.differs(results);
  }

 private:
  std::string label(node_id n) const { return codegen::label_of(p_, n); }

  // Computes the part of the program that stage k computes for this root, from arguments and stored
  // results. Returns a text about what is wrong, or an empty one.
  std::string compute(std::size_t k, node_id root) {
    program q = p_;
    // Of a stored step that may be empty, compiled code computes that alone, not its number. What
    // decides it is needed with its number.
    std::vector<bool> needed(p_.nodes.size(), false), has_number(p_.nodes.size(), false);
    needed[root] = has_number[root] = true;
    for (node_id n = root; n >= 0; --n) {
      if (!needed[n]) continue;
      const int by = cut_.stored_by[n];
      if (by > static_cast<int>(k))
        return label(root) + " reads what is computed later: " + label(n);
      if (by >= 0 && by < static_cast<int>(k) && !may_be_empty_[n]) {
        node stored;
        stored.kind = op::input;
        stored.type = p_[n].type;
        stored.shape = codegen::storage_order(p_, cut_, n);
        stored.name = name_in_memory(n);
        q.nodes[n] = stored;
        q.arguments.push_back(n);
        continue;
      }
      const bool stored = by >= 0 && by < static_cast<int>(k);
      if (has_number[n] && !stored && !is_recomputed(cut_.list[k], n))
        return label(root) + " needs " + label(n) + " stored";
      const bool number = has_number[n] && !stored;
      for (std::size_t at = 0; at < p_[n].in.size(); ++at) {
        const node_id operand = p_[n].in[at];
        const bool chooses = may_be_empty_[n] && tells_what_is_empty(p_[n], at);
        needed[operand] = needed[operand] || number || chooses || may_be_empty_[operand];
        has_number[operand] = has_number[operand] || number || chooses;
      }
    }
    q = as_the_stage_says(std::move(q), cut_.list[k]);
    q.nodes.resize(static_cast<std::size_t>(root) + 1);
    std::erase_if(q.arguments, [&](node_id n) { return n > root; });
    const std::string name = name_in_memory(root);
    if (q[root].kind == op::output) {
      q.nodes[root].name = name;
      q.outputs = {root};
    } else {
      node out;
      out.kind = op::output;
      out.type = p_[root].type;
      out.in = {root};
      out.shape = codegen::storage_order(p_, cut_, root);
      out.name = name;
      q.nodes.push_back(out);
      q.outputs = {root + 1};
    }
    q.arguments = sorted(q.arguments);
    known_[name] = in_double(codegen::without_dead_steps(q), known_, m_.sizes()).at(name);
    return "";
  }

  // True for what decides which weights are empty: scores, a condition, a position.
  static bool tells_what_is_empty(const node &n, std::size_t operand) {
    return core::makes_weights(n.kind) || (n.kind == op::where && operand == 0) ||
           (n.kind == op::take && operand == 1);
  }

  // True for what the code of a stage computes where it needs it.
  bool is_recomputed(const stage &s, node_id n) const {
    if (codegen::is_inlinable(p_, n) || core::is_source(p_[n].kind)) return true;
    if (p_[n].kind == op::output) return true;
    const auto is_one_of = [n](const std::vector<node_id> &list) {
      return std::find(list.begin(), list.end(), n) != list.end();
    };
    if (const auto *c = std::get_if<codegen::contraction_stage>(&s)) return n == c->core;
    if (const auto *m = std::get_if<codegen::map_stage>(&s)) return n == m->core;
    const auto *a = std::get_if<codegen::attention_stage>(&s);
    if (!a) return true;  // a scan computes every step of its body
    const std::vector<codegen::weighted_sum> sums = codegen::all_sums(*a);
    return n == a->weights || n == a->lse || is_one_of(a->products) ||
           std::any_of(sums.begin(), sums.end(),
                       [&](const codegen::weighted_sum &sum) { return sum.core == n; });
  }

  static std::vector<node_id> sorted(std::vector<node_id> list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
  }

  // Builds the core from the fields of the stage.
  program as_the_stage_says(program q, const stage &s) const {
    if (const auto *c = std::get_if<codegen::contraction_stage>(&s))
      q.nodes[c->core].in = {c->left, c->right};
    if (const auto *a = std::get_if<codegen::attention_stage>(&s)) {
      if (a->is_normalised()) q.nodes[a->weights].in = {a->scores};
      for (const codegen::weighted_sum &sum : codegen::all_sums(*a)) {
        if (sum.gate >= 0) q.nodes[sum.pairs].in = {a->weights, sum.gate};
        q.nodes[sum.core].in = {sum.pairs};
        if (sum.values >= 0) q.nodes[sum.core].in.push_back(sum.values);
        if (sum.is_placed()) q.nodes[sum.core].in.push_back(sum.position);
      }
      if (a->lse >= 0) q.nodes[a->lse].in = {a->scores};
    }
    return q;
  }

  const program &p_;
  const meaning &m_;
  const codegen::stages cut_;
  codegen::arrays known_;
  const std::vector<bool> may_be_empty_;
};

}  // namespace

std::string wrong_stages(const program &p, const meaning &m, const cut &how) {
  try {
    const std::string wrong = staged(p, m, how).run();
    return wrong.empty() ? wrong : "stages: " + wrong;
  } catch (const std::exception &e) {
    return std::string("stages throw: ") + e.what();
  }
}

}  // namespace qkv::fuzz
