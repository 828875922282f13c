// SPDX-License-Identifier: BSL-1.0
// Panels hold every element where kernel.h defines it, zero elsewhere, whatever the strides of the
// param.
#include "call/pack.hpp"

#include <random>

#include "fake.hpp"
#include "tests/catch.hpp"

namespace {

using qkv::detail::panels;

// A param [a, b, c, e] with its axes in some groups, packed and compared element by element.
void try_groups(std::vector<std::int32_t> outer, std::vector<std::int32_t> rows,
                std::vector<std::int32_t> columns, int panel, std::vector<std::int64_t> extent) {
  fake::library l("packed", {{"a"}, {"b"}, {"c"}, {"e"}}, {{"W", QKV_PARAM, QKV_F32, {0, 1, 2, 3}}},
                  [](void **) { return 0; });
  const qkv_pack layout = {0,
                           panel,
                           static_cast<int>(outer.size()),
                           static_cast<int>(rows.size()),
                           static_cast<int>(columns.size()),
                           outer.data(),
                           rows.data(),
                           columns.data()};
  std::vector<float> memory(20000);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i + 1);
  qkv_tensor t = fake::tensor(memory, {extent[0], extent[1], extent[2], extent[3]});
  t.stride[2] += 3;
  t.stride[1] = t.stride[2] * t.extent[2] + 1;
  t.stride[0] = 1 + t.stride[1] * t.extent[1];
  panels p;
  REQUIRE(qkv::detail::measure(l.table, layout, t, p).ok());
  std::vector<float> to(p.bytes / sizeof(float), -1);
  qkv::detail::write_panels(layout, t, p, to.data());
  REQUIRE(p.rank == static_cast<int>(outer.size()) + 3);
  CHECK(p.extent[static_cast<std::size_t>(p.rank - 1)] == panel);

  const auto count = [&](const std::vector<std::int32_t> &group) {
    std::int64_t n = 1;
    for (int d : group) n *= extent[static_cast<std::size_t>(d)];
    return n;
  };
  const auto offset = [&](const std::vector<std::int32_t> &group,
                          std::int64_t at) {  // row-major over the group
    std::int64_t o = 0;
    for (std::size_t g = group.size(); g-- > 0;) {
      const std::int64_t e = extent[static_cast<std::size_t>(group[g])];
      o += at % e * t.stride[group[g]];
      at /= e;
    }
    return o;
  };
  std::size_t next = 0;
  const std::int64_t n_columns = count(columns);
  for (std::int64_t o = 0; o < count(outer); ++o) {
    for (std::int64_t block = 0; block * panel < n_columns; ++block) {
      for (std::int64_t r = 0; r < count(rows); ++r) {
        for (int c = 0; c < panel; ++c) {
          const std::int64_t column = block * panel + c;
          const float want =
              column < n_columns
                  ? memory[static_cast<std::size_t>(offset(outer, o) + offset(rows, r) +
                                                    offset(columns, column))]
                  : 0;
          REQUIRE(to.at(next++) == want);
        }
      }
    }
  }
  CHECK(next == to.size());
}

}  // namespace

TEST_CASE("every way to group the axes of a param") {
  try_groups({}, {0}, {1, 2, 3}, 16, {5, 3, 2, 7});
  try_groups({}, {0, 1}, {2, 3}, 8, {5, 3, 2, 4});
  try_groups({}, {2, 3}, {0, 1}, 8, {5, 3, 2, 4});
  try_groups({1}, {0}, {2, 3}, 4, {5, 3, 2, 7});
  try_groups({0, 3}, {2}, {1}, 48, {5, 50, 2, 7});
  try_groups({2}, {3, 0, 1}, {}, 4, {2, 3, 4, 5});
  try_groups({}, {}, {0, 1, 2, 3}, 4, {1, 1, 1, 1});
}

TEST_CASE("empty params become one row of zeros") {
  static const std::int32_t rows[] = {0}, columns[] = {1};
  fake::library l("packed", {{"a"}, {"b"}}, {{"W", QKV_PARAM, QKV_F32, {0, 1}}},
                  [](void **) { return 0; });
  const qkv_pack layout = {0, 8, 0, 1, 1, nullptr, rows, columns};
  for (const auto &[a, b] : {std::pair{0, 5}, {5, 0}, {0, 0}}) {
    const qkv_tensor t = fake::tensor(static_cast<void *>(nullptr), {a, b});
    panels p;
    REQUIRE(qkv::detail::measure(l.table, layout, t, p).ok());
    std::vector<float> to(p.bytes / sizeof(float), -1);
    qkv::detail::write_panels(layout, t, p, to.data());
    CHECK(to.size() >= 8);
    CHECK(std::all_of(to.begin(), to.end(), [](float x) { return x == 0; }));
  }
}
