// SPDX-License-Identifier: BSL-1.0
// How memory and time grow with the number of positions: linearly, wherever the formula allows it.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/kernels/by_name.hpp"

using namespace qkv::testing;

TEST_CASE("memory grows with positions, never with their pairs") {
  const std::vector<std::pair<const char *, std::vector<const char *>>> kernels = {
      {"full", {"seq", "mem"}},
      {"causal_self", {"seq"}},
      {"biased", {"seq", "mem"}},
      {"softcapped", {"seq", "mem"}},
      {"grouped", {"seq", "mem"}},
      {"bahdanau", {"seq", "mem"}},
      {"with_lse", {"seq", "mem"}},
      {"low_rank", {"seq", "mem"}},
      {"sigmoid_weights", {"seq", "mem"}},
      {"gated_difference", {"seq", "mem"}},
      {"linear_either_way", {"seq", "mem"}},
      {"absorbed", {"seq", "mem"}},
      {"linear_causal", {"seq"}},
      {"gated_delta", {"seq"}}};
  for (const auto &[name, axes] : kernels) {
    const auto at = [&](std::int64_t n) {
      sizes s = {{"batch", 1}};
      for (const char *a : axes) s[a] = n;
      return bytes(name, s);
    };
    const std::size_t few = at(512), many = at(2048);
    INFO(name << ": " << few << " bytes for 512 positions, " << many << " for 2048");
    CHECK(many <= 4 * few + 65536);
  }
}

TEST_CASE("the time of linear attention and of values of low rank grows with positions") {
  struct growing {
    const char *name;
    sizes few, many;  // four times the positions
  };
  for (const growing &g :
       {growing{"linear_either_way",
                {{"batch", 1}, {"seq", 2048}, {"mem", 2048}},
                {{"batch", 1}, {"seq", 8192}, {"mem", 8192}}},
        growing{"linear_causal", {{"batch", 1}, {"seq", 1024}}, {{"batch", 1}, {"seq", 4096}}},
        growing{"low_rank",
                {{"batch", 1}, {"seq", 1024}, {"mem", 256}},
                {{"batch", 1}, {"seq", 4096}, {"mem", 256}}}}) {
    const auto [few, many] = seconds(g.name, g.few, g.many);
    INFO(g.name << ": " << few * 1e3 << " ms, " << many * 1e3
                << " ms for four times the positions");
    CHECK(many < 7 * few);  // sixteen times, if every pair took part
  }
}

TEST_CASE("the time of short documents grows with positions") {
  // every token begins a document here: blocks of other documents are skipped
  const auto [few, many] =
      seconds("packed", {{"batch", 1}, {"seq", 1024}}, {{"batch", 1}, {"seq", 4096}});
  INFO(few * 1e3 << " ms, " << many * 1e3 << " ms for four times the positions");
  CHECK(many < 7 * few);  // sixteen times, if every block took part
}

TEST_CASE("few queries do not pay for what all keys would need") {
  // one query: keys and values of few numbers are read as they are, in place of being widened for
  // every head
  const auto [one, many] = seconds("absorbed", {{"batch", 1}, {"seq", 1}, {"mem", 4096}},
                                   {{"batch", 1}, {"seq", 256}, {"mem", 4096}});
  INFO(one * 1e3 << " ms for one query, " << many * 1e3 << " ms for 256");
  CHECK(one < many / 4);
}
