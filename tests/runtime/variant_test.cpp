// SPDX-License-Identifier: BSL-1.0
// A call runs the first variant that this processor can run, reads params as that one wants them,
// and can be made to run another.
#include "call/variant.hpp"

#include <qkv/run.hpp>

#include "fake.hpp"
#include "tests/catch.hpp"

namespace {

using qkv::device;
using qkv::status;
using qkv::status_code;

int always() { return 1; }
int never() { return 0; }

// Y[n] = W[n] + the number of the variant; W is a param that the third variant reads in panels
// of 2.
template <int Number, int Rank>
int enter(void **args) {
  const halide_buffer_t &w = fake::buffer(args, 0), &y = fake::buffer(args, 1);
  if (w.dimensions != Rank) return -8;
  const auto *from = reinterpret_cast<const float *>(w.host);
  for (int i = 0; i < y.dim[0].extent; ++i) fake::at<float>(y, {i}) = from[i] + Number;
  return 0;
}

const std::int32_t columns[] = {0};
const qkv_pack in_panels[] = {{0, 2, 0, 0, 1, nullptr, nullptr, columns}};

struct machines {
  fake::library l{
      "copy", {{"n"}}, {{"W", QKV_PARAM, QKV_F32, {0}}, {"Y", QKV_OUT, QKV_F32, {0}}}, nullptr};
  std::vector<qkv_variant> variants = {{"future", "host", never, enter<1, 1>, 0, nullptr},
                                       {"big", "host", always, enter<2, 1>, 0, nullptr},
                                       {"small", "host", nullptr, enter<3, 3>, 1, in_panels},
                                       {"gpu", "opencl", nullptr, enter<4, 1>, 0, nullptr}};
  std::vector<float> w{1, 2, 3, 4}, y{0, 0, 0, 0};
  std::vector<qkv_tensor> t{fake::tensor(w, {4}), fake::tensor(y, {4})};

  const qkv_kernel &kernel() {
    l.table.variants = variants.data();
    l.table.n_variants = static_cast<int>(variants.size());
    return l.table;
  }
  // The machine of the chosen variant, or the text about the refusal; empty: none for the device.
  std::string choice(std::string_view forced, device on = device::host) {
    const qkv_variant *v = nullptr;
    const status s = qkv::detail::variant_for(kernel(), on, forced, v);
    if (!s.ok()) {
      CHECK(s.code() == status_code::unsupported);
      return s.text();
    }
    return v ? v->machine : "";
  }
};

}  // namespace

TEST_CASE("the first variant that this processor can run") {
  machines m;
  CHECK(m.choice("") == "big");
  CHECK(m.choice("", device::opencl) == "gpu");
  CHECK(m.choice("", device::cuda) == "");
  m.variants = {m.variants[0], m.variants[3]};
  CHECK(m.choice("") == "copy: this processor cannot run what the kernel was built for: future");
  m.variants.clear();
  CHECK(m.choice("") == "");
}

TEST_CASE("a variant by the name of its machine") {
  machines m;
  CHECK(m.choice("small") == "small");
  CHECK(m.choice("other,small,big") == "small");
  CHECK(m.choice("gpu,small") == "small");
  CHECK(m.choice("small", device::opencl) == "gpu");  // the name is about another device
  CHECK(m.choice("gpu") == "big");
  CHECK(m.choice("future") ==
        "copy: QKV_MACHINE is future, but this processor cannot run future; it can run big, small");
  CHECK(m.choice("smal") ==
        "copy: QKV_MACHINE is smal, but the kernel was built for future, big, small, gpu");
  m.variants.resize(1);
  CHECK(m.choice("future") ==
        "copy: QKV_MACHINE is future, but this processor cannot run future; it can run none");
}

TEST_CASE("params are laid out for the variant that runs") {
  machines m;
  const auto is = [&](float number) {
    return m.y == std::vector<float>{1 + number, 2 + number, 3 + number, 4 + number};
  };
  REQUIRE(qkv::run(m.kernel(), m.t).ok());
  CHECK(is(2));
  qkv::prepared as_it_is, in_panels_of_two;
  REQUIRE(qkv::prepared::make(m.kernel(), {m.t.data(), 1}, as_it_is).ok());
  m.variants[1].can_run = never;
  REQUIRE(qkv::run(m.kernel(), m.t).ok());
  CHECK(is(3));
  REQUIRE(qkv::prepared::make(m.kernel(), {m.t.data(), 1}, in_panels_of_two).ok());
  m.variants[1].can_run = always;
  REQUIRE(in_panels_of_two.run({&m.t[1], 1}).ok());  // the variant that was prepared for
  CHECK(is(3));
  REQUIRE(as_it_is.run({&m.t[1], 1}).ok());
  CHECK(is(2));
}

TEST_CASE("a kernel without code for the host") {
  machines m;
  m.variants = {m.variants[3]};
  const status s = qkv::run(m.kernel(), m.t);
  CHECK(s.code() == status_code::unsupported);
  CHECK(s.text() == std::string("copy: not built for host"));
  qkv::prepared p;
  CHECK(qkv::prepared::make(m.kernel(), {m.t.data(), 1}, p).text() == std::string(s.text()));
}
