// SPDX-License-Identifier: BSL-1.0
// Events in a process around its calls: unloading a library whose threads sleep, fork(), calls
// before main.
#include <qkv/registry.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "fake.hpp"
#include "in_child.hpp"
#include "plugin_handle.hpp"
#include "process/threads.hpp"
#include "tests/catch.hpp"
#include "typed.hpp"

namespace {

using namespace spec;
using qkv::options;
using qkv::status;
using qkv::status_code;

struct loop {
  std::atomic<int> sum{0};
  bool run(int threads) {
    sum = 0;
    qkv::detail::parallel_for(
        100, threads, [](void *self, int i) { static_cast<loop *>(self)->sum += i; }, this);
    return sum == 4950;
  }
};

}  // namespace

TEST_CASE("a library with a runtime of its own is unloaded and loaded again") {
  const std::ptrdiff_t before = threads_of_process();
  for (int i = 0; i < 20; ++i) {
    {
      const plugged_in p("plugin_own.so");
      CHECK(p.function<int()>("plugin_call")() == 7);
    }
    CHECK(!is_loaded("plugin_own.so"));
    CHECK(threads_of_process() == before);
  }
}

TEST_CASE("two libraries with runtimes of their own share a Halide runtime") {
  const plugged_in halide("fake_halide.so");
  const auto use = halide.function<int()>("fake_halide_use");
  const auto untouched = halide.function<bool()>("fake_halide_is_untouched");
  for (const bool first_is_unloaded_first : {true, false}) {
    auto first = std::make_unique<plugged_in>("plugin_own_1.so");
    auto second = std::make_unique<plugged_in>("plugin_own_2.so");
    CHECK(first->function<int()>("plugin_call")() == 1);
    CHECK(second->function<int()>("plugin_call")() == 2);
    CHECK(!untouched());
    CHECK(use() == 4);
    (first_is_unloaded_first ? first : second).reset();
    CHECK(use() == 4);
    const plugged_in &left = first_is_unloaded_first ? *second : *first;
    CHECK(left.function<int()>("plugin_call")() == (first_is_unloaded_first ? 2 : 1));
    CHECK(use() == 4);
    first.reset();
    second.reset();
    CHECK(untouched());
    CHECK(use() == 4);
    CHECK(!is_loaded("plugin_own_1.so"));
    CHECK(!is_loaded("plugin_own_2.so"));
  }
}

namespace {

// The library with the kernel, registered before every static initialiser, as generated libraries
// are.
const fake::loaded *early = nullptr;
__attribute__((constructor(101))) void load() {
  static const fake::loaded library("fake", {&fake::blend().table, &fake::project().table});
  early = &library;
}

struct called_before_main {
  tensor<batch, seq, d> Q{{2, 3}}, O{{2, 3}};
  tensor<batch, kv, d> K{{2, 5}}, V{{2, 5}};
  status said;
  bool looped;
  called_before_main() {
    Q.fill(1), K.fill(2), V.fill(3);
    said = qkv::call<blend>(options{.threads = 4}, Q, K, V, O);
    looped = loop().run(4);
  }
  bool right() const {
    return std::all_of(O.begin(), O.end(), [](float x) { return x == 31; });
  }
  status call() {
    O.fill(0);
    const status s = qkv::call<blend>(Q, K, V, O);
    return s.ok() && !right() ? status_code::kernel_failed : s;
  }
};
called_before_main before_main;

}  // namespace

TEST_CASE("calls before main") {
  CHECK(before_main.said.ok());
  CHECK(before_main.right());
  CHECK(before_main.looped);
}

namespace {

bool memory_of_a_new_workspace() {
  qkv::workspace w;
  void *const p = w.take(100);
  w.give_back(p);
  return p;
}

// The work of a forked child: everything that takes a lock.
bool child_works(called_before_main &a, qkv::workspace &mine) {
  loop l;
  tensor<seq, k> X({4, 5});
  tensor<k, n, m> W({5, 3, 3});
  tensor<seq, n, m> Y({4, 3, 3});
  return a.call().ok() && l.run(4) && l.run(4) &&
         qkv::call<spec::project>(options{.workspace = &mine}, X, W, Y).ok() &&
         qkv::call<spec::project>(X, W, Y).ok() && memory_of_a_new_workspace() &&
         qkv::kernels().size() >= 2;
}

}  // namespace

TEST_CASE("a child is forked while threads sleep") {
  loop l;
  REQUIRE(l.run(4));
  qkv::workspace mine;
  CHECK(in_child([&] { return child_works(before_main, mine); }) == "");
  CHECK(in_child([&] {
          return child_works(before_main, mine) &&
                 in_child([&] { return child_works(before_main, mine); }) == "";
        }) == "");
  CHECK(l.run(4));
}

TEST_CASE("a child is forked while threads work") {
  qkv::workspace mine;
  std::atomic<bool> enough{false};
  std::atomic<int> failed{0};
  const auto work = [&] {
    loop l;
    tensor<seq, k> X({4, 5});
    tensor<k, n, m> W({5, 3, 3});
    tensor<seq, n, m> Y({4, 3, 3});
    qkv_library passing{"passing", nullptr, 0, 0, nullptr};
    const qkv_kernel *const none[] = {nullptr};
    passing.kernels = none;
    while (!enough) {
      failed += !l.run(3);
      failed += !qkv::call<spec::project>(options{.workspace = &mine}, X, W, Y).ok();
      failed += !qkv::call<spec::project>(X, W, Y).ok();
      failed += !memory_of_a_new_workspace();
      qkv_register_library(&passing);
      qkv_unregister_library(&passing);
    }
  };
  std::vector<std::jthread> all;
  for (int i = 0; i < 4; ++i) all.emplace_back(work);
  std::string wrong;
  for (int i = 0; i < 200 && wrong.empty(); ++i)
    wrong = in_child([&] { return child_works(before_main, mine); });
  enough = true;
  all.clear();
  CHECK(wrong == "");
  CHECK(failed == 0);
}

TEST_CASE("a child is forked before the first call, while a thread is inside the runtime") {
  const plugged_in p("plugin_own.so");
  const auto locked = p.function<void(void (*)(void *), void *)>("plugin_locked");
  const auto call = p.function<int()>("plugin_call");
  std::atomic<bool> inside{false};
  std::jthread other([&] {
    locked(
        [](void *entered) {
          static_cast<std::atomic<bool> *>(entered)->store(true);
          std::this_thread::sleep_for(std::chrono::milliseconds(50));  // fork() waits for this
        },
        &inside);
  });
  while (!inside) std::this_thread::yield();
  CHECK(in_child([&] { return call() == 7; }) == "");
}
