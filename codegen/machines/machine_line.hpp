// SPDX-License-Identifier: BSL-1.0
#pragma once
// One line of a machine file: `key = words`, of which the next is read. An error names file and
// line.
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qkv::codegen {

class machine_line {
 public:
  explicit machine_line(std::string file) : file_(std::move(file)) {}

  template <class... T>
  [[noreturn]] void fail(fmt::format_string<T...> text, T &&...values) const {
    throw std::runtime_error(place() + fmt::format(text, std::forward<T>(values)...));
  }

  // The key of the next line of the file, whose words follow; empty where it has none.
  std::string begin(const std::string &text);
  // Errors are those of the whole file from now on.
  void no_line() { line_ = 0; }

  bool has_more() const { return at_ < words_.size(); }
  std::string next();
  // Steps over the next word if it is this one.
  bool takes(std::string_view word);
  // Fails unless the next word is this one.
  void word(std::string_view expected);
  int number(int least = 1, int most = largest);
  // tile 64 x 48
  void two_numbers(std::string_view of, int &a, int &b);

  // No tile or register needs more; products of two such numbers fit into 64 bits.
  static constexpr int largest = 1 << 20;

 private:
  std::string place() const;  // m.machine:3:

  std::string file_;
  int line_ = 0;
  std::vector<std::string> words_;
  std::size_t at_ = 0;
};

}  // namespace qkv::codegen
