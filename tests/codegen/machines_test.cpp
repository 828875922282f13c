// SPDX-License-Identifier: BSL-1.0
// Machines as text: the built-in ones, and what is wrong with others.
#include "codegen/machines/machines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "codegen/machines/halide_target.hpp"
#include "codegen/machines/machine_text.hpp"
#include "codegen/sheets/call_memory.hpp"
#include "tests/catch.hpp"

using namespace qkv::codegen;

namespace {

constexpr std::string_view right = R"(
device = host  # a comment
halide = x86-64-linux-avx2
register_bits = 256
registers = 16
sum_registers = 12
score_registers = 3
score_keys = 8
feature_vectors = 2
attention = rows 16 tile 8 x 128 per_task 1
attention = rows any tile 32 x 128 per_task 16
contraction_rows = 240
value_bytes = 512
both_ways = tile 32 x 64 tasks 8
contraction_vectors = 3 2
map_rows = 8
map_vectors = 4
panels = 48 up_to 16 else 48
weight_keys = 4
unrolled_features = 8
)";

// The text with one line in place of another.
machine with(const std::string &line, const std::string &instead) {
  std::string text(right);
  const std::size_t at = text.find(line);
  REQUIRE(at != std::string::npos);
  return parse_machine("m", text.replace(at, line.size(), instead));
}

// CUDA's with one line more.
machine like_cuda(const std::string &line) {
  return parse_machine("m", "like = cuda\nhalide = x86-64-linux-cuda-cuda_capability_80\n" + line,
                       text_of_machine);
}

std::vector<std::string> names(const std::string &targets) {
  std::vector<std::string> all;
  for (const machine &m : targets_of(targets)) all.push_back(m.device + "/" + m.name);
  return all;
}

}  // namespace

TEST_CASE("the built-in machines are read") {
  CHECK(machines().size() >= 6);
  for (const machine &m : machines()) {
    INFO(m.name);
    CHECK(!m.shapes_for(attention_shape::any).empty());
    CHECK(!m.shapes_for(m.is_host() ? 1 : +attention_shape::none).empty());
  }
}

TEST_CASE("sheets know the largest tiles of the built-in CPUs") {
  using largest = qkv::codegen::largest_tiles;
  std::int64_t task_rows = 0, block_keys = 0;
  int lanes = 0, tasks = 0;
  for (const machine &m : machines()) {
    if (!m.is_host()) continue;
    const qkv::codegen::attention_shape any = m.shapes_for(attention_shape::any).front();
    task_rows = std::max<std::int64_t>(task_rows, any.rows * any.per_task);
    block_keys = std::max<std::int64_t>({block_keys, any.keys, m.cpu.both_ways.usual.keys});
    tasks = std::max(tasks, m.cpu.both_ways.usual.tasks);
    lanes = std::max(lanes, m.cpu.lanes(32));
    CHECK(m.panels == largest::panels);
  }
  CHECK(task_rows == largest::task_rows);
  CHECK(block_keys == largest::block_keys);
  CHECK(tasks == largest::tasks);
  CHECK(lanes == largest::lanes);
}

TEST_CASE("a line of attention is for so many rows, or for some numbers of rows") {
  const machine m = with("attention = rows 16 tile 8 x 128 per_task 1",
                         "attention = rows 5 to 6 tile 6 x 128 per_task 1 keys_in_lanes");
  CHECK(m.attention[0].least_rows == 5);
  CHECK(m.attention[0].rows_of_query == 6);
  CHECK_THROWS_WITH(with("attention = rows 16 tile 8 x 128 per_task 1",
                         "attention = rows 6 to 5 tile 8 x 128 per_task 1"),
                    Catch::Contains("there are no rows from 6 to 5"));
}

TEST_CASE("a line of attention for one block of keys has a tile for all rows") {
  const std::string line = "attention = rows 16 tile 8 x 128 per_task 1";
  CHECK(with(line, "attention = rows 8 tile 8 x 128 per_task 1 one_block").attention[0].one_block);
  CHECK_THROWS_WITH(with(line, line + " one_block"),
                    Catch::Contains("one_block: a tile of 8 rows cannot have rows 16 of a call"));
  CHECK_THROWS_WITH(with("attention = rows any tile 32 x 128 per_task 16",
                         "attention = rows any tile 32 x 128 per_task 16 one_block"),
                    Catch::Contains("cannot have rows any of a call"));
}

TEST_CASE("a machine may be like another") {
  const auto texts = [](const std::string &name) {
    return name == "m" ? right : name == "n" ? "like = m\nhalide = x86-64-linux" : "";
  };
  const auto like_m = [&](const std::string &more) {
    return parse_machine("n", "like = m\nhalide = x86-64-linux-avx2-fma\n" + more, texts);
  };
  const machine same = like_m("");
  CHECK(same.name == "n");
  CHECK(halide_target(same).has_feature(Halide::Target::FMA));
  CHECK(same.cpu.score_keys == 8);
  CHECK(same.attention.size() == 2);
  const machine other = like_m("score_keys = 4\nattention = rows any tile 8 x 64 per_task 1");
  CHECK(other.cpu.score_keys == 4);
  CHECK(other.cpu.sum_registers == 12);
  REQUIRE(other.attention.size() == 1);
  CHECK(other.attention[0].keys == 64);
  CHECK_THROWS_WITH(like_m("sum_registers = 2\nscore_registers = 3"),
                    "n.machine:4: 3 registers do not fit: sum_registers is 2");
  CHECK_THROWS_WITH(like_m("register_bits = 512"), "n.machine: attention is missing");
  CHECK_THROWS_WITH(like_m("sum_registers = 8"), "n.machine: score_registers is missing");
  CHECK_THROWS_WITH(like_m("device = host"),
                    "n.machine:3: device is that of the machine that this one is like");
  CHECK_THROWS_WITH(parse_machine("k", "like = m", texts), "k.machine: halide is missing");
  CHECK_THROWS_WITH(parse_machine("k", "halide = x86-64-linux\nlike = m", texts),
                    Catch::Contains("device must come before halide"));
  CHECK_THROWS_WITH(parse_machine("k", "preference = 4\nlike = m", texts),
                    "k.machine:2: like must be the first line");
  CHECK_THROWS_WITH(parse_machine("k", "like = z", texts),
                    "k.machine:1: z is not a machine that another can be like");
  CHECK_THROWS_WITH(parse_machine("k", "like = n", texts),
                    "k.machine:1: n is like another machine itself: name one that is not");
}

TEST_CASE("targets name machines, or a group of them, best first") {
  using list = std::vector<std::string>;
  const list host = {"host/sapphirerapids", "host/zen4", "host/x86-64-v4", "host/x86-64-v3"};
  CHECK(names("host") == host);
  CHECK(names("x86-64-v3,zen4,host") == host);
  CHECK(names("cuda,host,opencl") ==
        list{host[0], host[1], host[2], host[3], "cuda/cuda", "opencl/opencl"});
  std::set<std::string> all = {"host"};
  for (const machine &m : machines()) all.insert(m.name);
  const std::string known = fmt::format("known: {}", fmt::join(all, " "));
  CHECK_THROWS_WITH(targets_of("host,z80"), "target z80 is not known; " + known);
  CHECK_THROWS_WITH(targets_of(","), "no target given; " + known);
}

TEST_CASE("one archive is for one processor") {
  CHECK(names("aarch64") == std::vector<std::string>{"host/aarch64"});
  CHECK_THROWS_WITH(targets_of("host,aarch64"),
                    "targets sapphirerapids and aarch64 are for different processors");
  CHECK_THROWS_WITH(targets_of("aarch64,opencl"),
                    "targets aarch64 and opencl are for different processors");
  CHECK_THROWS_WITH(targets_of("aarch64,aarch64-macos"),
                    "targets aarch64 and aarch64-macos are for different processors");
}

TEST_CASE("the shape of an attention follows the number of its rows") {
  const machine m = parse_machine("m", right);
  CHECK(m.shapes_for(1).front().rows == 8);
  CHECK(m.shapes_for(16).front().rows == 8);
  CHECK(m.shapes_for(17).front().rows == 32);
  CHECK(m.shapes_for(attention_shape::any).front().rows == 32);
  CHECK(m.cpu.lanes(32) == 8);
  CHECK(m.cpu.lanes(64) == 4);
}

TEST_CASE("tiles of few rows may have keys in lanes") {
  const machine m = with("tile 8 x 128 per_task 1\n", "tile 4 x 256 per_task 1 keys_in_lanes\n");
  CHECK(m.shapes_for(3).front().rows == 4);
  CHECK(m.cpu.features.vectors == 2);
  CHECK(m.shapes_for(3).front().keys_in_lanes);
  CHECK(!m.shapes_for(17).front().keys_in_lanes);
}

TEST_CASE(
    "tiles of tensor cores: those for few rows, then of each capability those that fit best") {
  const auto cuda = std::find_if(machines().begin(), machines().end(),
                                 [](const machine &m) { return m.name == "cuda"; });
  REQUIRE(cuda != machines().end());
  using list = std::vector<std::string>;
  const auto tiles = [&](int features, int columns, bool of_16_bits) {
    list all;
    for (const tensor_tile &t : cuda->tensor_tiles_for(features, columns, of_16_bits))
      all.push_back(fmt::format("{} {} {}x{}", t.skeleton, t.target(), t.rows, t.keys) +
                    (t.most_rows ? fmt::format(" to {}", t.most_rows) : ""));
    return all;
  };
  CHECK(tiles(40, 64, true) == list{"mma sm_80 16x64 to 16", "mma sm_80 64x64 to 64",
                                    "wgmma sm_90a 128x128", "mma sm_80 128x64"});
  CHECK(tiles(200, 64, true) == list{"mma sm_80 16x32 to 16", "mma sm_80 64x32"});
  CHECK(tiles(40, 300, true).empty());
  const list few = {"tf32 sm_80 16x16 to 16", "tf32 sm_80 32x16 to 32"};
  CHECK(tiles(64, 64, false) == list{few[0], few[1], "tf32 sm_80 128x32", "tf32 sm_80 64x32"});
  CHECK(tiles(128, 40, false) ==
        list{few[0], few[1], "tf32 sm_80 128x32", "tf32 sm_80 64x16", "tf32 sm_80 32x16"});
  // Every GPU grants so much: the last tile of each is for all of them, and so are those for few
  // rows, which may be the only ones.
  for (const int n : {16, 64, 128, 256})
    for (const bool of_16_bits : {true, false}) {
      const std::vector<tensor_tile> all = cuda->tensor_tiles_for(n, n, of_16_bits);
      for (const tensor_tile &t : all)
        if (t.most_rows > 0 || &t == &all.back()) CHECK(t.shared_bytes(n, n) <= 99 * 1024);
    }
}

TEST_CASE("tiles of contractions: for few rows, then for any; of few columns where they suffice") {
  const auto cuda = std::find_if(machines().begin(), machines().end(),
                                 [](const machine &m) { return m.name == "cuda"; });
  REQUIRE(cuda != machines().end());
  using list = std::vector<std::string>;
  const auto tiles = [&](std::int64_t rows, std::int64_t columns, bool of_16_bits,
                         bool precise = true) {
    list all;
    for (const contraction_tile &t :
         cuda->contraction_tiles_for(rows, columns, of_16_bits, precise))
      all.push_back(fmt::format("{} {}x{}", t.kind, t.rows, t.columns));
    return all;
  };
  CHECK(tiles(-1, -1, true) == list{"mma 16x64", "mma 128x128"});
  CHECK(tiles(-1, 64, true) == list{"mma 16x64", "mma 128x64"});
  CHECK(tiles(-1, -1, true, false) ==
        list{"mma 16x64", "wgmma 128x256", "wgmma 128x128", "mma 128x128"});
  CHECK(tiles(16, 64, false) == list{"tf32 16x64"});
  CHECK(tiles(17, 65, false) == list{"tf32 128x64"});
  CHECK(cuda->contraction_tiles_for(-1, -1, true, false).back().shared_bytes(true, true) ==
        96 * 1024);
  CHECK(cuda->contraction_tiles_for(-1, -1, true, false)[1].shared_bytes(true, false) ==
        4 * (128 * 128 + 256 * 128) + 128);
  // An operand by its rows takes whole planes of 128 bytes.
  CHECK(cuda->contraction_tiles_for(4, -1, true, true)[0].shared_bytes(false, true) ==
        4 * (64 * 128 + 64 * 128));
}

TEST_CASE("a wrong tile of a contraction is one error") {
  const auto tile = [](const std::string &text) {
    return like_cuda("tensor_contraction = " + text);
  };
  CHECK_NOTHROW(tile("mma sm_80 tile 128 x 64 depth 64 warps 2 x 2 stages 3 columns 64"));
  for (const auto &[text, error] : std::vector<std::pair<std::string, std::string>>{
           {"mfma sm_80 tile 128 x 64 depth 64 warps 2 x 2 stages 3",
            "mfma is not a kind of tensor cores; known: mma wgmma tf32"},
           {"wgmma sm_90a tile 128 x 64 depth 64 warps 8 x 1 stages 3",
            "a tile of 128 x 64 cannot be divided among 8 x 1 warps"},
           {"wgmma sm_90a tile 128 x 256 depth 64 warps 4 x 2 stages 3",
            "a tile of 128 x 256 cannot be divided among 4 x 2 warps"},
           {"mma sm_80 tile 128 x 40 depth 64 warps 2 x 2 stages 3",
            "a tile of 128 x 40 cannot be divided among 2 x 2 warps"},
           {"mma sm_80 tile 128 x 64 depth 32 warps 2 x 2 stages 3",
            "a tile needs two stages or more of 128 bytes of depth"},
           {"mma sm_80 tile 128 x 192 depth 64 warps 2 x 2 stages 3",
            "128 threads cannot share the copies of 192 rows or columns"},
           {"mma sm_80 tile 128 x 512 depth 64 warps 4 x 16 stages 3",
            "2048 threads do not fit into a block of at most 1024"},
           {"mma sm_80 tile 128 x 64 depth 64 warps 2 x 2 stages 3 keys 4",
            "columns, rows or fills is expected, not keys"}})
    CHECK_THROWS_WITH(tile(text), "m.machine:3: " + error);
}

TEST_CASE("a wrong tile of tensor cores is one error") {
  const auto tile = [](const std::string &text) { return like_cuda("tensor = " + text); };
  CHECK(tile("mma sm_80 features 64 tile 128 x 64 warps 4").tensor.size() == 1);
  CHECK_THROWS_WITH(tile("mma sm_80 features 64 tile 16 x 64 warps 1 rows 64 blocks 4"),
                    "m.machine:3: a tile of 16 rows cannot have the 64 rows of a call");
  CHECK_THROWS_WITH(tile("wgmma sm_90a features 64 tile 128 x 128 warps 12 rows 64 blocks 4"),
                    "m.machine:3: wgmma has no tiles for few rows");
  CHECK_THROWS_WITH(
      like_cuda("tensor_pair_sums = mma sm_80 features 64 tile 16 x 64 warps 1 rows 16 "
                "blocks 396"),
      "m.machine:3: sums over pairs have no tiles for few rows");
  CHECK_THROWS_WITH(tile("mfma sm_80 features 64 tile 128 x 64 warps 4"),
                    "m.machine:3: mfma is not a kind of tensor cores; known: mma wgmma tf32");
  CHECK_THROWS_WITH(tile("mma gfx90 features 64 tile 128 x 64 warps 4"),
                    "m.machine:3: gfx90 is not a target like sm_80");
  CHECK_THROWS_WITH(
      tile("mma sm_80 features 64 tile 100 x 64 warps 4"),
      "m.machine:3: a tile of 100 x 64 with 64 features cannot be divided among 4 warps of mma");
  CHECK_THROWS_WITH(tile("mma sm_80 features 64 tile 1024 x 64 warps 64"),
                    "m.machine:3: 2048 threads do not fit into a block of at most 1024");
  CHECK_THROWS_WITH(
      tile("wgmma sm_90a features 256 tile 128 x 128 warps 12"),
      "m.machine:3: a tile of 128 x 128 with 256 features cannot be divided among 12 warps of "
      "wgmma");
}

TEST_CASE("the machine decides the columns of a panel") {
  const machine wide = targets_of("x86-64-v4")[0];
  for (const auto &[columns, panel] :
       {std::pair{128, 64}, {96, 48}, {160, 32}, {9, 16}, {20, 32}, {80, 48}, {100, 48}, {-1, 48}})
    CHECK(wide.panels.of(columns) == panel);
  CHECK_THROWS_WITH(with("panels = 48", "panels = 12"),
                    "m.machine:18: 12 columns do not fill registers of 8 numbers");
  CHECK_THROWS_WITH(with(" else 48", ""), "m.machine:18: the line ends too early");
}

TEST_CASE("each call has a line of attention") {
  const std::string few = "attention = rows 16 tile 8 x 128 per_task 1\n",
                    any = "attention = rows any tile 32 x 128 per_task 16\n",
                    more = "attention = rows 8 tile 8 x 128 per_task 1\n";
  CHECK_THROWS_WITH(with(any, ""),
                    "m.machine: a line of attention is missing: rows any with rows in lanes");
  CHECK_THROWS_WITH(with(any, "attention = rows any tile 8 x 128 per_task 1 keys_in_lanes\n"),
                    "m.machine: a line of attention is missing: rows any with rows in lanes");
  CHECK_THROWS_WITH(
      with(any, more + any),
      "m.machine:11: rows 8 after rows 16: lines of attention are in rising order of rows");
  CHECK_THROWS_WITH(
      with(any, any + more),
      "m.machine:12: rows 8 after rows any: lines of attention are in rising order of rows");
  CHECK_NOTHROW(with(any, few + any));
}

TEST_CASE("a wrong machine of a device is one error") {
  constexpr std::string_view device = R"(
device = opencl
halide = x86-64-linux-opencl
shared_bytes = 48128
columns_per_thread = 18
attention = rows none tile 1 x 64 threads 32 x 1
attention = rows any tile 64 x 32 threads 8 x 16
contraction_rows = 64
panels = 64 up_to 16 else 48
contraction_tile = 4
threads_of_short_work = 256
threads_of_long_work = 32
map_rows = 8
load_width = 4
)";
  const auto other = [&](const std::string &line, const std::string &instead) {
    std::string text(device);
    const std::size_t at = text.find(line);
    REQUIRE(at != std::string::npos);
    return parse_machine("m", text.replace(at, line.size(), instead));
  };
  CHECK_NOTHROW(other("contraction_tile = 4", "contraction_tile = 2"));
  CHECK_NOTHROW(other("long_work = 32", "long_work = 1024"));
  for (const auto &[line, instead, error] : std::vector<std::array<std::string, 3>>{
           {"attention = rows none tile 1 x 64 threads 32 x 1\n", "",
            ": a line of attention is missing: rows none"},
           {"attention = rows any tile 64 x 32 threads 8 x 16\n", "",
            ": a line of attention is missing: rows any"},
           {"tile 64 x 32 threads 8 x 16", "tile 64 x 64 threads 64 x 32",
            ":7: 2048 threads do not fit into a block of at most 1024"},
           {"contraction_tile = 4", "contraction_tile = 5",
            ":10: 5 x 5 results of a thread do not divide 64 rows and 64 columns"},
           {"contraction_tile = 4", "contraction_tile = 32",
            ":10: 32 x 32 results of a thread do not divide 64 rows and 16 columns"},
           {"contraction_tile = 4", "contraction_tile = 1",
            ":10: 4096 threads do not fit into a block of at most 1024"},
           {"contraction_rows = 64\n", "contraction_tile = 4\ncontraction_rows = 64\n",
            ":8: contraction_rows must come first"},
           {"panels = 64 up_to 16 else 48\n", "", ":9: panels must come first"},
           {"short_work = 256", "short_work = 1025",
            ":11: 1025 threads do not fit into a block of at most 1024"},
           {"long_work = 32", "long_work = 2048",
            ":12: 2048 threads do not fit into a block of at most 1024"},
           {"map_rows = 8\n", "", ": map_rows is missing"},
           {"map_rows = 8", "map_rows = 65",
            ":13: 1040 threads do not fit into a block of at most 1024"},
           {"load_width = 4", "load_width = 3",
            ":14: 3 numbers of one load: 1, 2 or 4 are expected"}})
    CHECK_THROWS_WITH(other(line, instead), "m.machine" + error);
}

TEST_CASE("tiles of a matrix unit fill it, and some are for calls of any rows") {
  const auto of_matrix = [](const std::string &lines,
                            const char *target = "x86-64-linux-avx512_sapphirerapids") {
    return parse_machine("n", "like = x86-64-v4\nhalide = " + std::string(target) + "\n" + lines,
                         qkv::codegen::text_of_machine);
  };
  const std::string any = "matrix_attention = rows any tile 32 x 256 per_task 4\n";
  const machine m = of_matrix("matrix_attention = rows 5 to 16 tile 16 x 256 per_task 1\n" + any);
  REQUIRE(m.of_bf16.matrix_attention.size() == 2);
  CHECK(m.of_bf16.matrix_attention[0].least_rows == 5);
  CHECK(m.of_bf16.matrix_attention[1].per_task == 4);
  CHECK(m.attention == of_matrix("").attention);
  CHECK(m.has_tiles_of(of_matrix("")));
  CHECK_THROWS_WITH(of_matrix("matrix_attention = rows any tile 24 x 256 per_task 4"),
                    "n.machine:3: 24 rows are not a multiple of 16, as those of matrix tiles are");
  CHECK_THROWS_WITH(of_matrix("matrix_attention = rows any tile 32 x 48 per_task 4"),
                    "n.machine:3: 48 keys are not a multiple of 32, as those of matrix tiles are");
  CHECK_THROWS_WITH(of_matrix("matrix_attention = rows none tile 32 x 64 per_task 4"),
                    "n.machine:3: rows none: a tile of a CPU is for some rows");
  CHECK_THROWS_WITH(
      of_matrix("matrix_attention = rows any tile 32 x 64 per_task 4 keys_in_lanes"),
      "n.machine:3: after the value of matrix_attention, keys_in_lanes is not expected");
  CHECK_THROWS_WITH(of_matrix(any + "matrix_attention = rows 16 tile 16 x 64 per_task 4"),
                    "n.machine:4: rows 16 after rows any: lines of attention are in rising order "
                    "of rows");
  CHECK_THROWS_WITH(of_matrix("matrix_attention = rows 16 tile 16 x 256 per_task 1"),
                    "n.machine: a line of matrix_attention is missing: rows any");
  CHECK_THROWS_WITH(of_matrix(any, "x86-64-linux-avx512_zen4"),
                    "n.machine: matrix_attention: halide does not name avx512_sapphirerapids, "
                    "which has matrix tiles");
  const char *where =
      "n.machine: matrix_attention: a CPU under Linux is expected, with registers of "
      "512 bits";
  CHECK_THROWS_WITH(of_matrix(any, "x86-64-osx-avx512_sapphirerapids"), where);
  CHECK_THROWS_WITH(
      parse_machine("n", "like = x86-64-v3\nhalide = x86-64-linux-avx512_sapphirerapids\n" + any,
                    qkv::codegen::text_of_machine),
      where);
}

TEST_CASE("a wrong machine is one error with the line") {
  CHECK_THROWS_WITH(
      with("score_keys = 8", "score_key = 8"),
      "m.machine:8: score_key is not a key; known: attention bf16_products both_ways "
      "both_ways_in_window "
      "columns_per_thread contraction_rows contraction_tile contraction_vectors device "
      "feature_steps feature_vectors halide like load_width map_rows map_vectors matrix_attention "
      "panels part_of "
      "preference prefetched_bytes register_bits "
      "registers score_keys score_registers shared_bytes split_keys sum_registers tensor "
      "tensor_contraction tensor_pair_sums threads_of_long_work threads_of_short_work "
      "unrolled_features value_bytes value_columns value_padding weight_keys");
  CHECK_THROWS_WITH(with("score_keys = 8", ""), "m.machine: score_keys is missing");
  CHECK_THROWS_WITH(
      parse_machine("m",
                    "like = x86-64-v3\nhalide = x86-64-linux-avx-avx2-f16c-fma-sse41-avx512-"
                    "avx512_skylake\nattention = rows any tile 24 x 128 per_task 1\n"
                    "register_bits = 512",
                    text_of_machine),
      "m.machine:4: attention must come after this line");
  CHECK_THROWS_WITH(
      parse_machine("m",
                    "like = x86-64-v4\nhalide = x86-64-linux-avx2\nsum_registers = 24\n"
                    "registers = 8",
                    text_of_machine),
      "m.machine:4: sum_registers must come after this line");
  CHECK_THROWS_WITH(parse_machine("m", "like = zen4", text_of_machine),
                    "m.machine:1: zen4 is like another machine itself: name one that is not");
  CHECK_THROWS_WITH(
      parse_machine("m", "like = opencl\ntensor = mma sm_80 features 64 tile 128 x 64 warps 4",
                    text_of_machine),
      "m.machine:2: tensor is a key of cuda alone: device is opencl");
  CHECK_THROWS_WITH(with("score_keys = 8", "score_keys = 8\nload_width = 4"),
                    "m.machine:9: load_width is a key of GPUs alone: device is host");
  CHECK_THROWS_WITH(
      parse_machine("m", "like = cuda\nregister_bits = 256\n", qkv::codegen::text_of_machine),
      "m.machine:2: register_bits is a key of CPUs alone: device is cuda");
  CHECK_THROWS_WITH(parse_machine("m", "registers = 16\n", {}),
                    "m.machine:1: device must come before registers");
  CHECK_THROWS_WITH(with("weight_keys = 4", "weight_keys = 1000000"),
                    "m.machine:19: 1000000 keys do not fit: registers is 16");
  CHECK_THROWS_WITH(with("both_ways = tile 32 x 64", "both_ways = tile 9 x 64"),
                    "m.machine:14: 9 rows are not a multiple of 16");
  CHECK_THROWS_WITH(with("both_ways = tile 32 x 64", "both_ways = tile 24 x 64"),
                    "m.machine:14: 24 rows are not a multiple of 16");
  CHECK_THROWS_WITH(with("register_bits = 256", "register_bits = 1024"),
                    "m.machine:4: 1024 bits: registers of 128, 256 or 512 are expected");
  CHECK_THROWS_WITH(with("contraction_vectors = 3 2", "contraction_vectors = 3 13"),
                    "m.machine:15: 13 vectors do not fit: sum_registers is 12");
  CHECK_THROWS_WITH(with("feature_vectors = 2", "feature_vectors = 3"),
                    "m.machine:9: 3 vectors cannot be halved down to one");
  CHECK_THROWS_WITH(with("feature_vectors = 2", "feature_vectors = 2\nbf16_products = 2"),
                    "m.machine: bf16_products: halide does not name avx512_zen4, which multiplies "
                    "bf16");
  CHECK_THROWS_WITH(parse_machine("n",
                                  "like = m\nhalide = x86-64-linux-avx512_zen4\nbf16_products = 2\n"
                                  "attention = rows any tile 8 x 33 per_task 1",
                                  [](const std::string &name) { return name == "m" ? right : ""; }),
                    "n.machine: bf16_products: 33 keys of an attention are not a multiple of 2");
  CHECK_THROWS_WITH(with("feature_vectors = 2", "feature_vectors = 2\nbf16_products = 4"),
                    "m.machine:10: 4 at a time: 2 are expected");
  CHECK_THROWS_WITH(with("score_keys = 8", "score_keys = 1048577"),
                    "m.machine:8: 1048577 is above 1048576");
  CHECK_THROWS_WITH(with("score_keys = 8", "score_keys = 99999999999"),
                    "m.machine:8: 99999999999 is above 1048576");
  CHECK_THROWS_WITH(with("score_keys = 8", "score_keys = -99999999999"),
                    "m.machine:8: -99999999999 is not a number");
  CHECK_THROWS_WITH(with("tile 8 x 128", "tile 16384 x 128"),
                    "m.machine:10: a tile of 16384 x 128 has more than 1048576 pairs");
  CHECK_THROWS_WITH(with(" per_task 1\n", " per_task 1000000\n"),
                    "m.machine:10: 1000000 tiles of 8 rows have more than 1048576 rows");
  CHECK_THROWS_WITH(parse_machine("m", std::string("device = host\0", 14)),
                    "m.machine:1: a byte is 0: the file is not text of 8 bits");
  CHECK_THROWS_WITH(with("score_keys = 8", "score_keys 8"),
                    "m.machine:8: after score_keys, = is expected");
  CHECK_THROWS_WITH(with("score_keys = 8", "score_keys ="), "m.machine:8: score_keys has no value");
  CHECK_THROWS_WITH(with("score_keys = 8", "score_keys = 8x"), "m.machine:8: 8x is not a number");
  CHECK_THROWS_WITH(with("score_keys = 8", "score_keys = 0"), "m.machine:8: 0 is below 1");
  CHECK_THROWS_WITH(with("score_keys = 8", "score_keys = 8 9"),
                    "m.machine:8: after the value of score_keys, 9 is not expected");
  CHECK_THROWS_WITH(with("score_keys = 8", "score_keys = 8\nscore_keys = 8"),
                    "m.machine:9: score_keys is given twice");
  CHECK_THROWS_WITH(with("device = host", "device = abacus"),
                    "m.machine:2: abacus is neither host nor a device that Halide knows, as cuda "
                    "and opencl are");
  CHECK_THROWS_WITH(with("device = host", "device = avx2"),
                    "m.machine:2: avx2 is neither host nor a device that Halide knows, as cuda and "
                    "opencl are");
  CHECK_THROWS_WITH(with("device = host", "device = vulkan"),
                    "m.machine:3: x86-64-linux-avx2 is not a target with device = vulkan");
  CHECK_THROWS_WITH(with("x86-64-linux-avx2", "x86-64-linux-opencl"),
                    "m.machine:3: x86-64-linux-opencl is not a target with device = host");
  CHECK_THROWS_WITH(with("x86-64-linux-avx2", "x86-64-linux-avx3"),
                    "m.machine:3: Halide does not know x86-64-linux-avx3");
  CHECK_THROWS_WITH(with("x86-64-linux-avx2", "x86-64-windows-avx2"),
                    "m.machine:3: x86-64-windows-avx2: kernels are for 64-bit x86 and ARM, under "
                    "Linux and macOS");
  CHECK_THROWS_WITH(with("tile 8 x 128", "tile 12 x 128"),
                    "m.machine:10: 12 rows do not fill registers of 8 numbers");
  CHECK_THROWS_WITH(with("tile 8 x 128 per_task 1\n", "tile 16 x 100 per_task 1 keys_in_lanes\n"),
                    "m.machine:10: 100 keys do not fill registers of 8 numbers");
  CHECK_THROWS_WITH(with("per_task 1\n", "per_task 1 keys\n"),
                    "m.machine:10: keys_in_lanes is expected, not keys");
  CHECK_THROWS_WITH(with("tile 8 x 128", "tile 8 by 128"), "m.machine:10: x is expected, not by");
  CHECK_THROWS_WITH(with(" per_task 1\n", "\n"), "m.machine:10: the line ends too early");
  CHECK_THROWS_WITH(with("score_registers = 3", "score_registers = 13"),
                    "m.machine:7: 13 registers do not fit: sum_registers is 12");
  CHECK_THROWS_WITH(with("sum_registers = 12", "sum_registers = 15"),
                    "m.machine:6: 15 registers do not fit beside two operands: registers is 16");
}
