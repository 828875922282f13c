// Compiled kernels on several machines of this process, against one machine and the reference.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <mutex>
#include <qkv/core/dtype.hpp>
#include <qkv/core/half.hpp>
#include <qkv/registry.hpp>
#include <qkv/ring.hpp>
#include <thread>

#include "ring_programs.hpp"
#include "tests/catch.hpp"
#include "tests/gradient/differences.hpp"
#include "tests/ring/machines.hpp"
#include "tests/support/random.hpp"

using namespace qkv::testing;
using qkv::status;
using qkv::codegen::array;
using qkv::codegen::arrays;
using qkv::codegen::program;

namespace {

struct kernel {
  const char *name, *query, *key;
};
constexpr kernel kernels[] = {{"cross", "seq", "mem"},
                              {"masked", "seq", "kv"},
                              {"layer", "seq", "kv"},
                              {"biased_bf16", "seq", "mem"}};

// Memory of a tensor.
struct dense {
  std::vector<std::uint64_t> memory;
  qkv_tensor t{};

  dense(const array &a, qkv::dtype type) : memory(a.data.size() + 1) {
    t.data = memory.data();
    t.dtype = static_cast<std::int32_t>(type);
    t.rank = static_cast<std::int32_t>(a.shape.size());
    std::int64_t stride = 1;
    for (std::size_t d = a.shape.size(); d-- > 0;) {
      t.extent[d] = a.shape[d];
      t.stride[d] = stride;
      stride *= std::max<std::int64_t>(a.shape[d], 1);
    }
    for (std::size_t k = 0; k < a.data.size(); ++k) put(k, a.data[k]);
  }
  void put(std::size_t k, double x) {
    if (t.dtype == QKV_F32) static_cast<float *>(t.data)[k] = static_cast<float>(x);
    if (t.dtype == QKV_I32) static_cast<std::int32_t *>(t.data)[k] = static_cast<std::int32_t>(x);
    if (t.dtype == QKV_BF16)
      static_cast<std::uint16_t *>(t.data)[k] = qkv::to_bf16(static_cast<float>(x));
  }
  array numbers() const {
    array a;
    std::int64_t n = 1;
    for (int d = 0; d < t.rank; ++d) n *= t.extent[d];
    a.shape.assign(t.extent, t.extent + t.rank);
    for (std::int64_t k = 0; k < n; ++k)
      a.data.push_back(t.dtype == QKV_F32
                           ? static_cast<float *>(t.data)[k]
                           : qkv::from_bf16(static_cast<std::uint16_t *>(t.data)[k]));
    return a;
  }
};

const program &program_of(const std::vector<program> &all, const std::string &name) {
  return *std::find_if(all.begin(), all.end(), [&](const program &p) { return p.name == name; });
}

named_array named_of(const program &p, qkv::codegen::node_id n, array a) {
  named_array x{std::move(a), {}};
  for (qkv::codegen::axis_id d : p[n].shape) x.axes.push_back(p.axes[d].name);
  return x;
}

array blank(const program &p, qkv::codegen::node_id n, const qkv::codegen::size_map &sizes) {
  array a;
  std::size_t all = 1;
  for (qkv::codegen::axis_id d : p[n].shape) {
    const qkv::codegen::axis &root = p.axes[p.axes[d].root];
    a.shape.push_back(root.size >= 0 ? root.size : sizes.at(root.name));
    all *= static_cast<std::size_t>(a.shape.back());
  }
  a.data.assign(all, std::nan(""));
  return a;
}

// Every machine in a thread of its own; the status of each.
std::vector<status> on_machines(int n, const std::function<status(qkv::ring::transport &)> &call) {
  qkv::ring::loopback all(n);
  std::vector<status> found(static_cast<std::size_t>(n));
  std::vector<std::thread> threads;
  for (int m = 0; m < n; ++m)
    threads.emplace_back([&, m] { found[static_cast<std::size_t>(m)] = call(all.machine(m)); });
  for (std::thread &t : threads) t.join();
  return found;
}

tokens tokens_of(const qkv::ring::layout &where, int machine) {
  tokens t;
  for (const auto &r : where.queries(machine)) t.queries.push_back({r.first, r.n});
  for (const auto &r : where.keys(machine)) t.keys.push_back({r.first, r.n});
  return t;
}

// A call of one kernel with whole arguments, on one machine or on many.
class calls {
 public:
  calls(const program &p, const kernel &k, const qkv::codegen::size_map &sizes)
      : p_(p), k_(k), sizes_(sizes), in_(arguments_for(p, sizes, seed_or(5))) {
    for (auto n : p.arguments)  // as memory has them
      if (p[n].type == qkv::f32 || p[n].type == qkv::bf16)
        in_[p[n].name] = dense(in_.at(p[n].name), p[n].type).numbers();
    const auto found = qkv::kernels(k.name);
    REQUIRE(found.size() == 1);
    table_ = found[0];
  }

  // Of results that are not rounded.
  arrays reference() const {
    return qkv::codegen::interpret(qkv::codegen::widened(p_), in_, sizes_);
  }

  arrays on_one() const {
    std::vector<dense> all;
    for (auto n : p_.arguments) all.emplace_back(in_.at(p_[n].name), p_[n].type);
    for (auto n : p_.outputs) all.emplace_back(blank(p_, n, sizes_), p_[n].type);
    std::vector<qkv_tensor> list;
    for (dense &d : all) list.push_back(d.t);
    const status s = qkv::run(*table_, list);
    INFO(s.text());
    REQUIRE(s.ok());
    arrays results;
    for (std::size_t o = 0; o < p_.outputs.size(); ++o)
      results[p_[p_.outputs[o]].name] = all[p_.arguments.size() + o].numbers();
    return results;
  }

  // `change` may spoil the tensors of a machine.
  std::vector<status> on_many(
      const qkv::ring::layout &where, arrays &results, int threads = 1,
      const std::function<void(int, std::vector<qkv_tensor> &)> &change = {}) const {
    std::vector<named_array> wholes;
    for (auto n : p_.outputs) wholes.push_back(named_of(p_, n, blank(p_, n, sizes_)));
    std::mutex putting;
    const auto found = on_machines(where.machines(), [&](qkv::ring::transport &t) {
      const tokens own = tokens_of(where, t.rank());
      std::vector<dense> all;
      std::vector<named_array> parts;
      for (auto n : p_.arguments)
        all.emplace_back(
            part_of_machine(named_of(p_, n, in_.at(p_[n].name)), k_.query, k_.key, own).a,
            p_[n].type);
      for (std::size_t o = 0; o < p_.outputs.size(); ++o) {
        parts.push_back(part_of_machine(wholes[o], k_.query, k_.key, own));
        all.emplace_back(parts[o].a, p_[p_.outputs[o]].type);
      }
      std::vector<qkv_tensor> list;
      for (dense &d : all) list.push_back(d.t);
      if (change) change(t.rank(), list);
      qkv::options how;
      how.threads = threads;
      const status s =
          qkv::ring::run_parts(*table_, t, where, list, how, {std::chrono::seconds(20)});
      std::lock_guard hold(putting);
      for (std::size_t o = 0; o < parts.size(); ++o) {
        parts[o].a = all[p_.arguments.size() + o].numbers();
        put_part(wholes[o], parts[o], k_.query, k_.key, own);
      }
      return s;
    });
    for (std::size_t o = 0; o < p_.outputs.size(); ++o)
      results[p_[p_.outputs[o]].name] = wholes[o].a;
    return found;
  }

 private:
  const program &p_;
  const kernel &k_;
  const qkv::codegen::size_map sizes_;
  arrays in_;
  const qkv_kernel *table_ = nullptr;
};

void require_ok(const std::vector<status> &all) {
  for (const status &s : all) {
    INFO(s.text());
    REQUIRE(s.ok());
  }
}

double distance(const arrays &a, const arrays &b) {
  double most = 0;
  for (const auto &[name, x] : a)
    for (std::size_t k = 0; k < x.data.size(); ++k) {
      const double d = std::fabs(x.data[k] - b.at(name).data[k]);
      if (x.data[k] != b.at(name).data[k]) most = std::max(most, std::isnan(d) ? 1e9 : d);
    }
  return most;
}

using make = qkv::ring::layout (*)(int, std::int64_t, std::int64_t);
const std::pair<const char *, make> layouts[] = {
    {"contiguous", &qkv::ring::contiguous},
    {"zigzag", &qkv::ring::zigzag},
    {"stripes",
     [](int p, std::int64_t n, std::int64_t m) { return qkv::ring::stripes(p, n, m, 3); }}};

qkv::codegen::size_map sizes_for(const program &p, std::int64_t n, std::int64_t m) {
  qkv::codegen::size_map sizes = small_sizes(p);
  sizes["seq"] = n;
  if (sizes.count("mem")) sizes["mem"] = m;
  return sizes;
}

}  // namespace

TEST_CASE("compiled kernels on 1 to 8 machines give the results of one") {
  const std::vector<program> programs = ring_programs();
  for (const kernel &k : kernels) {
    const program &p = program_of(programs, k.name);
    for (const auto &[n, m] : {std::pair<std::int64_t, std::int64_t>{70, 51}, {5, 3}, {1, 1}}) {
      const qkv::codegen::size_map sizes = sizes_for(p, n, m);
      const calls c(p, k, sizes);
      const arrays reference = c.reference(), one = c.on_one();
      const double of_one = distance(reference, one);
      for (const int machines : {1, 2, 3, 8})
        for (const auto &[name, make_layout] : layouts) {
          INFO(k.name << ": " << machines << " machines, " << name << ", " << n << " x " << m);
          const bool same = !sizes.count("mem");
          arrays many, again;
          require_ok(c.on_many(make_layout(machines, n, same ? n : m), many));
          CHECK(distance(reference, many) <= 2 * of_one + 1e-6);
          require_ok(c.on_many(make_layout(machines, n, same ? n : m), again, 2));
          CHECK(distance(many, again) == 0);
        }
    }
  }
}

TEST_CASE("what is wrong on one machine is the status of all, before any data travel") {
  const std::vector<program> programs = ring_programs();
  const program &p = program_of(programs, "cross");
  const qkv::codegen::size_map sizes = sizes_for(p, 20, 14);
  const calls c(p, kernels[0], sizes);
  const auto all_say = [&](const std::string &text, int machines,
                           const std::function<void(int, std::vector<qkv_tensor> &)> &change) {
    arrays results;
    for (const status &s : c.on_many(qkv::ring::zigzag(machines, 20, 14), results, 1, change))
      CHECK(s.text() == text);
    for (const auto &[name, x] : results)
      for (const double y : x.data) CHECK(std::isnan(y));  // as they were
  };
  all_say("cross: axis mem is 3 in K but 4 on machine 2", 4, [](int m, std::vector<qkv_tensor> &t) {
    if (m == 2) t[1].extent[2] = 3;
  });
  all_say("cross: V has no memory", 3, [](int m, std::vector<qkv_tensor> &t) {
    if (m == 1) t[2].data = nullptr;
  });
  all_say("cross: Q is bf16, not f32", 3, [](int m, std::vector<qkv_tensor> &t) {
    if (m == 0) t[0].dtype = QKV_BF16;
  });
  all_say("cross: axis batch is 1 on machine 1 but 2 on machine 0", 3,
          [](int m, std::vector<qkv_tensor> &t) {
            if (m == 1)
              for (qkv_tensor &x : t) x.extent[0] = 1;
          });
}

TEST_CASE("a machine that says nothing is a status of the others after the deadline") {
  const std::vector<program> programs = ring_programs();
  const auto found = qkv::kernels("cross");
  REQUIRE(found.size() == 1);
  const auto all = on_machines(2, [&](qkv::ring::transport &t) -> status {
    if (t.rank() == 1) return {};
    return qkv::ring::run_parts(*found[0], t, qkv::ring::contiguous(2, 2, 2), {}, {},
                                {std::chrono::milliseconds(50)});
  });
  CHECK(all[0].code() == qkv::status_code::peer_silent);
  CHECK(std::string(all[0].text()) == "some machine said nothing for 0.05 s");
}
