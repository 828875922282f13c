// SPDX-License-Identifier: BSL-1.0
// Whichever request for memory or for a thread fails, an operation returns a status, leaks nothing
// and works the next time.
#include <stdlib.h>
#include <unistd.h>
#include <qkv/device.hpp>
#include <qkv/npy.hpp>
#include <qkv/paged_kv_cache.hpp>
#include <qkv/registry.hpp>
#include <qkv/tool.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <streambuf>

#include "failing.hpp"
#include "fake.hpp"
#include "process/threads.hpp"
#include "tests/catch.hpp"
#include "typed.hpp"

namespace {

using namespace spec;
using failing::operation;
using failing::survived;
using qkv::options;
using qkv::status;
using qkv::status_code;

const fake::loaded registered("fake", {&fake::blend().table, &fake::project().table,
                                       &fake::sdpa_none().table, &fake::sdpa_causal().table});

struct blend_arguments {
  tensor<batch, seq, d> Q{{2, 3}}, O{{2, 3}};
  tensor<batch, kv, d> K{{2, 5}}, V{{2, 5}};
  blend_arguments() { Q.fill(1), K.fill(2), V.fill(3), O.fill(-7); }
  bool right() const {
    return std::all_of(O.begin(), O.end(), [](float x) { return x == 31; });
  }
  bool untouched() const {
    return std::all_of(O.begin(), O.end(), [](float x) { return x == -7; });
  }
};

struct project_arguments {
  tensor<seq, k> X{{4, 5}};
  tensor<k, n, m> W{{5, 3, 3}};
  tensor<seq, n, m> Y{{4, 3, 3}};
};

const status wrong_numbers{status_code::kernel_failed, "wrong numbers"};

}  // namespace

TEST_CASE("what a test of failures must see") {
  static std::vector<void *> kept;
  CHECK(survived({[] { return status{}; }}) == "");
  CHECK(survived({[] {
          ::operator delete(::operator new(8));
          return status{};
        }}) == "throws std::bad_alloc (request 1)");
  CHECK(survived({[] {
          if (void *p = malloc(8)) kept.push_back(p);
          return status{};
        }}) == "the next time: loses 1 blocks (request 1)");
  CHECK(survived({[]() noexcept {
          std::vector<int> v(3);
          return status{};
        }}) == "killed by signal 6 (request 1)");
  CHECK(survived({[] {
          void *p = nullptr, *q = nullptr;
          (void)(!posix_memalign(&p, 64, 8) && !posix_memalign(&q, 64, 8));
          if (!q) std::raise(SIGSEGV);
          free(p), free(q);
          return status{};
        }}) == "killed by signal 11 (request 1)");
  CHECK(survived({[] {
          static bool broken = false;
          void *p = broken ? nullptr : calloc(1, 8);
          broken |= !p;
          free(p);
          return broken ? status_code::out_of_memory : status_code::ok;
        }}) == "the next time: answers: out of memory (request 1)");
  int x = 0;
  CHECK(survived({.run =
                      [&] {
                        x = 1;
                        void *p = aligned_alloc(64, 64);
                        free(p);
                        return p ? status_code::ok : status_code::out_of_memory;
                      },
                  .intact = [&] { return x == 0; }}) == "changed what it should not (request 1)");
  CHECK(survived({[] {
          void *p = realloc(nullptr, 64);
          free(p);
          return p ? status_code::ok : status_code::bad_file;
        }}) == "answers: bad file (request 1)");
  CHECK(in_child([] { return true; }) == "");
  CHECK(in_child([] { return false; }) == "false");
}

TEST_CASE("memory fails in a call") {
  blend_arguments a;
  project_arguments p;
  CHECK(survived({.run =
                      [&] {
                        a.O.fill(-7);
                        const status s =
                            qkv::call<blend>(options{.threads = 4}, a.Q, a.K, a.V, a.O);
                        return s.ok() && !a.right() ? wrong_numbers : s;
                      },
                  .intact = [&] { return a.untouched(); }}) == "");
  CHECK(survived({[&] { return qkv::call<spec::project>(p.X, p.W, p.Y); }}) == "");
  CHECK(survived({.run = [&] { return qkv::call<absent>(p.X, p.X); },
                  .untouched = status_code::not_linked}) == "");
  tensor<seq, k> other({4, 6});
  CHECK(survived({.run = [&] { return qkv::call<spec::project>(other, p.W, p.Y); },
                  .untouched = status_code::wrong_extent}) == "");
  const tensor_view<batch, kv, d> none(nullptr, {2, 0});
  CHECK(survived({[&] { return qkv::call<blend>(a.Q, none, none, a.O); }}) == "");
  const qkv_tensor t[] = {a.Q.descriptor(), a.K.descriptor(), a.V.descriptor(), a.O.descriptor()};
  CHECK(survived({[&] {
          char text[20];
          return static_cast<status_code>(qkv_call(&fake::blend().table, t, 4, text, sizeof text));
        }}) == "");
  CHECK(survived({[&] {
          return static_cast<status_code>(
              qkv_call_with(&fake::blend().table, t, 4, QKV_ACCUMULATE, nullptr, 0));
        }}) == "");
}

TEST_CASE("memory fails while params are prepared") {
  project_arguments p;
  CHECK(survived({[&] {
          const auto prepared = qkv::prepare<spec::project>(p.W);
          if (!prepared.ok()) return prepared.status();
          const auto copy = prepared;
          return copy(p.X, p.Y);
        }}) == "");
}

TEST_CASE("memory fails in tensors and workspaces") {
  CHECK(survived({[] {
          blend_arguments a;
          auto copy = a;
          copy = a;
          const status s = qkv::call<blend>(copy.Q, copy.K, copy.V, copy.O);
          // A tensor without memory gives null_data; the cause is out_of_memory.
          return s.code() == status_code::null_data ? status_code::out_of_memory : s;
        }}) == "");
  project_arguments p;
  CHECK(survived({[&] {
          std::size_t bytes = 0;
          return qkv::workspace_bytes<spec::project>(bytes, options{.threads = 1}, p.X, p.W, p.Y);
        }}) == "");
  CHECK(survived({[&] {
          qkv::workspace mine, limited(std::size_t{10000}), small(p.X.data(), 100);
          void *x = mine.take(100), *y = limited.take(100);
          (void)(mine.peak() + limited.in_use());
          const bool both = x && y;
          mine.give_back(x);
          limited.give_back(y);
          return both ? qkv::call<spec::project>(options{.workspace = &mine}, p.X, p.W, p.Y)
                      : status_code::out_of_memory;
        }}) == "");
}

TEST_CASE("threads fail to start") {
  CHECK(survived({[] {
          std::atomic<int> sum{0};
          qkv::detail::parallel_for(
              1000, 8, [](void *x, int i) { *static_cast<std::atomic<int> *>(x) += i; }, &sum);
          return sum == 499500 ? status{} : wrong_numbers;
        }}) == "");
  CHECK(survived({[] {
          qkv::set_threads(3);
          return qkv::threads() == 3 ? status{} : wrong_numbers;
        }}) == "");
}

namespace {

constexpr axis<"slots"> slots;
constexpr axis<"pages"> pages;
constexpr axis<"blocks"> blocks;
constexpr axis<"slot", 4> slot;
using stored = tensor<batch, slots, d>;
using page = tensor<pages, slot, d>;
using rows = tensor<batch, seq, d>;

// Appends the new positions and removes two of them. A failed append leaves the cache unchanged.
template <class Cache>
operation filling(Cache &cache, const rows &r, const std::vector<std::int32_t> &counts) {
  return {.run =
              [&] {
                cache.clear();
                if (status s = cache.append(r, r); !s) return s;
                if (status s = cache.append(r, r, counts); !s) {
                  (void)cache.truncate(0, 0);
                  (void)cache.truncate(1, 0);
                  return s;
                }
                if (status s = cache.truncate(1, 4); !s) return s;
                return cache.lengths()(0) == 5 && cache.lengths()(1) == 4 ? status{}
                                                                          : wrong_numbers;
              },
          .intact = [&] { return cache.lengths()(0) == 0 && cache.lengths()(1) == 0; }};
}

}  // namespace

TEST_CASE("memory fails in a cache") {
  const rows r({2, 4});
  const std::vector<std::int32_t> counts{1, 4};
  qkv::kv_cache<batch, slots, stored, stored> contiguous(
      extents(extent<batch>(2), extent<slots>(9)));
  const extents sizes(extent<batch>(2), extent<pages>(5), extent<blocks>(3));
  qkv::paged_kv_cache<batch, pages, blocks, slot, page, page> paged(sizes);
  CHECK(survived(filling(contiguous, r, counts)) == "");
  CHECK(survived(filling(paged, r, counts)) == "");
  CHECK(survived({[&] {
          qkv::kv_cache<batch, slots, stored, stored> made(
              extents(extent<batch>(2), extent<slots>(9)));
          if (status s = made.append(r, r); !s) return s;
          auto fork = made;
          return fork.append(r, r);
        }}) == "");
  CHECK(survived({[&] {
          qkv::paged_kv_cache<batch, pages, blocks, slot, page, page> made(sizes);
          if (status s = made.append(r, r); !s) return s;
          auto fork = made;
          if (status s = fork.append(r, r, counts); !s) return s;
          return made.truncate(0, 0);
        }}) == "");
}

namespace {

// A folder for files, removed at the end.
struct folder {
  std::string path = "/tmp/qkv-failure-XXXXXX";
  folder() { REQUIRE(mkdtemp(path.data())); }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string operator/(const char *name) const { return path + "/" + name; }
  std::size_t files() const {
    std::size_t n = 0;
    for (const auto &f : std::filesystem::directory_iterator(path)) n += f.exists();
    return n;
  }
};

}  // namespace

TEST_CASE("memory fails at files") {
  const folder f;
  const std::string path = f / "a.npy";
  const std::int64_t shape[] = {2, 3};
  const std::vector<float> data{1, 2, 3, 4, 5, 6}, other{6, 5, 4, 3, 2, 1};
  const auto holds = [&](const std::vector<float> &x) {
    qkv::npy_array a;
    return qkv::read_npy(path, a).ok() && a.data.size() == 24 &&
           std::memcmp(a.data.data(), x.data(), 24) == 0;
  };
  const auto write = [&](const std::vector<float> &x) {
    return qkv::write_npy(path, qkv::npy_type::f32, shape, x.data());
  };
  REQUIRE(write(data).ok());
  CHECK(survived({[&] {
          qkv::npy_array a;
          return qkv::read_npy(path, a);
        }}) == "");
  // The file stays as it was, and no other one is left beside it.
  CHECK(survived({.run = [&] { return write(other); },
                  .intact = [&] { return (holds(data) || holds(other)) && f.files() == 1; }}) ==
        "");
  CHECK(holds(other));
  CHECK(f.files() == 1);
  CHECK(survived({.run =
                      [&] {
                        qkv::npy_array a;
                        return qkv::read_npy(f.path, a);
                      },
                  .untouched = status_code::bad_file}) == "");
}

TEST_CASE("memory fails where there is no device") {
  blend_arguments a;
  for (const qkv::device on : {qkv::device::cuda, qkv::device::opencl}) {
    CHECK(survived({.run = [&] { return qkv::call<blend>(options{.on = on}, a.Q, a.K, a.V, a.O); },
                    .untouched = status_code::unsupported,
                    .intact = [&] { return a.untouched(); }}) == "");
    CHECK(survived({.run = [&] { return qkv::available(on); },
                    .untouched = status_code::unsupported}) == "");
    CHECK(survived({.run =
                        [&] {
                          qkv::device_memory m;
                          return qkv::device_memory::make(options{.on = on}, 4, 100, m);
                        },
                    .untouched = status_code::unsupported}) == "");
  }
}

namespace {

// The input that a program reads, without memory of its own.
struct input : std::streambuf {
  explicit input(std::string &text) { setg(text.data(), text.data(), text.data() + text.size()); }
};

// A command line that is built before anything fails.
struct command {
  std::vector<std::string> words;
  std::string typed;

  status operator()() {
    std::array<char *, 20> argv{words[0].data()};
    for (std::size_t i = 0; i < words.size(); ++i) argv[1 + i] = words[i].data();
    input in(typed);
    std::streambuf *const before = std::cin.rdbuf(&in);
    std::cin.clear();
    const int code = qkv::tool::main(static_cast<int>(1 + words.size()), argv.data(), no_entries);
    std::cin.rdbuf(before);
    return code == 0 ? status_code::ok : status_code::out_of_memory;
  }
  inline static const std::vector<qkv::tool::entry> no_entries;
};

}  // namespace

TEST_CASE("memory fails in a command of the tool") {
  const folder f;
  const std::int64_t shape[] = {1, 1, 1, 4};
  const std::vector<float> data{1, 2, 3, 4};
  const std::string q = f / "q.npy", o = f / "o.npy";
  REQUIRE(qkv::write_npy(q, qkv::npy_type::f32, shape, data.data()).ok());
  const auto quiet = [&](auto... words) { return survived({command{{words...}, ""}}); };
  std::fflush(nullptr);
  const int out = dup(1), err = dup(2);
  (void)!freopen("/dev/null", "w", stdout);
  (void)!freopen("/dev/null", "w", stderr);
  const std::string list = quiet("list"), describe = quiet("describe", "blend"),
                    run = quiet("run", "sdpa_none", "--in", "Q=" + q, "K=" + q, "V=" + q, "--out",
                                "O=" + o),
                    help = quiet("help");
  const std::string line =
      R"({"dtype": "fp32", "mask": "none", "B": 1, "Hq": 1, "Hkv": 1, "Sq": 1, "Skv": 1, )"
      R"("Dk": 4, "Dv": 4, )"
      R"("window": 0, "softcap": 0, "scale": 0.5, "q": ")" +
      q + R"(", "k": ")" + q + R"(", "v": ")" + q + R"(", "out": ")" + o +
      "\"}\nrun 2\nwrite\nquit\n";
  const std::string serve = survived({command{{"serve"}, line}});
  std::fflush(nullptr);
  dup2(out, 1);
  dup2(err, 2);
  CHECK(list == "");
  CHECK(describe == "");
  CHECK(run == "");
  CHECK(help == "");
  CHECK(serve == "");
}
