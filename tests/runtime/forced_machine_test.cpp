// SPDX-License-Identifier: BSL-1.0
// QKV_MACHINE in the environment forces the variants that calls run.
#include <qkv/run.hpp>

#include <cstdlib>
#include <string>

#include "fake.hpp"
#include "tests/catch.hpp"

namespace {

// Before the first call of this process.
const std::string forced = std::string(300, 'x') + ",old";
const int set = setenv("QKV_MACHINE", forced.c_str(), 1);

template <int Number>
int enter(void **args) {
  fake::at<float>(fake::buffer(args, 0), {0}) = Number;
  return 0;
}

}  // namespace

TEST_CASE("the environment forces a variant") {
  fake::library l("number", {{"n", 1}}, {{"Y", QKV_OUT, QKV_F32, {0}}}, enter<1>);
  std::vector<float> y{0};
  const qkv_tensor t = fake::tensor(y, {1});
  REQUIRE(set == 0);
  CHECK(std::string(qkv::run(l.table, {&t, 1}).text()) ==
        "number: QKV_MACHINE is " + forced + ", but the kernel was built for fake");
  l.with(qkv_variant{"old", "host", nullptr, enter<2>, 0, nullptr});
  REQUIRE(qkv::run(l.table, {&t, 1}).ok());
  CHECK(y[0] == 2);
  setenv("QKV_MACHINE", "fake", 1);  // too late
  REQUIRE(qkv::run(l.table, {&t, 1}).ok());
  CHECK(y[0] == 2);
}
