// SPDX-License-Identifier: BSL-1.0
// Libraries of kernels that use the program's runtime are loaded and unloaded.
#include <qkv/registry.hpp>

#include "fake.hpp"
#include "plugin_handle.hpp"
#include "plugin_spec.hpp"

namespace {

using plugin::plugged;
using qkv::status;
using qkv::status_code;

struct arguments {
  plugin::tensor<plugin::one> X, Y;
  status call() { return qkv::call<plugged>(X, Y); }
};

}  // namespace

TEST_CASE("a library that uses the program's runtime is unloaded and loaded again") {
  arguments a;
  CHECK(a.call().code() == status_code::not_linked);
  qkv::prepared prepared;
  const qkv_tensor t[] = {a.X.descriptor(), a.Y.descriptor()};
  for (int i = 0; i < 3; ++i) {
    {
      const plugged_in p("plugin_1.so");
      REQUIRE(a.call().ok());
      CHECK(a.Y(0) == 1);
      CHECK(!prepared.run(t).ok());
      REQUIRE(qkv::prepared::make(*qkv::kernels("plugged").front(), {}, prepared).ok());
      CHECK(prepared.run(t).ok());
    }
    CHECK(!is_loaded("plugin_1.so"));
    CHECK(qkv::kernels("plugged").empty());
    CHECK(a.call().code() == status_code::not_linked);
    CHECK(prepared.run(t).code() == status_code::not_linked);
    CHECK(prepared.run(t).text() ==
          std::string("plugged: its library was unloaded after it was prepared"));
  }
  {
    const plugged_in p("plugin_1.so");
    CHECK(a.call().ok());
    CHECK(prepared.run(t).code() == status_code::not_linked);  // that was another library
  }
  const plugged_in p("plugin_2.so");
  REQUIRE(a.call().ok());
  CHECK(a.Y(0) == 2);
}

TEST_CASE("two libraries have a kernel of one name") {
  arguments a;
  const plugged_in p("plugin_1.so");
  {
    const plugged_in other("plugin_2.so");
    CHECK(a.call().code() == status_code::wrong_version);
    CHECK(
        a.call().text() ==
        std::string("plugged: the libraries first and second have different kernels of this name"));
    CHECK(qkv::prepare<plugged>().status().code() == status_code::wrong_version);
  }
  CHECK(a.call().ok());
  const plugged_in same("plugin_3.so");  // with the same fingerprint
  CHECK(a.call().ok());
  CHECK(qkv::kernels("plugged").size() == 2);
}

TEST_CASE("registering is safe against nonsense") {
  qkv_register_library(nullptr);
  qkv_unregister_library(nullptr);
  qkv_library none{"none", nullptr, 3, 0, nullptr};
  qkv_register_library(&none);
  qkv_unregister_library(&none);
  const qkv_kernel *const kernels[] = {&fake::blend_self().table};
  qkv_library negative{"negative", kernels, -3, 0, nullptr}, twice{"twice", kernels, 1, 0, nullptr};
  qkv_register_library(&negative);
  qkv_register_library(&twice);
  qkv_register_library(&twice);
  CHECK(qkv::kernels("blend_self").size() == 1);
  qkv_unregister_library(&twice);
  qkv_unregister_library(&twice);
  CHECK(qkv::kernels("blend_self").empty());
  qkv_unregister_library(&negative);
}
