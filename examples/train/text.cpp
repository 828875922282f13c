// SPDX-License-Identifier: BSL-1.0
#include "text.hpp"

#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

namespace my {
namespace {

constexpr std::size_t most_characters = 64;  // the vocabulary of the spec

}  // namespace

text::text(const std::string &path) {
  std::ifstream file(path);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  if (all.size() < 2000) throw std::runtime_error(path + " is absent or too short to learn from");
  const std::set<char> different(all.begin(), all.end());
  alphabet_.assign(different.begin(), different.end());
  if (alphabet_.size() > most_characters)
    throw std::runtime_error(path + " has more different characters than the vocabulary");
  ids_ = encode(all);
}

std::vector<std::int32_t> text::encode(const std::string &words) const {
  std::vector<std::int32_t> ids;
  for (const char c : words)
    if (const std::size_t at = alphabet_.find(c); at != std::string::npos)
      ids.push_back(static_cast<std::int32_t>(at));
  return ids;
}

std::string text::decode(const std::vector<std::int32_t> &ids) const {
  std::string words;
  for (const std::int32_t id : ids)  // the vocabulary may be larger than the alphabet
    words += static_cast<std::size_t>(id) < alphabet_.size()
                 ? alphabet_[static_cast<std::size_t>(id)]
                 : '#';
  return words;
}

void text::add_row(batch_of_text &batch, std::size_t begin) const {
  const auto from = ids_.begin() + static_cast<std::ptrdiff_t>(begin);
  batch.tokens.insert(batch.tokens.end(), from, from + batch.width);
  batch.next.insert(batch.next.end(), from + 1, from + batch.width + 1);
  ++batch.rows;
}

batch_of_text text::draw(random_numbers &random, std::int64_t rows, std::int64_t width) const {
  batch_of_text batch;
  batch.width = width;
  const std::size_t begins = split() - static_cast<std::size_t>(width);
  while (batch.rows < rows) add_row(batch, random.below(begins));
  return batch;
}

batch_of_text text::held_back(std::int64_t width) const {
  batch_of_text batch;
  batch.width = width;
  const auto step = static_cast<std::size_t>(width);
  for (std::size_t begin = split(); begin + step < ids_.size(); begin += step)
    add_row(batch, begin);
  return batch;
}

}  // namespace my
