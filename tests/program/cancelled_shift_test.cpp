// SPDX-License-Identifier: BSL-1.0
// Which maxima leave no trace in the results.
#include "codegen/program/cancelled_shift.hpp"

#include <algorithm>
#include <qkv/dsl.hpp>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"

namespace qkv::testing {
namespace {

constexpr axis<"seq"> seq;
constexpr axis<"keys"> keys;
constexpr axis<"d"> d;
constexpr alias<"later", seq> later;

using S_ = in<"S", seq, keys>;
using V_ = in<"V", keys, d>;

// Of the only maximum of a kernel.
template <class Kernel>
bool leaves_no_trace(const Kernel &kernel) {
  const codegen::program p = codegen::make_program(kernel);
  const auto it = std::find_if(p.nodes.begin(), p.nodes.end(),
                               [](const codegen::node &n) { return n.kind == core::op::max_over; });
  REQUIRE(it != p.nodes.end());
  return codegen::is_cancelled(p, static_cast<codegen::node_id>(it - p.nodes.begin()));
}

}  // namespace

TEST_CASE("cancelled shift: quotients of sums, and logarithms with the shift added again") {
  CHECK(leaves_no_trace(kernel<"quotient">([](S_ S, V_ V) -> out<"O", seq, d> {
    auto e = exp(S - max<keys>(S));
    return dot<keys>(e, V) / sum<keys>(e);
  })));
  CHECK(leaves_no_trace(kernel<"logsumexp_by_hand">([](S_ S) -> out<"O", seq> {
    auto m = max<keys>(S);
    return m + log(sum<keys>(exp(S - m)));
  })));
  CHECK(leaves_no_trace(kernel<"not_0">([](S_ S, V_ V) -> out<"O", seq, d> {
    auto e = exp(S - max<keys>(S));
    auto l = sum<keys>(e);
    return where(l > 0, dot<keys>(e, V) / l, 0);
  })));
  CHECK(leaves_no_trace(kernel<"squares">([](S_ S) -> out<"O", seq> {
    auto e = exp(S - max<keys>(S));
    auto l = sum<keys>(e);
    return sum<keys>(e * e) / (l * l);
  })));
}

TEST_CASE("cancelled shift: what is a result, is added to a number or meets another row is not") {
  CHECK(!leaves_no_trace(kernel<"maximum">([](S_ S) -> out<"O", seq> { return max<keys>(S); })));
  CHECK(!leaves_no_trace(
      kernel<"sum_alone">([](S_ S) -> out<"O", seq> { return sum<keys>(exp(S - max<keys>(S))); })));
  CHECK(!leaves_no_trace(kernel<"one_more">([](S_ S, V_ V) -> out<"O", seq, d> {
    auto e = exp(S - max<keys>(S));
    return dot<keys>(e, V) / (sum<keys>(e) + 0.5);
  })));
  CHECK(!leaves_no_trace(kernel<"other_row">([](S_ S) -> out<"O", seq, later> {
    auto l = sum<keys>(exp(S - max<keys>(S)));
    return broadcast<later>(l) / broadcast<seq>(rename<seq, later>(l));
  })));
  CHECK(!leaves_no_trace(kernel<"all_rows">([](S_ S) -> out<"O", keys> {
    auto e = exp(S - max<keys>(S));
    return sum<seq>(plain(e)) / sum<seq, keys>(plain(e));
  })));
  CHECK(!leaves_no_trace(kernel<"rounded">([](S_ S, V_ V) -> out<"O", seq, d> {
    auto e = exp(S - max<keys>(S));
    return cast<f32>(cast<i32>(8 * dot<keys>(e, V))) / sum<keys>(e);
  })));
}

}  // namespace qkv::testing
