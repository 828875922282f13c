// SPDX-License-Identifier: BSL-1.0
#include "safetensors.hpp"

#include <stdexcept>

namespace minilm {

safetensors::safetensors(const std::string &path) : file_(path, std::ios::binary) {
  std::uint64_t length = 0;
  file_.read(reinterpret_cast<char *>(&length), sizeof length);
  if (!file_ || length > (std::uint64_t{1} << 24))
    throw std::runtime_error(path + " is not a .safetensors file");
  header_.resize(length);
  file_.read(header_.data(), static_cast<std::streamsize>(length));
  if (!file_) throw std::runtime_error(path + " ends in its header");
}

// The header is one flat JSON object:
// "name":{"dtype":"F32","shape":[...],"data_offsets":[begin,end]}.
safetensors::place safetensors::find(const std::string &name) const {
  const auto at = header_.find('"' + name + "\":{");
  if (at == std::string::npos) throw std::runtime_error("the model has no " + name);
  const std::string entry = header_.substr(at, header_.find('}', at) - at);
  const auto offsets = entry.find("\"data_offsets\":[");
  if (entry.find("\"dtype\":\"F32\"") == std::string::npos || offsets == std::string::npos)
    throw std::runtime_error(name + " is not stored as F32");
  const auto first = offsets + std::string("\"data_offsets\":[").size();
  return {std::stoull(entry.substr(first)), std::stoull(entry.substr(entry.find(',', first) + 1))};
}

std::vector<float> safetensors::read_at(std::uint64_t begin, std::size_t elements) {
  std::vector<float> numbers(elements);
  file_.seekg(static_cast<std::streamoff>(8 + header_.size() + begin));
  file_.read(reinterpret_cast<char *>(numbers.data()),
             static_cast<std::streamsize>(elements * sizeof(float)));
  if (!file_) throw std::runtime_error("the model's file ends too early");
  return numbers;
}

std::vector<float> safetensors::read(const std::string &name, std::size_t elements) {
  const place p = find(name);
  if (p.end - p.begin != elements * sizeof(float))
    throw std::runtime_error(name + " has another size than expected");
  return read_at(p.begin, elements);
}

std::vector<float> safetensors::row(const std::string &name, std::size_t index, std::size_t width) {
  const place p = find(name);
  if (p.end - p.begin < (index + 1) * width * sizeof(float))
    throw std::runtime_error(name + " has no row " + std::to_string(index));
  return read_at(p.begin + index * width * sizeof(float), width);
}

}  // namespace minilm
