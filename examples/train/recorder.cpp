// SPDX-License-Identifier: BSL-1.0
#include "recorder.hpp"

#include <filesystem>
#include <qkv/npy.hpp>
#include <stdexcept>
#include <utility>

namespace my {
namespace {

void write_array(const std::string &path, qkv::npy_type type, std::span<const std::int64_t> shape,
                 const void *data) {
  if (const qkv::status s = qkv::write_npy(path, type, shape, data); !s)
    throw std::runtime_error(s.text());
}

}  // namespace

recorder::recorder(std::string folder, const weights &w) : folder_(std::move(folder)) {
  std::filesystem::create_directories(folder_);
  const auto write_one = [&](const char *name, const auto &t) {
    std::vector<std::int64_t> shape;
    for (int d = 0; d < t.rank; ++d) shape.push_back(t.extent(d));
    write_array(folder_ + "/" + name + ".npy", qkv::npy_type::f32, shape, t.data());
  };
  std::apply(
      [&](const auto &...t) {
        const char *const *name = weight_names.data();
        (write_one(*name++, t), ...);
      },
      w.all());
}

void recorder::add(const batch_of_text &b, double rate, float loss) {
  rows_ = b.rows, width_ = b.width;
  tokens_.insert(tokens_.end(), b.tokens.begin(), b.tokens.end());
  next_.insert(next_.end(), b.next.begin(), b.next.end());
  rates_.push_back(rate), losses_.push_back(loss);
}

void recorder::write() const {
  const auto steps = static_cast<std::int64_t>(rates_.size());
  const std::int64_t batches[] = {steps, rows_, width_}, numbers[] = {steps};
  write_array(folder_ + "/tokens.npy", qkv::npy_type::i32, batches, tokens_.data());
  write_array(folder_ + "/next.npy", qkv::npy_type::i32, batches, next_.data());
  write_array(folder_ + "/rates.npy", qkv::npy_type::f64, numbers, rates_.data());
  write_array(folder_ + "/losses.npy", qkv::npy_type::f32, numbers, losses_.data());
}

}  // namespace my
