// SPDX-License-Identifier: BSL-1.0
// A library with the same compiled kernels as the program is loaded and unloaded: both work, each
// with its own code.
#include <qkv/call.hpp>

#include "compiled.hpp"
#include "plugin_handle.hpp"

namespace {

using namespace compiled;
using qkv::status_code;

struct problem {
  tensor<batch, heads, seq, compiled::d> Q{{2, 300}}, O{{2, 300}};
  tensor<batch, heads, kv, compiled::d> K{{2, 200}}, V{{2, 200}};
  qkv::workspace little{std::size_t{100}};
  bool works() {
    return qkv::call<attend>(qkv::options{.threads = 4}, Q, K, V, O).ok() &&
           qkv::call<attend>(qkv::options{.workspace = &little}, Q, K, V, O).code() ==
               status_code::out_of_memory;
  }
};

}  // namespace

TEST_CASE("compiled kernels in a library that is unloaded and loaded again") {
  problem p;
  for (const bool program_first : {true, false}) {
    if (program_first) REQUIRE(p.works());
    const std::ptrdiff_t before = threads_of_process();
    for (int i = 0; i < 5; ++i) {
      {
        const plugged_in library("plugin_compiled.so");
        CHECK(library.function<int()>("plugin_attend")() == 0);
        CHECK(library.function<int()>("plugin_refused")() ==
              static_cast<int>(status_code::too_large));
        CHECK(p.works());
      }
      CHECK(!is_loaded("plugin_compiled.so"));
      CHECK(threads_of_process() == before);
      CHECK(p.works());
    }
  }
}
