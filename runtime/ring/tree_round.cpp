// SPDX-License-Identifier: BSL-1.0
// Every machine has all queries and computes them with its own keys; what they found is merged in
// pairs, up a tree to machine 0 and down again: all have the same bits after two logarithms of
// their number.
#include <memory>
#include <utility>

#include "memory/dense.hpp"
#include "ring/exchange.hpp"
#include "ring/rounds.hpp"

namespace qkv::ring {
namespace {

class tree {
 public:
  tree(machine &m, hop &h, const qkv_kernel *merge, int round)
      : m_(m), hop_(h), merge_(merge), round_(round) {}

  // Takes the memory of all messages. Throws std::bad_alloc.
  void prepare() {
    sent_ = message(m_.memory(), state_bytes(), 0);
    received_ = message(m_.memory(), state_bytes(), 0);
  }

  status run() {
    status own = m_.guarded([&] {
      const status s = hop_.with_own();
      hop_.settle();
      return s;
    });
    int step = 1;
    for (; step < m_.size(); step *= 2)
      if (m_.rank() % (2 * step) == 0) {
        if (m_.rank() + step < m_.size())
          if (status s = merge_with(m_.rank() + step, step, own); !s) return s;
      } else if (m_.rank() % step == 0) {
        if (status s = give_to(m_.rank() - step, step); !s) return s;
      }
    for (step /= 2; step > 0; step /= 2)
      if (m_.rank() % (2 * step) == 0) {
        if (m_.rank() + step < m_.size())
          if (status s = give_to(m_.rank() + step, -step); !s) return s;
      } else if (m_.rank() % step == 0) {
        if (status s = take_from(m_.rank() - step, -step); !s) return s;
      }
    return m_.agree(own);
  }

 private:
  // Only sums of queries: totals are joined elsewhere.
  template <class Visit>
  std::size_t walk(const Visit &visit) {
    std::size_t at = 0;
    for (auto &[name, s] : hop_.states) {
      if (s.is_total) continue;
      visit(name, s, at);
      at += padded(detail::dense_bytes(s.first.t));
    }
    return at;
  }
  std::size_t state_bytes() {
    return walk([](const std::string &, hop::state &, std::size_t) {});
  }

  status give_to(int whom, int turn) {
    walk([&](const std::string &, hop::state &s, std::size_t at) {
      detail::copy_dense(s.first.t, sent_.first() + at);
    });
    exchange e(m_, round_, turn);
    if (status s = e.send(whom, sent_, m_.rank()); !s) return s;
    return e.finish();
  }
  status received_from(int whom, int turn) {
    exchange e(m_, round_, turn);
    if (status s = e.receive(whom, received_, whom); !s) return s;
    return e.finish();
  }
  status take_from(int whom, int turn) {
    if (status s = received_from(whom, turn); !s) return s;
    walk([&](const std::string &, hop::state &s, std::size_t at) {
      detail::copy_apart(received_.first() + at, s.first.t);
    });
    return {};
  }

  status merge_with(int whom, int turn, status &own) {
    if (status s = received_from(whom, turn); !s) return s;
    if (own) own = m_.guarded([&] { return merged(); });
    return {};
  }
  status merged() {
    if (!merge_) return {};  // sums over all pairs alone: they are joined elsewhere
    tensors_by_name theirs;
    walk([&](const std::string &name, hop::state &s, std::size_t at) {
      theirs[name] = detail::dense(s.first.t, received_.first() + at);
    });
    std::vector<qkv_tensor> list;
    for (int i = 0; i < merge_->n_arguments; ++i) {
      const qkv_argument &a = merge_->arguments[i];
      const std::string_view name = a.name;
      if (a.role == QKV_OUT)
        list.push_back(hop_.states.at(std::string(name)).second.t);
      else if (const auto before = hop_.states.find(name_after("before_", name));
               before != hop_.states.end())
        list.push_back(before->second.first.t);
      else
        list.push_back(theirs.at(name_after("with_", name)));
    }
    if (status s = m_.run(*merge_, list); !s) return s;
    walk([](const std::string &, hop::state &s, std::size_t) { std::swap(s.first, s.second); });
    return {};
  }

  machine &m_;
  hop &hop_;
  const qkv_kernel *const merge_;
  const int round_;
  message sent_, received_;
};

}  // namespace

status tree_round(machine &m, int round, std::vector<std::string> &totals) {
  std::unique_ptr<hop> h;
  std::unique_ptr<tree> t;
  if (status s = m.agree(m.guarded([&] {
        h = std::make_unique<hop>(m, round);
        t = std::make_unique<tree>(m, *h, m.of().merges[static_cast<std::size_t>(round)], round);
        t->prepare();
      }));
      !s)
    return s;
  if (status s = t->run(); !s) return s;
  h->give(totals);
  return {};
}

}  // namespace qkv::ring
