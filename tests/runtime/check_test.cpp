// SPDX-License-Identifier: BSL-1.0
// Every wrong call is refused with a text that names argument and axis, before compiled code runs;
// outputs stay as they were.
#include <qkv/run.hpp>

#include <cstring>
#include <limits>

#include "fake.hpp"
#include "tests/catch.hpp"

namespace {

// A right call of the kernel blend with batch 2, seq 3, kv 5; each test breaks one thing.
struct call {
  std::vector<float> q = std::vector<float>(24, 1), k = std::vector<float>(40, 2),
                     v = std::vector<float>(40, 3), o = std::vector<float>(24, -7);
  std::vector<qkv_tensor> t{fake::tensor(q, {2, 3, 4}), fake::tensor(k, {2, 5, 4}),
                            fake::tensor(v, {2, 5, 4}), fake::tensor(o, {2, 3, 4})};
  qkv_kernel kernel = fake::blend().table;

  // The text, or "ok"; checks that a refused call left the output alone.
  std::string run(qkv::status_code want) {
    const std::vector<float> before = o;
    const qkv::status s = qkv::run(kernel, t);
    CHECK(s.code() == want);
    if (!s.ok()) CHECK(o == before);
    return s.text();
  }
};

using qkv::status_code;
constexpr std::int64_t huge = std::int64_t{1} << 40;

}  // namespace

TEST_CASE("a right call runs") {
  call c;
  CHECK(c.run(status_code::ok) == "ok");
  CHECK(c.o == std::vector<float>(24, 1 + 5 * 6));
}

TEST_CASE("wrong number of arguments") {
  call c;
  c.t.pop_back();
  CHECK(c.run(status_code::wrong_count) == "blend: 3 arguments given but 4 needed: Q, K, V, O");
  c.t.clear();
  CHECK(c.run(status_code::wrong_count) == "blend: 0 arguments given but 4 needed: Q, K, V, O");
}

TEST_CASE("tables of another version") {
  call c;
  c.kernel.abi = 99;
  CHECK(c.run(status_code::wrong_version) ==
        "blend: built for version 99 of the runtime's tables, this is 6");
}

TEST_CASE("null data") {
  call c;
  c.t[1].data = nullptr;
  CHECK(c.run(status_code::null_data) == "blend: K has no data");
  c.t[1].data = c.k.data();
  c.t[3].data = nullptr;
  CHECK(c.run(status_code::null_data) == "blend: O has no data");
}

TEST_CASE("wrong dtype") {
  call c;
  c.t[2].dtype = QKV_F64;
  CHECK(c.run(status_code::wrong_dtype) == "blend: V is f64 but must be f32");
  c.t[2].dtype = 77;
  CHECK(c.run(status_code::wrong_dtype) ==
        "blend: V is of dtype 77, which does not exist, but must be f32");
  c.t[2].dtype = -1;
  CHECK(c.run(status_code::wrong_dtype) ==
        "blend: V is of dtype -1, which does not exist, but must be f32");
}

TEST_CASE("wrong rank") {
  call c;
  for (int rank : {-1, 0, 2, 4, 9, std::numeric_limits<int>::max()}) {
    c.t[0].rank = rank;
    CHECK(c.run(status_code::wrong_rank) ==
          "blend: Q has " + std::to_string(rank) + " axes but must have 3: batch, seq, d");
  }
}

TEST_CASE("unknown device") {
  call c;
  c.t[0].device = 3;
  CHECK(c.run(status_code::wrong_device) == "blend: Q is on device 3, which does not exist");
  c.t[0].device = -1;
  CHECK(c.run(status_code::wrong_device) == "blend: Q is on device -1, which does not exist");
}

TEST_CASE("extents that disagree") {
  call c;
  c.t[2].extent[1] = 4;
  CHECK(c.run(status_code::wrong_extent) == "blend: axis kv is 4 in V but 5 in K");
  c.t[2].extent[1] = 5;
  c.t[3].extent[0] = 1;
  CHECK(c.run(status_code::wrong_extent) == "blend: axis batch is 1 in O but 2 in Q");
}

TEST_CASE("an alias that disagrees") {
  call c;
  c.kernel = fake::blend_self().table;
  CHECK(c.run(status_code::wrong_extent) ==
        "blend_self: axis kv is 5 in K but seq, which has the same size, is 3 in Q");
}

TEST_CASE("a static extent") {
  call c;
  c.t[1].extent[2] = 3;
  CHECK(c.run(status_code::wrong_extent) == "blend: axis d is 3 in K but must be 4");
}

TEST_CASE("negative and overflowing extents") {
  call c;
  c.t[0].extent[1] = -3;
  CHECK(c.run(status_code::wrong_extent) == "blend: axis seq is -3 in Q but must be at least 0");
  c.t[0].extent[1] = std::numeric_limits<std::int64_t>::min();
  CHECK(c.run(status_code::wrong_extent) ==
        "blend: axis seq is -9223372036854775808 in Q but must be at least 0");
  c.t[0].extent[1] = std::int64_t{1} << 31;
  CHECK(c.run(status_code::too_large) ==
        "blend: axis seq is 2147483648 in Q but at most 2147479552 fits");
  c.t[0].extent[1] = (std::int64_t{1} << 31) - 4095;  // rounded up to a block of threads: 2^31
  CHECK(c.run(status_code::too_large) ==
        "blend: axis seq is 2147479553 in Q but at most 2147479552 fits");
  c.t[0].extent[1] = (std::int64_t{1} << 31) - 4096;
  CHECK(c.run(status_code::wrong_extent) == "blend: axis seq is 3 in O but 2147479552 in Q");
  c.t[0].extent[1] = std::numeric_limits<std::int64_t>::max();
  CHECK(c.run(status_code::too_large) ==
        "blend: axis seq is 9223372036854775807 in Q but at most 2147479552 fits");
}

TEST_CASE("spans of almost 2^31 elements or more") {
  call c;
  c.t[0].extent[1] = c.t[3].extent[1] = 1 << 30;
  CHECK(c.run(status_code::too_large) ==
        "blend: Q spans more than 2147479552 elements (axis seq: 1073741824 of stride 4)");
  call s;
  s.t[1].stride[0] = huge;
  CHECK(s.run(status_code::too_large) ==
        "blend: K spans more than 2147479552 elements (axis batch: 2 of stride 1099511627776)");
  s.t[1].stride[0] = std::numeric_limits<std::int64_t>::max();
  CHECK(
      s.run(status_code::too_large) ==
      "blend: K spans more than 2147479552 elements (axis batch: 2 of stride 9223372036854775807)");
  s.t[1].stride[0] = 1500000000;
  CHECK(s.run(status_code::too_large) ==
        "blend: stride of axis batch in K is 1500000000 but must be at most 1073741823 for 2 "
        "elements");
}

TEST_CASE("strides") {
  call c;
  c.t[1].stride[2] = 2;
  CHECK(c.run(status_code::wrong_stride) ==
        "blend: stride of d, the innermost axis of K, is 2 but must be 1");
  c.t[1].stride[2] = 0;
  CHECK(c.run(status_code::wrong_stride) ==
        "blend: stride of d, the innermost axis of K, is 0 but must be 1");
  c.t[1].stride[2] = 1;
  c.t[1].stride[1] = -4;
  CHECK(c.run(status_code::wrong_stride) == "blend: stride of axis kv in K is negative: -4");
  c.t[1].stride[1] = std::numeric_limits<std::int64_t>::min();
  CHECK(c.run(status_code::wrong_stride) ==
        "blend: stride of axis kv in K is negative: -9223372036854775808");
}

TEST_CASE("an input of stride 0 is a broadcast") {
  call c;
  c.t[1].stride[0] = c.t[1].stride[1] = 0;
  CHECK(c.run(status_code::ok) == "ok");
  CHECK(c.o == std::vector<float>(24, 31));
}

TEST_CASE("strides of axes with one element have no meaning") {
  call c;
  for (qkv_tensor &t : c.t) {
    t.extent[0] = 1;
    t.stride[0] = -huge;
  }
  CHECK(c.run(status_code::ok) == "ok");
}

TEST_CASE("outputs that overlap themselves") {
  call c;
  c.t[3].stride[0] = 0;
  CHECK(c.run(status_code::overlap) ==
        "blend: output O overlaps itself: axis batch has 2 elements of stride 0");
  c.t[3].stride[0] = 12;
  c.t[3].stride[1] = 3;
  CHECK(c.run(status_code::overlap) ==
        "blend: output O overlaps itself: axis seq has 3 elements of stride 3");
  c.t[3].stride[1] = 4;
  c.t[3].stride[0] = 8;
  CHECK(c.run(status_code::overlap) ==
        "blend: output O overlaps itself: axis batch has 2 elements of stride 8");
}

TEST_CASE("outputs that overlap inputs") {
  call c;
  c.t[0].data = c.o.data();
  CHECK(c.run(status_code::overlap) == "blend: output O overlaps input Q");
  c.t[0].data = c.q.data();
  c.t[2].data = c.o.data() - 39;
  CHECK(c.run(status_code::overlap) == "blend: output O overlaps input V");
}

TEST_CASE("outputs that overlap each other") {
  fake::library two(
      "two", {{"seq"}},
      {{"X", QKV_IN, QKV_F32, {0}}, {"A", QKV_OUT, QKV_F32, {0}}, {"B", QKV_OUT, QKV_F32, {0}}},
      [](void **) { return 0; });
  std::vector<float> x(4), y(8, -7);
  std::vector<qkv_tensor> t{fake::tensor(x, {4}), fake::tensor(y, {4}),
                            fake::tensor(y.data() + 3, {4})};
  qkv::status s = qkv::run(two.table, t);
  CHECK(s.text() == std::string("two: output B overlaps output A"));
  t[2].data = y.data() + 4;
  CHECK(qkv::run(two.table, t).ok());
}

TEST_CASE("columns of one matrix do not overlap") {
  call c;
  std::vector<float> all(2 * 3 * 8, 1);
  for (int i : {0, 3}) {
    c.t[i] = fake::tensor(all.data() + (i ? 4 : 0), {2, 3, 4});
    c.t[i].stride[1] = 8;
    c.t[i].stride[0] = 24;
  }
  CHECK(c.run(status_code::ok) == "ok");
  CHECK(all[0] == 1);
  CHECK(all[4] == 31);
  c.t[3].data = all.data() + 3;
  CHECK(c.run(status_code::overlap) == "blend: output O overlaps input Q");
}

TEST_CASE("misaligned data") {
  call c;
  std::vector<char> raw(200);
  c.t[1].data = raw.data() + 1;
  CHECK(c.run(status_code::misaligned) == "blend: data of K is not aligned to the 4 bytes of f32");
  c.t[1].data = reinterpret_cast<void *>(~std::uintptr_t{3});
  CHECK(c.run(status_code::too_large) == "blend: K ends beyond the address space");
}

TEST_CASE("devices that are not there") {
  call c;
  c.t[0].device = QKV_CUDA;
  CHECK(c.run(status_code::unsupported) ==
        "blend: Q is on cuda, for which the kernel was not built");
  CHECK(qkv::run(c.kernel, c.t, {.on = static_cast<qkv::device>(7)}).text() ==
        std::string("blend: the call is to run on device 7, which does not exist"));
  c.t[1].device = QKV_OPENCL;
  CHECK(c.run(status_code::wrong_device) == "blend: K is on opencl but the call runs on cuda");
}

TEST_CASE("sizes that must fit each other") {
  fake::library l(
      "heads", {{"seq"}, {"d_model"}, {"heads"}, {"d_k", 64}, {"mem"}},
      {{"X", QKV_IN, QKV_F32, {0, 1}}, {"M", QKV_IN, QKV_F32, {4}}, {"Y", QKV_OUT, QKV_F32, {0}}},
      [](void **) { return 0; });
  l.with(std::vector<qkv_condition>{{QKV_PRODUCT, 1, 2, 3, "split<d_model, heads, d_k>"},
                                    {QKV_SAME, 4, 0, -1, "rename<mem, seq>"}});
  std::vector<float> x(1024), m(8), y(8);
  const auto text = [&](std::int64_t seq, std::int64_t d_model, std::int64_t mem) -> std::string {
    return qkv::run(l.table, std::vector{fake::tensor(x, {seq, d_model}), fake::tensor(m, {mem}),
                                         fake::tensor(y, {seq})})
        .text();
  };
  CHECK(text(2, 128, 2) == "ok");
  CHECK(text(2, 500, 2) ==
        "heads: split<d_model, heads, d_k>: d_model is 500, which d_k = 64 does not divide");
  CHECK(text(2, 128, 3) == "heads: rename<mem, seq>: mem is 3 but seq is 2");
  CHECK(qkv::run(l.table,
                 std::vector{fake::tensor(x, {2, 128}), fake::tensor(m, {3}), fake::tensor(y, {2})})
            .code() == status_code::wrong_condition);
  l.with(std::vector<qkv_condition>{{QKV_PRODUCT, 1, 0, 3, "merge<d_model, seq, d_k>"}});
  CHECK(text(2, 128, 2) == "heads: axis heads has no size: no argument carries it");
  // any size goes with parts of size 0, unless another condition decides it
  l.with(std::vector<qkv_condition>{{QKV_PRODUCT, 1, 2, 4, "split<d_model, heads, mem>"},
                                    {QKV_SAME, 2, 0, -1, "rename<heads, seq>"}});
  CHECK(text(2, 0, 0) == "ok");
  CHECK(text(2, 6, 3) == "ok");
  CHECK(text(2, 9, 3) == "heads: rename<heads, seq>: heads is 3 but seq is 2");
  l.with(std::vector<qkv_condition>{{QKV_PRODUCT, 1, 2, 4, "split<d_model, heads, mem>"}});
  CHECK(text(2, 0, 0) == "ok");
}

TEST_CASE("sizes that must add up") {
  fake::library l(
      "cache", {{"past"}, {"new"}, {"all"}},
      {{"P", QKV_IN, QKV_F32, {0}}, {"K", QKV_IN, QKV_F32, {1}}, {"O", QKV_OUT, QKV_F32, {2}}},
      [](void **) { return 0; });
  l.with(std::vector<qkv_condition>{{QKV_SUM, 2, 0, 1, "concat<all>"}});
  std::vector<float> p(8), k(8), o(16);
  const auto text = [&](std::int64_t past, std::int64_t added, std::int64_t all) -> std::string {
    return qkv::run(l.table, std::vector{fake::tensor(p, {past}), fake::tensor(k, {added}),
                                         fake::tensor(o, {all})})
        .text();
  };
  CHECK(text(3, 4, 7) == "ok");
  CHECK(text(0, 4, 4) == "ok");
  CHECK(text(3, 4, 8) == "cache: concat<all>: all is 8 but past + new is 7");
}

TEST_CASE("the C face") {
  call c;
  char text[16] = "?";
  CHECK(qkv_call(&c.kernel, c.t.data(), 4, text, sizeof text) == 0);
  CHECK(std::string(text) == "ok");
  CHECK(qkv_call(&c.kernel, c.t.data(), 3, text, sizeof text) ==
        static_cast<int>(status_code::wrong_count));
  CHECK(std::string(text) == "blend: 3 argume");
  CHECK(qkv_call(nullptr, c.t.data(), 3, text, sizeof text) ==
        static_cast<int>(status_code::not_linked));
  CHECK(qkv_call(&c.kernel, nullptr, 4, text, sizeof text) ==
        static_cast<int>(status_code::wrong_count));
  CHECK(qkv_call(&c.kernel, c.t.data(), -4, nullptr, 0) ==
        static_cast<int>(status_code::wrong_count));
  CHECK(qkv_call(&c.kernel, c.t.data(), 3, text, 0) == static_cast<int>(status_code::wrong_count));
}

TEST_CASE("the C face: a call may add to its outputs") {
  call c;
  REQUIRE(qkv_call_with(&c.kernel, c.t.data(), 4, 0, nullptr, 0) == QKV_OK);
  const std::vector<float> once = c.o;
  REQUIRE(qkv_call_with(&c.kernel, c.t.data(), 4, QKV_ACCUMULATE, nullptr, 0) == QKV_OK);
  for (std::size_t i = 0; i < once.size(); ++i) CHECK(c.o[i] == 2 * once[i]);
  char text[80];
  CHECK(qkv_call_with(&c.kernel, c.t.data(), 4, 6, text, sizeof text) == QKV_UNSUPPORTED);
  CHECK(std::string(text) == "blend: there is no flag 0x6");
}
