// SPDX-License-Identifier: BSL-1.0
#pragma once
// Reads the float tensors of a .safetensors file: 8 bytes length, that many bytes of JSON, then the
// numbers.
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace minilm {

class safetensors {
 public:
  // Throws std::runtime_error when the file is not one.
  explicit safetensors(const std::string &path);

  // The numbers of a tensor, row-major. Throws when there is none of that name, type F32 and size.
  std::vector<float> read(const std::string &name, std::size_t elements);

  // One row of a matrix whose rows have `width` numbers.
  std::vector<float> row(const std::string &name, std::size_t index, std::size_t width);

 private:
  struct place {
    std::uint64_t begin, end;
  };
  place find(const std::string &name) const;
  std::vector<float> read_at(std::uint64_t begin, std::size_t elements);

  std::ifstream file_;
  std::string header_;
};

}  // namespace minilm
