// SPDX-License-Identifier: BSL-1.0
// A call of several machines: what they agree on, parts of own tokens, rounds of keys.
#include <new>
#include <qkv/ring.hpp>

#include "memory/dense.hpp"
#include "ring/agreement.hpp"
#include "ring/join.hpp"
#include "ring/rounds.hpp"
#include "ring/totals.hpp"
#include "status/fail.hpp"

namespace qkv::ring {
namespace {

class distributed_call {
 public:
  distributed_call(const qkv_kernel &k, transport &t, const layout &where,
                   std::span<const qkv_tensor> arguments, const settings &how)
      : m_(k, t, where, how), arguments_(arguments) {}

  status carry_out() {
    if (status s = m_.link.state(); !s) return s;
    round_function round = ring_round;
    if (status s = m_.agree(m_.guarded([&] { return checked(round); })); !s) return s;
    if (status s = agree_on_call(m_, shared_numbers_); !s) return s;
    if (m_.how.record) m_.how.record->start();
    take_arguments();
    for (std::size_t n = 0; n < m_.of().own.size(); ++n) {
      std::vector<std::string> totals;
      if (status s = m_.agree(m_.guarded([&] { return own_part(n, totals); })); !s) return s;
      if (n < m_.of().hops.size() && m_.of().hops[n])
        if (status s = round(m_, static_cast<int>(n), totals); !s) return s;
      if (status s = join_totals(m_, static_cast<int>(n), totals); !s) return s;
    }
    return {};
  }

 private:
  status checked(round_function &round) {
    if (status s = check_call(m_.k, m_.link, m_.where, arguments_, m_.how.call, m_.checked); !s)
      return s;
    for (const qkv_kernel *hop : m_.of().hops)
      for (int i = 0; hop && i < hop->n_arguments; ++i)
        if (hop->arguments[i].role == QKV_OUT && m_.is_unknown(*hop, hop->arguments[i]))
          return detail::fail(status_code::unsupported,
                              "{}: a sum over tokens has a size that no argument has", m_.k.name);
    shared_numbers_ = hash_of_shared(m_, arguments_);
    return choose_schedule(m_, round);
  }

  void take_arguments() {
    for (int i = 0; i < m_.k.n_arguments; ++i) {
      local_tensor x;
      x.t = arguments_[static_cast<std::size_t>(i)];
      x.axes = names_of_axes(m_.k, m_.k.arguments[i]);
      m_.tensors.emplace(m_.k.arguments[i].name, std::move(x));
    }
  }

  // Steps of this machine's tokens, run by run. The sums of all runs join.
  status own_part(std::size_t n, std::vector<std::string> &totals) {
    const qkv_kernel *part = m_.of().own[n];
    if (!part) return {};
    if (status s = make_results(*part, totals); !s) return s;
    for (std::size_t r = 0; r < m_.where.queries(m_.rank()).size(); ++r)
      if (status s = own_run(*part, r); !s) return s;
    return {};
  }

  status make_results(const qkv_kernel &part, std::vector<std::string> &totals) {
    for (int i = 0; i < part.n_arguments; ++i) {
      const qkv_argument &a = part.arguments[i];
      if (a.role != QKV_OUT) continue;
      if (is_total(a)) totals.emplace_back(a.name);
      if (m_.tensors.count(a.name)) continue;
      if (m_.is_unknown(part, a))
        return detail::fail(status_code::unsupported,
                            "{}: a step between its parts has a size that no argument has",
                            m_.k.name);
      m_.tensors.emplace(
          a.name, m_.made(part, a, m_.where.n_queries(m_.rank()), m_.where.n_keys(m_.rank())));
    }
    return {};
  }

  status own_run(const qkv_kernel &part, std::size_t r) {
    machine::position_memory numbers{};
    std::vector<qkv_tensor> list;
    std::vector<local_tensor> sums;  // of this run
    std::vector<const char *> names;
    for (int i = 0; i < part.n_arguments; ++i) {
      const qkv_argument &a = part.arguments[i];
      if (const auto number = m_.position(a.name, m_.where.queries(m_.rank())[r],
                                          m_.where.keys(m_.rank())[r], numbers)) {
        list.push_back(*number);
      } else if (r > 0 && is_total(a)) {
        sums.push_back(m_.made(part, a, 0, 0));
        names.push_back(a.name);
        list.push_back(sums.back().t);
      } else {
        list.push_back(m_.of_run(m_.tensors.find(a.name)->second, r));
      }
    }
    if (status s = m_.run(part, list); !s) return s;
    for (std::size_t k = 0; k < sums.size(); ++k)
      join(names[k], m_.tensors.find(names[k])->second.t, sums[k].t);
    return {};
  }

  machine m_;
  const std::span<const qkv_tensor> arguments_;
  std::int64_t shared_numbers_ = 0;
};

}  // namespace

status run_parts(const qkv_kernel &k, transport &machines, const layout &where,
                 std::span<const qkv_tensor> arguments, const settings &how) noexcept try {
  return distributed_call(k, machines, where, arguments, how).carry_out();
} catch (const std::bad_alloc &) {
  return detail::fail(status_code::out_of_memory, "{}: no memory for the tensors of a machine",
                      k.name);
} catch (...) {
  return detail::fail(status_code::kernel_failed, "{}: an exception reached the runtime", k.name);
}

}  // namespace qkv::ring
