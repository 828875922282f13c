// SPDX-License-Identifier: BSL-1.0
#pragma once
// A machine that kernels are compiled for: instruction set or device, registers and tile sizes.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/machines/panel_widths.hpp"

namespace qkv::codegen {

// One way to divide an attention: query rows of a tile, keys of a block, and who computes them.
struct attention_shape {
  static constexpr std::int64_t any = -1, none = 0;
  std::int64_t rows_of_query =
      any;  // up to so many static ones; none: queries without such an axis
  std::int64_t least_rows = 0;
  int rows = 0, keys = 0;
  int per_task = 1;                  // CPUs: tiles that share a block of keys while it is in cache
  bool keys_in_lanes = false;        // CPUs: vectors hold keys; else rows
  int score_keys = 0;                // CPUs: in place of the machine's own; 0: these
  bool one_block = false;            // CPUs: for calls with at most so many keys
  int threads_x = 0, threads_y = 0;  // GPUs: along keys and columns; along rows
  bool operator==(const attention_shape &) const = default;
};

// Rows of a tile of both_ways are a multiple of so many: sums without columns take them in so many
// partial sums, and sums at positions take so many at a time. The remaining rows would be lost.
inline constexpr int rows_of_partials = 16;

// A matrix unit (AMX) multiplies matrix_side rows of matrix_depth numbers of bf16 by as many
// columns of them, and adds the products to a square of sums.
inline constexpr int matrix_side = 16, matrix_depth = 32;

// A row that is reduced has so many partial sums: the same on all machines, as bits depend on it.
inline constexpr int reduction_lanes = 16;

// A walk of a CPU that sums its pairs both ways: the tile, and the least number of tasks. Rows are
// divided where the other axes give fewer; each part has sums for all keys.
struct both_ways_shape {
  int rows = 0, keys = 0;
  int tasks = 0;
  bool operator==(const both_ways_shape &) const = default;
};

struct both_ways_shapes {
  both_ways_shape usual;
  both_ways_shape in_window;  // where masks keep the keys of a row near it; 0 rows: the usual one
  bool operator==(const both_ways_shapes &) const = default;
};

// Rows of values: those of a multiple of so many columns are padded by so many numbers. One query
// reads so many bytes of one at once.
struct value_rows {
  int columns = 0, padding = 0, bytes = 0;
  bool operator==(const value_rows &) const = default;
};

// Where lanes hold features.
struct feature_loops {
  int vectors = 1;   // of a key, at most, in a product
  int steps = 1;     // over them, at least, unless lanes would be too few
  int unrolled = 1;  // vectors of them, at most, without a loop
  bool operator==(const feature_loops &) const = default;
};

// Registers of a CPU and the register tiles of its inner loops: sums are held in some registers,
// operands in the others.
struct cpu_tiles {
  int register_bits = 0, registers = 0;
  int sum_registers = 0;
  int score_registers = 0, score_keys = 0;  // at most, of a tile of scores: rows; keys
  int weight_keys = 0;                      // keys whose weights are computed at a time
  feature_loops features;
  // Of a whole argument: loops over the rows of a larger one prefetch a page ahead; 0: none do.
  int prefetched_bytes = 0;
  value_rows values;
  both_ways_shapes both_ways;
  // Vectors of columns of a contraction whose sums registers hold: the first that divide a panel.
  std::vector<int> contraction_vectors;
  int map_rows = 0, map_vectors = 0;  // of a task: rows that are reduced, or vectors of positions

  int lanes(int bits) const { return register_bits / bits; }
  bool operator==(const cpu_tiles &) const = default;
};

// How a CPU multiplies bf16; with neither member set, it widens bf16 to f32.
struct bf16_unit {
  int products = 0;  // added to one sum of f32 at a time, in vectors; or 0
  // Tiles of attentions by a matrix unit, for calls of at least as many rows as the first is for;
  // fewer take those of the machine.
  std::vector<attention_shape> matrix_attention;
  bool has_matrix_unit() const { return !matrix_attention.empty(); }
};

inline constexpr int most_threads = 1024;     // of a block, on every GPU
inline constexpr int shared_row_bytes = 128;  // of a row in shared memory of a GPU
// Limits of a block of threads on a GPU, and the work of a thread.
struct gpu_tiles {
  int shared_bytes = 0;
  int columns_per_thread = 0;  // at most, of the running state of an attention
  int contraction_tile = 0;    // rows and columns of a thread
  int map_rows = 0;            // of a block: rows that are reduced
  int load_width = 0;          // numbers of one access to memory, at most
  int split_keys = 0;          // fewer keys of an attention are not worth a block
  // Threads of a block without a tile: if none of them runs a loop, and if they do.
  int threads_of_short_work = 0, threads_of_long_work = 0;
};

// An attention on the tensor cores of a GPU: a block has so many warps for a tile of rows and keys.
struct tensor_tile {
  std::string skeleton;  // mma, wgmma or tf32
  int capability = 0;    // 80: of GPUs from compute capability 8.0 on
  bool exact = false;    // of GPUs of this one alone
  int features = 0;      // for heads of at most so many
  int rows = 0, keys = 0, warps = 0;
  int most_rows = 0;  // for calls of at most so many query rows; 0: of any number
  int blocks = 0;     // of such calls: keys are split until there are so many

  bool is_of_16_bits() const { return skeleton != "tf32"; }
  std::string name() const;  // mma 128 x 64
  int threads() const { return warps * 32; }
  // Queries, and two or three tiles of keys and of values.
  int shared_bytes(int features, int columns) const;
  // Of sums over pairs: tensors of rows, and two or three tiles of each tensor of keys, all by
  // their widths.
  int shared_bytes(const std::vector<int> &rows, const std::vector<int> &keys) const;
  std::string target() const;  // sm_80
};

// A contraction on the tensor cores of a GPU: a block has so many warps along the rows and the
// columns of its tile, and keeps `stages` pieces of the depth in shared memory.
struct contraction_tile {
  std::string kind;    // mma, wgmma or tf32
  int capability = 0;  // 80: of GPUs from compute capability 8.0 on
  bool exact = false;  // of that capability alone
  int rows = 0, columns = 0, depth = 0, row_warps = 0, column_warps = 0, stages = 0;
  int most_columns = 0, most_rows = 0;  // for results of at most so many; 0: of any number
  int fills = 0;  // for calls with at least so many blocks for 100 multiprocessors

  std::string name() const;  // mma 128 x 64
  bool is_of_16_bits() const { return kind != "tf32"; }
  // Four more warps copy for those that multiply.
  bool has_copying_warps() const { return kind == "wgmma"; }
  int element_bytes() const { return is_of_16_bits() ? 2 : 4; }
  int copying_threads() const { return has_copying_warps() ? 128 : 32 * row_warps * column_warps; }
  int threads() const {
    return 32 * row_warps * column_warps + (has_copying_warps() ? copying_threads() : 0);
  }
  std::string target() const;  // sm_80
  // Operands lie by depth, or by their rows or columns.
  int shared_bytes(bool left_by_depth, bool right_by_depth) const;
  // True if each thread copies as many pieces of an operand of so many rows or columns.
  bool threads_share(int n) const;
};

struct machine {
  std::string name;
  std::string device = "host";  // where its code runs: host, cuda, opencl
  std::string target;           // as Halide writes it: x86-64-linux-avx-avx2
  std::string part_of;          // a name for several machines, of which a call takes the best
  std::string like;             // another one, from which it has what its file does not give
  int preference = 0;           // among those of a device: the largest is the best
  cpu_tiles cpu;
  gpu_tiles gpu;
  std::vector<attention_shape> attention;
  std::vector<tensor_tile> tensor;            // empty without tensor cores
  std::vector<tensor_tile> tensor_pair_sums;  // of sums over pairs that nothing normalises
  std::vector<contraction_tile> tensor_contraction;
  panel_widths panels;
  int contraction_rows = 0;  // rows of the left operand that share one sweep over the right one
  bf16_unit of_bf16;

  bool is_host() const { return device == "host"; }
  // False where a masked load of numbers of so many bits would be a branch for each lane.
  bool has_masked_loads(int bits) const;
  // True if CPUs have the same tiles: code differs where one multiplies bf16, or in instructions.
  bool has_tiles_of(const machine &other) const;
  std::string c_name() const;  // as a part of names in C
  // The shapes for queries of so many static rows (attention_shape::any, none), best first.
  std::vector<attention_shape> shapes_for(std::int64_t rows) const;
  // For heads of so many features and columns, of 16 bits or of f32: tiles of the fewest features
  // of each capability, those for few rows first, then the best. A call takes the first that is for
  // its rows and that the GPU grants.
  std::vector<tensor_tile> tensor_tiles_for(int features, int columns, bool of_16_bits) const;
  // For sums over pairs whose tensors have at most so many columns: those for the fewest, in the
  // order of the file.
  std::vector<tensor_tile> pair_sums_tiles_for(int columns, bool of_16_bits) const;
  // For results of so many rows and columns, negative where the call decides, of 16 bits or of f32:
  // those for few rows first, then those of the newest capability, in the order of the file. Where
  // results are `precise`, sums must be so, too, which those of wgmma are not.
  std::vector<contraction_tile> contraction_tiles_for(std::int64_t rows, std::int64_t columns,
                                                      bool of_16_bits, bool precise) const;
};

}  // namespace qkv::codegen
