// SPDX-License-Identifier: BSL-1.0
// A call of several machines: checks, the parts of own tokens, rounds of keys.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <qkv/ring.hpp>

#include "memory/dense.hpp"
#include "ring/check.hpp"
#include "ring/local_tensor.hpp"
#include "status/fail.hpp"

namespace qkv::ring {
namespace {

using detail::fail;

// A state before any keys: codegen/ring/shard.hpp.
double beginning(std::string_view name) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (name.starts_with("lse") || name.starts_with("most")) return -infinity;
  return name.starts_with("least") ? infinity : 0;
}

// Memory of messages.
class message {
 public:
  explicit message(std::size_t n = 0) : n_(n), memory_(aligned(n)) {}
  std::byte *data() { return memory_.get(); }
  std::span<std::byte> bytes() { return {memory_.get(), n_}; }
  // A transport that never finishes may still write here: the memory is not given back.
  void abandon() { (void)new std::shared_ptr<std::byte>(memory_); }

 private:
  std::size_t n_;
  std::shared_ptr<std::byte> memory_;
};

class distributed_call {
 public:
  distributed_call(const qkv_kernel &k, transport &machines, const layout &where,
                   std::span<const qkv_tensor> arguments, const options &how, const limits &most)
      : k_(k),
        machines_(machines),
        where_(where),
        arguments_(arguments),
        how_(how),
        limits_(most) {}

  status carry_out() {
    if (status s = machines_.state(); !s) return s;
    if (status s = agreed(
            guarded([&] { return check_call(k_, machines_, where_, arguments_, how_, checked_); }));
        !s)
      return s;
    if (status s = same_call(); !s) return s;
    if (status s = same_sizes(); !s) return s;
    take_arguments();
    for (std::size_t round = 0; round < parts_.own.size(); ++round) {
      if (status s = agreed(guarded([&] { return own_part(round); })); !s) return s;
      if (round < parts_.hops.size())
        if (status s = keys_of_all(*parts_.hops[round]); !s) return s;
    }
    return {};
  }

 private:
  // An exception is a status of this machine: the others hear of it.
  template <class F>
  status guarded(const F &f) const {
    try {
      return f();
    } catch (const std::bad_alloc &) {
      return fail(status_code::out_of_memory, "{}: no memory on machine {}", k_.name,
                  machines_.rank());
    }
  }
  status agreed(const status &own) { return machines_.agree(own, limits_.deadline); }

  // ---- agreement --------------------------------------------------------------------------------
  // Every machine compares with the one before.
  status same_call() {
    if (machines_.size() == 1) return {};
    const std::vector<std::int64_t> own = {static_cast<std::int64_t>(k_.signature),
                                           hash_of_layout()};
    std::vector<std::int64_t> theirs(own.size());
    if (status s = exchange(own, theirs); !s) return s;
    const int before = (machines_.rank() + machines_.size() - 1) % machines_.size();
    if (own[0] != theirs[0])
      return agreed(fail(status_code::wrong_version,
                         "{}: machines {} and {} call different kernels", k_.name, before,
                         machines_.rank()));
    if (own[1] != theirs[1])
      return agreed(fail(status_code::wrong_count, "{}: machines {} and {} have different layouts",
                         k_.name, before, machines_.rank()));
    return agreed({});
  }

  // Sizes that queries and keys do not decide.
  status same_sizes() {
    if (machines_.size() == 1) return {};
    std::vector<std::int64_t> theirs(sizes_.size());
    if (status s = exchange(sizes_, theirs); !s) return s;
    const int before = (machines_.rank() + machines_.size() - 1) % machines_.size();
    for (std::size_t a = 0; a < sizes_.size(); ++a)
      if (sizes_[a] != theirs[a])
        return agreed(fail(status_code::wrong_extent,
                           "{}: axis {} is {} on machine {} but {} on machine {}", k_.name,
                           k_.axes[a].name, sizes_[a], machines_.rank(), theirs[a], before));
    return agreed({});
  }

  void take_arguments() {
    for (int i = 0; i < k_.n_arguments; ++i) {
      local_tensor x;
      x.t = arguments_[static_cast<std::size_t>(i)];
      x.axes = names_of_axes(k_, k_.arguments[i]);
      own_.emplace(k_.arguments[i].name, std::move(x));
    }
  }

  // With the machines before and after. The memory outlives a transport that never finishes.
  status exchange(const std::vector<std::int64_t> &own, std::vector<std::int64_t> &theirs) {
    message sent(own.size() * sizeof own[0]), received(theirs.size() * sizeof theirs[0]);
    std::memcpy(sent.data(), own.data(), sent.bytes().size());
    status s = machines_.begin(sent.bytes(), received.bytes());
    if (s) s = machines_.finish(limits_.deadline);
    if (!s) {
      sent.abandon();
      received.abandon();
      return s;
    }
    std::memcpy(theirs.data(), received.data(), received.bytes().size());
    return {};
  }

  std::int64_t hash_of_layout() const {
    std::uint64_t h = 0xcbf29ce484222325;  // FNV-1a
    const auto add = [&](std::int64_t x) {
      h = (h ^ static_cast<std::uint64_t>(x)) * 0x100000001b3;
    };
    for (int m = 0; m < where_.machines(); ++m)
      for (const auto &runs : {where_.queries(m), where_.keys(m)}) {
        add(static_cast<std::int64_t>(runs.size()));
        for (const positions &r : runs) add(r.first), add(r.n);
      }
    return static_cast<std::int64_t>(h);
  }

  // ---- parts ------------------------------------------------------------------------------------
  // Extents of an argument of a part for so many queries and keys.
  std::vector<std::int64_t> extents(const qkv_kernel &part, const qkv_argument &a,
                                    std::int64_t queries, std::int64_t keys) const {
    std::vector<std::int64_t> all;
    for (int d = 0; d < a.rank; ++d) {
      const qkv_axis &axis = part.axes[a.axes[d]];
      const std::string_view name = axis.name;
      const qkv_axis &mine = k_.axes[axis_called(k_, name)];
      all.push_back(name == parts_.query           ? queries
                    : name == parts_.key           ? keys
                    : axis.size >= 0               ? axis.size
                    : k_.axes[mine.root].size >= 0 ? k_.axes[mine.root].size
                                                   : sizes_[static_cast<std::size_t>(mine.root)]);
    }
    return all;
  }

  static qkv_tensor scalar(std::int32_t &x) {
    qkv_tensor t{};
    t.data = &x;
    t.dtype = QKV_I32;
    return t;
  }

  // first_ and whole_; true if it is one of them.
  bool position(std::string_view name, const positions &queries, const positions &keys,
                qkv_tensor &t, std::array<std::int32_t, 4> &memory) const {
    const std::array<std::pair<std::string, std::int64_t>, 4> known = {
        {{"first_" + parts_.query, queries.first},
         {"first_" + parts_.key, keys.first},
         {"whole_" + parts_.query, where_.all_queries()},
         {"whole_" + parts_.key, where_.all_keys()}}};
    for (std::size_t k = 0; k < known.size(); ++k)
      if (name == known[k].first) {
        memory[k] = static_cast<std::int32_t>(known[k].second);
        t = scalar(memory[k]);
        return true;
      }
    return false;
  }

  static std::int64_t offset(std::span<const positions> runs, std::size_t r) {
    std::int64_t n = 0;
    for (std::size_t k = 0; k < r; ++k) n += runs[k].n;
    return n;
  }

  // The part of an own tensor that belongs to run r.
  qkv_tensor own_slice(const local_tensor &x, std::size_t r) const {
    const int m = machines_.rank(), q = x.place(parts_.query), k = x.place(parts_.key);
    if (q >= 0) return x.part(q, offset(where_.queries(m), r), where_.queries(m)[r].n);
    return x.part(k, k >= 0 ? offset(where_.keys(m), r) : 0, k >= 0 ? where_.keys(m)[r].n : 0);
  }

  status own_part(std::size_t round) {
    if (!parts_.own[round]) return {};
    const qkv_kernel &part = *parts_.own[round];
    const int m = machines_.rank();
    for (int i = 0; i < part.n_arguments; ++i) {
      const qkv_argument &a = part.arguments[i];
      if (a.role != QKV_OUT || own_.count(a.name)) continue;
      const std::vector<std::int64_t> e = extents(part, a, where_.n_queries(m), where_.n_keys(m));
      if (std::any_of(e.begin(), e.end(), [](std::int64_t n) { return n < 0; }))
        return fail(status_code::unsupported,
                    "{}: a step between its parts has a size that no argument has", k_.name);
      own_.emplace(a.name, local_tensor::made(part, a, e));
    }
    for (std::size_t r = 0; r < where_.queries(m).size(); ++r) {
      std::array<std::int32_t, 4> numbers{};
      std::vector<qkv_tensor> list;
      for (int i = 0; i < part.n_arguments; ++i) {
        qkv_tensor t{};
        const char *name = part.arguments[i].name;
        if (!position(name, where_.queries(m)[r], where_.keys(m)[r], t, numbers))
          t = own_slice(own_.at(name), r);
        list.push_back(t);
      }
      if (status s = qkv::run(part, list, how_); !s) return s;
    }
    return {};
  }

  // ---- rounds -----------------------------------------------------------------------------------
  // Tensors with the key axis and without the query axis travel, run after run, each one dense.
  bool travels(const local_tensor &x) const {
    return x.place(parts_.key) >= 0 && x.place(parts_.query) < 0;
  }

  static std::size_t padded(std::size_t n) { return (n + 63) / 64 * 64; }

  // Tensors by their names.
  using tensors = std::map<std::string, qkv_tensor, std::less<>>;

  // The keys of each run of a machine in the memory of a message, and the size of that message.
  struct baggage {
    std::vector<tensors> runs;
    std::size_t size = 0;
  };
  baggage laid_out(const std::vector<std::string> &names, int machine, std::byte *memory) const {
    baggage all;
    for (const positions &r : where_.keys(machine)) {
      tensors &run = all.runs.emplace_back();
      for (const std::string &name : names) {
        const local_tensor &x = own_.at(name);
        qkv_tensor t = x.t;
        t.extent[x.place(parts_.key)] = r.n;
        run[name] = detail::dense(t, memory ? memory + all.size : nullptr);
        all.size += padded(detail::dense_bytes(t));
      }
    }
    return all;
  }
  message room_for(const std::vector<std::string> &names, int machine) const {
    return message(laid_out(names, machine, nullptr).size);
  }

  status keys_of_all(const qkv_kernel &hop) {
    std::vector<std::string> names;
    for (int i = 0; i < hop.n_arguments; ++i)
      if (const auto at = own_.find(hop.arguments[i].name);
          at != own_.end() && hop.arguments[i].role != QKV_OUT && travels(at->second))
        names.emplace_back(hop.arguments[i].name);
    const int machines = machines_.size(), mine = machines_.rank();
    message now = room_for(names, mine), next;
    const baggage own_keys = laid_out(names, mine, now.data());
    for (std::size_t r = 0; r < own_keys.runs.size(); ++r)
      for (const auto &[name, t] : own_keys.runs[r])
        detail::copy_dense(own_slice(own_.at(name), r), t.data);
    begin_states(hop);
    status own;
    for (int h = 0; h < machines; ++h) {
      const int of = (mine + machines - h) % machines;
      const bool more = h + 1 < machines;
      status sent;
      if (more) {
        next = room_for(names, (of + machines - 1) % machines);
        sent = machines_.begin(now.bytes(), next.bytes());
      }
      // After an error of its own, a machine passes keys on: the others do not wait for it.
      if (sent && own) own = guarded([&] { return keys_of(hop, of, names, now.data()); });
      if (more) {
        if (sent) sent = machines_.finish(limits_.deadline);
        if (!sent) {
          now.abandon();
          next.abandon();
          return sent;
        }
        std::swap(now, next);
      }
    }
    if (status s = agreed(own); !s) return s;
    for (auto &[name, x] : before_) own_[name] = std::move(x);
    return {};
  }

  // Two of each state: before some keys and after them.
  void begin_states(const qkv_kernel &hop) {
    before_.clear();
    after_.clear();
    for (int i = 0; i < hop.n_arguments; ++i) {
      const qkv_argument &a = hop.arguments[i];
      if (a.role != QKV_OUT) continue;
      const std::vector<std::int64_t> e = extents(hop, a, where_.n_queries(machines_.rank()), 0);
      before_.emplace(a.name, local_tensor::made(hop, a, e));
      after_.emplace(a.name, local_tensor::made(hop, a, e));
      fill(before_.at(a.name), beginning(a.name));
    }
  }

  // Some queries of this machine: where they are among all tokens and among its own.
  struct some_queries {
    positions of_all;
    std::int64_t own;
  };

  // MPI moves messages while it is called: the queries of a hop are cut so that it is, some 16 times.
  std::vector<some_queries> pieces(std::size_t runs_of_keys) const {
    constexpr std::int64_t polls = 16, fewest = 64;
    std::vector<some_queries> all;
    const auto runs = where_.queries(machines_.rank());
    std::int64_t own = 0;
    for (const positions &r : runs) {
      const auto wanted =
          polls / std::max<std::int64_t>(1, static_cast<std::int64_t>(runs.size() * runs_of_keys));
      const std::int64_t parts =
          machines_.size() == 1
              ? 1
              : std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(r.n / fewest, 1));
      for (std::int64_t k = 0; k < parts; ++k) {
        const std::int64_t first = r.n * k / parts, end = r.n * (k + 1) / parts;
        if (end > first) all.push_back({{r.first + first, end - first}, own + first});
      }
      own += r.n;
    }
    return all;
  }

  status keys_of(const qkv_kernel &hop, int of, const std::vector<std::string> &names,
                 std::byte *memory) {
    const std::vector<some_queries> all = pieces(where_.keys(of).size());
    const baggage received = laid_out(names, of, memory);
    for (std::size_t k = 0; k < where_.keys(of).size(); ++k) {
      if (where_.keys(of)[k].n == 0) continue;
      for (const some_queries &q : all) {
        if (status s = pairs(hop, q, where_.keys(of)[k], received.runs[k]); !s) return s;
        machines_.poll();
      }
      std::swap(before_, after_);
    }
    return {};
  }

  status pairs(const qkv_kernel &hop, const some_queries &q, const positions &keys_run,
               const tensors &keys) {
    std::array<std::int32_t, 4> numbers{};
    std::vector<qkv_tensor> list;
    for (int i = 0; i < hop.n_arguments; ++i) {
      const qkv_argument &a = hop.arguments[i];
      const std::string name = a.name, state = axis_after("before_", name);
      qkv_tensor t{};
      if (a.role == QKV_OUT)
        t = of_queries(after_.at(name), q);
      else if (!state.empty())
        t = of_queries(before_.at(state), q);
      else if (const auto at = keys.find(name); at != keys.end())
        t = at->second;
      else if (!position(name, q.of_all, keys_run, t, numbers))
        t = of_pairs(own_.at(name), q, keys_run);
      list.push_back(t);
    }
    return qkv::run(hop, list, how_);
  }

  qkv_tensor of_queries(const local_tensor &x, const some_queries &q) const {
    return x.part(x.place(parts_.query), q.own, q.of_all.n);
  }

  // Of queries and all keys, or of queries alone.
  qkv_tensor of_pairs(const local_tensor &x, const some_queries &q, const positions &keys) const {
    local_tensor mine{of_queries(x, q), x.axes, nullptr};
    const int k = mine.place(parts_.key);
    return k < 0 ? mine.t : mine.part(k, keys.first, keys.n);
  }

  const qkv_kernel &k_;
  transport &machines_;
  const layout &where_;
  const std::span<const qkv_tensor> arguments_;
  const options &how_;
  const limits &limits_;
  checked_call checked_;
  const parts &parts_ = checked_.of;
  const std::vector<std::int64_t> &sizes_ = checked_.sizes;
  std::map<std::string, local_tensor, std::less<>> own_, before_, after_;
};

}  // namespace

status run_parts(const qkv_kernel &k, transport &machines, const layout &where,
                 std::span<const qkv_tensor> arguments, const options &how,
                 const limits &most) noexcept try {
  return distributed_call(k, machines, where, arguments, how, most).carry_out();
} catch (const std::bad_alloc &) {
  return fail(status_code::out_of_memory, "{}: no memory for the tensors of a machine", k.name);
} catch (...) {
  return fail(status_code::kernel_failed, "{}: an exception reached the runtime", k.name);
}

}  // namespace qkv::ring
