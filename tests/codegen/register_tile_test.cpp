// SPDX-License-Identifier: BSL-1.0
// Register tiles of the result: they have the fewest loads, and those of several rows fit.
#include "codegen/plan/on_machine/register_tile.hpp"

#include <string>

#include "codegen/machines/machines.hpp"
#include "tests/catch.hpp"

using namespace qkv::codegen;

namespace {

const machine &called(const std::string &name) {
  for (const machine &m : machines())
    if (m.name == name) return m;
  FAIL("there is no machine " << name);
  return machines().front();
}

// "vectors x rows" of a tile of f32.
std::string tile(const std::string &name, int columns, int rows) {
  const cpu_tiles &m = called(name).cpu;
  const register_tile t = register_tile_of(m, columns, rows, m.lanes(32));
  return std::to_string(t.vectors) + " x " + std::to_string(t.rows);
}

}  // namespace

TEST_CASE("a register tile has the fewest loads for a product") {
  CHECK(tile("x86-64-v3", 64, 48) == "2 x 6");
  CHECK(tile("x86-64-v3", 72, 48) == "3 x 4");
  CHECK(tile("x86-64-v4", 64, 32) == "4 x 4");
  CHECK(tile("x86-64-v4", 80, 32) == "5 x 4");
  CHECK(tile("x86-64-v4", 96, 32) == "6 x 4");
  CHECK(tile("x86-64-v4", 64, 48) == "4 x 6");
  CHECK(tile("x86-64-v4", 128, 6) == "4 x 6");
  CHECK(tile("x86-64-v4", 256, 6) == "4 x 6");
  CHECK(tile("x86-64-v4", 128, 4) == "4 x 4");
  CHECK(tile("x86-64-v4", 256, 4) == "4 x 4");
  CHECK(tile("x86-64-v4", 104, 6) == "13 x 1");
  CHECK(tile("x86-64-v3", 64, 6) == "2 x 6");
  CHECK(tile("x86-64-v3", 128, 6) == "2 x 6");
  CHECK(tile("x86-64-v3", 128, 4) == "4 x 2");
  CHECK(tile("x86-64-v4", 128, 1) == "8 x 1");
  CHECK(tile("x86-64-v4", 256, 1) == "16 x 1");
  CHECK(tile("x86-64-v4", 16, 1) == "1 x 1");
}

TEST_CASE("register tiles divide rows and columns, and those of several rows fit the registers") {
  for (const machine &m : machines()) {
    if (!m.is_host()) continue;
    const int lanes = m.cpu.lanes(32);
    for (int columns = 1; columns <= 300; ++columns)
      for (const int rows : {1, 4, 6, 16, 32, 48, 64}) {
        const register_tile t = register_tile_of(m.cpu, columns, rows, lanes);
        INFO(m.name << " " << columns << " " << rows);
        REQUIRE(t.vectors > 0);
        CHECK(columns % (t.vectors * t.lanes) == 0);
        CHECK(rows % t.rows == 0);
        if (rows == 1) continue;
        CHECK(t.vectors * t.rows <= m.cpu.sum_registers);
        CHECK(t.vectors * t.rows + t.vectors + 1 <= m.cpu.registers);
      }
  }
}

TEST_CASE("a single row reads long runs of values, whatever registers hold") {
  const cpu_tiles &m = called("x86-64-v3").cpu;
  const register_tile alone = register_tile_of(m, 256, 1, 8);
  CHECK(alone.vectors == 32);
  CHECK(alone.rows == 1);
  const register_tile several = register_tile_of(m, 256, 6, 8);
  CHECK(several.vectors * several.rows <= m.sum_registers);
}

TEST_CASE("columns that the call decides have tiles of one vector") {
  const cpu_tiles &m = called("x86-64-v4").cpu;
  const register_tile unknown = register_tile_of(m, std::nullopt, 32, 16);
  CHECK(unknown.vectors == 1);
  CHECK(unknown.lanes == 16);
}
