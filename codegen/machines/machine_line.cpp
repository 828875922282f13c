// SPDX-License-Identifier: BSL-1.0
#include "codegen/machines/machine_line.hpp"

#include <charconv>
#include <sstream>

namespace qkv::codegen {

std::string machine_line::place() const {
  return file_ + ".machine" + (line_ > 0 ? ":" + std::to_string(line_) : "") + ": ";
}

std::string machine_line::begin(const std::string &text) {
  ++line_;
  if (text.find('\0') != text.npos) fail("a byte is 0: the file is not text of 8 bits");
  std::istringstream words{text.substr(0, text.find('#'))};
  std::string key, equals;
  if (!(words >> key)) return "";
  if (!(words >> equals) || equals != "=") fail("after {}, = is expected", key);
  words_.clear();
  for (std::string word; words >> word;) words_.push_back(word);
  at_ = 0;
  return key;
}

std::string machine_line::next() {
  if (!has_more()) fail("the line ends too early");
  return words_[at_++];
}

bool machine_line::takes(std::string_view word) {
  const bool is_it = has_more() && words_[at_] == word;
  at_ += is_it;
  return is_it;
}

void machine_line::word(std::string_view expected) {
  if (const std::string found = next(); found != expected)
    fail("{} is expected, not {}", expected, found);
}

int machine_line::number(int least, int most) {
  const std::string word = next();
  int n = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
  const bool is_above = error == std::errc::result_out_of_range && word[0] != '-';
  if (!is_above && (error != std::errc() || end != word.data() + word.size()))
    fail("{} is not a number", word);
  if (is_above || n > most) fail("{} is above {}", word, most);
  if (n < least) fail("{} is below {}", n, least);
  return n;
}

void machine_line::two_numbers(std::string_view of, int &a, int &b) {
  word(of);
  a = number();
  word("x");
  b = number();
}

}  // namespace qkv::codegen
