// SPDX-License-Identifier: BSL-1.0
#pragma once
// Arrays in files as NumPy writes them (.npy), row-major and little-endian.
#include <cstddef>
#include <cstdint>
#include <qkv/status.hpp>
#include <span>
#include <string>
#include <vector>

namespace qkv {

enum class npy_type : unsigned char {
  f32,
  f64,
  i32,
  i64,
  b8,
  u16,  // also the bits of bf16, which NumPy lacks
  f16
};

struct npy_array {
  npy_type type = npy_type::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;  // row-major, aligned for every type above

  std::int64_t elements() const;
};

int size_of(npy_type);
const char *name_of(npy_type);

// Reads a whole file; `result` changes on success only. Files are not trusted: nothing is allocated
// before the sizes in the header agree with the size of the file. Errors: bad_file for everything
// absent, damaged or of another kind (Fortran order, big-endian, structured or unknown types, a
// shape that is too large), out_of_memory.
status read_npy(const std::string &path, npy_array &result) noexcept;

// Writes a file that np.load reads. Replaces an existing file once all of it is written, so that on
// errors the old file stays as it was; only a file that may be written but not replaced (in a
// read-only folder, or of another user in a folder like /tmp) is overwritten. Errors: bad_file (no
// such folder, no write permission, full disk, an unknown type, a shape that is too large),
// null_data, out_of_memory.
status write_npy(const std::string &path, npy_type, std::span<const std::int64_t> shape,
                 const void *data) noexcept;

}  // namespace qkv
