// SPDX-License-Identifier: BSL-1.0
// Machines exchange tokens for heads: each computes some heads with the queries and the keys of
// all, and sends what it found to the machines of the tokens (DeepSpeed-Ulysses, arXiv:2309.14509).
#include <algorithm>
#include <memory>
#include <qkv/core/partial_sum.hpp>
#include <utility>

#include "memory/dense.hpp"
#include "ring/exchange.hpp"
#include "ring/independent_axis.hpp"
#include "ring/rounds.hpp"

namespace qkv::ring {
namespace {

// A tensor of tokens in its two forms.
struct regrouped {
  std::string name;
  local_tensor of_tokens;  // those of this machine, all heads
  local_tensor of_heads;   // those of this machine, all tokens
  bool is_of_keys;         // and of no queries
};

class heads_of_all {
 public:
  heads_of_all(machine &m, int round)
      : m_(m),
        hop_(*m.of().hops[static_cast<std::size_t>(round)]),
        axis_(independent_axis_of(m.of(), hop_, m.size(),
                                  [&](std::string_view axis) { return m.size_of(axis); })),
        mine_(axis_.of(m.rank(), m.size())),
        round_(round) {}

  // Takes all memory. Throws std::bad_alloc.
  void prepare() {
    for (int i = 0; i < hop_.n_arguments; ++i) {
      const qkv_argument &a = hop_.arguments[i];
      if (a.role == QKV_OUT)
        add_result(a);
      else
        add_argument(a);
    }
    for (int other = 0; other < m_.size(); ++other) {
      there_.push_back(room(given_, m_.rank(), other));
      const bool is_self = other == m_.rank();
      here_.push_back(is_self ? there_.back() : room(given_, other, m_.rank()));
      back_.push_back(room(found_, other, m_.rank()));
      home_.push_back(is_self ? back_.back() : room(found_, m_.rank(), other));
      pack_given(other);
    }
  }

  status run() {
    if (status s = exchanged(there_, here_, 0); !s) return s;
    const status own = m_.guarded([&]() -> status {
      for (int from = 0; from < m_.size(); ++from) unpack_given(from);
      const double began = m_.how.record ? m_.how.record->now() : 0;
      if (status s = m_.run(hop_, list_); !s) return s;
      if (m_.how.record)
        m_.how.record->add({timeline::row::computing,
                            "heads of machine " + std::to_string(m_.rank()), began,
                            m_.how.record->now(), 0});
      for (std::size_t t = 0; t < totals_.size(); ++t)
        detail::copy_apart(of_totals_[t].t.data, axis_.part(totals_[t].second, mine_));
      for (int to = 0; to < m_.size(); ++to) pack_found(to);
      return {};
    });
    if (status s = m_.agree(own); !s) return s;
    if (status s = exchanged(back_, home_, 1); !s) return s;
    for (int from = 0; from < m_.size(); ++from) unpack_found(from);
    return {};
  }

  // Puts the results among the tensors of the machine. Adds the names of totals.
  void give(std::vector<std::string> &totals) {
    for (regrouped &x : found_) m_.tensors[x.name] = std::move(x.of_tokens);
    for (auto &[name, x] : totals_) {
      m_.tensors[name] = std::move(x);
      totals.push_back(name);
    }
  }

 private:
  static double beginning(std::string_view sum) {
    return core::beginning_of(core::joining_of(sum).value_or(core::joining::sum));
  }

  local_tensor of_heads(const qkv_argument &a) const {
    std::vector<std::int64_t> extents =
        m_.extents(hop_, a, m_.where.all_queries(), m_.where.all_keys());
    for (int d = 0; d < a.rank; ++d) {
      std::int64_t &n = extents[static_cast<std::size_t>(d)];
      n = axis_.extent(hop_.axes[a.axes[d]].name, mine_.n, n);
    }
    return local_tensor::made(m_.memory(), hop_, a, extents);
  }

  void add_argument(const qkv_argument &a) {
    const std::string_view name = a.name;
    if (const auto at = m_.tensors.find(name); at != m_.tensors.end()) {
      const bool has_queries = has_axis(hop_, a, m_.of().query);
      if (!has_queries && !has_axis(hop_, a, m_.of().key)) {
        list_.push_back(axis_.part(at->second, mine_));
        return;
      }
      given_.push_back({at->first, at->second, of_heads(a), !has_queries});
      list_.push_back(given_.back().of_heads.t);
    } else if (const std::string sum = name_after("before_", name); !sum.empty()) {
      beginnings_.push_back(of_heads(a));
      fill(beginnings_.back(), beginning(sum));
      list_.push_back(beginnings_.back().t);
    } else if (const auto family = axis_.multiples.find(name_after("first_", name));
               family != axis_.multiples.end()) {
      list_.push_back(machine::scalar(mine_.first * family->second, numbers_));
    } else if (const auto number = m_.position(name, {0, m_.where.all_queries()},
                                               {0, m_.where.all_keys()}, numbers_)) {
      list_.push_back(*number);
    }
  }

  void add_result(const qkv_argument &a) {
    local_tensor x = of_heads(a);
    list_.push_back(x.t);
    const bool has_queries = has_axis(hop_, a, m_.of().query);
    if (has_queries || has_axis(hop_, a, m_.of().key)) {
      const auto at = m_.tensors.find(a.name);
      found_.push_back({a.name,
                        at != m_.tensors.end() ? at->second
                                               : m_.made(hop_, a, m_.where.n_queries(m_.rank()),
                                                         m_.where.n_keys(m_.rank())),
                        std::move(x), !has_queries});
      return;
    }
    // The sums of other heads come from other machines.
    local_tensor all = m_.made(hop_, a, 0, 0);
    fill(all, beginning(a.name));
    totals_.emplace_back(a.name, std::move(all));
    of_totals_.push_back(std::move(x));
  }

  std::span<const positions> runs(const regrouped &x, int machine) const {
    return x.is_of_keys ? m_.where.keys(machine) : m_.where.queries(machine);
  }
  int token_axis(const regrouped &x) const {
    return x.of_heads.place(x.is_of_keys ? m_.of().key : m_.of().query);
  }

  // Run after run of the tokens of one machine, with the heads of another one.
  template <class Visit>
  std::size_t walk(std::vector<regrouped> &all, int of_tokens, int of_heads,
                   const Visit &visit) const {
    const positions heads = axis_.of(of_heads, m_.size());
    std::size_t at = 0;
    for (regrouped &x : all) {
      const auto tokens = runs(x, of_tokens);
      for (std::size_t r = 0; r < tokens.size(); ++r) {
        qkv_tensor t = axis_.part(x.of_tokens, heads);
        t.extent[token_axis(x)] = tokens[r].n;
        visit(x, r, heads, at);
        at += padded(detail::dense_bytes(t));
      }
    }
    return at;
  }
  message room(std::vector<regrouped> &all, int of_tokens, int of_heads) const {
    return {m_.memory(),
            walk(all, of_tokens, of_heads,
                 [](const regrouped &, std::size_t, const positions &, std::size_t) {}),
            0};
  }

  // Some heads of a run of this machine's tokens; a run of some machine's tokens of its heads.
  qkv_tensor of_own_run(const regrouped &x, std::size_t r, const positions &heads) const {
    const local_tensor run{
        x.of_tokens.part(token_axis(x), offset(runs(x, m_.rank()), r), runs(x, m_.rank())[r].n),
        x.of_tokens.axes, nullptr};
    return axis_.part(run, heads);
  }
  qkv_tensor of_any_run(const regrouped &x, int machine, std::size_t r) const {
    const positions run = runs(x, machine)[r];
    return x.of_heads.part(token_axis(x), run.first, run.n);
  }

  void pack_given(int to) {
    std::byte *memory = there_[static_cast<std::size_t>(to)].first();
    walk(given_, m_.rank(), to,
         [&](const regrouped &x, std::size_t r, const positions &heads, std::size_t at) {
           detail::copy_dense(of_own_run(x, r, heads), memory + at);
         });
  }
  void unpack_given(int from) {
    const std::byte *memory = here_[static_cast<std::size_t>(from)].first();
    walk(given_, from, m_.rank(),
         [&](const regrouped &x, std::size_t r, const positions &, std::size_t at) {
           detail::copy_apart(memory + at, of_any_run(x, from, r));
         });
  }
  void pack_found(int to) {
    std::byte *memory = back_[static_cast<std::size_t>(to)].first();
    walk(found_, to, m_.rank(),
         [&](const regrouped &x, std::size_t r, const positions &, std::size_t at) {
           detail::copy_dense(of_any_run(x, to, r), memory + at);
         });
  }
  void unpack_found(int from) {
    const std::byte *memory = home_[static_cast<std::size_t>(from)].first();
    walk(found_, m_.rank(), from,
         [&](const regrouped &x, std::size_t r, const positions &heads, std::size_t at) {
           detail::copy_apart(memory + at, of_own_run(x, r, heads));
         });
  }

  status exchanged(const std::vector<message> &sent, const std::vector<message> &received,
                   int turn) {
    exchange e(m_, round_, turn);
    for (int away = 1; away < m_.size(); ++away) {
      const int to = neighbour(m_, away), from = neighbour(m_, -away);
      if (status s = e.both(to, sent[static_cast<std::size_t>(to)], m_.rank(), from,
                            received[static_cast<std::size_t>(from)], from);
          !s)
        return s;
    }
    return e.finish();
  }

  machine &m_;
  const qkv_kernel &hop_;
  const independent_axis axis_;
  const positions mine_;
  const int round_;
  std::vector<qkv_tensor> list_;  // arguments of the hop
  machine::position_memory numbers_;
  std::vector<regrouped> given_, found_;
  std::vector<local_tensor> beginnings_;
  std::vector<std::pair<std::string, local_tensor>> totals_;  // of all heads
  std::vector<local_tensor> of_totals_;                       // of those of this machine
  // By machine: tokens of this one, tokens of that one; the same of what was found.
  std::vector<message> there_, here_, back_, home_;
};

}  // namespace

status heads_round(machine &m, int round, std::vector<std::string> &totals) {
  std::unique_ptr<heads_of_all> all;
  if (status s = m.agree(m.guarded([&] {
        all = std::make_unique<heads_of_all>(m, round);
        all->prepare();
      }));
      !s)
    return s;
  if (status s = all->run(); !s) return s;
  all->give(totals);
  return {};
}

}  // namespace qkv::ring
