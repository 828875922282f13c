// SPDX-License-Identifier: BSL-1.0
#pragma once
// One flat JSON object of strings and numbers on one line, as a benchmark writes it.
#include <map>
#include <string>
#include <string_view>

namespace qkv::serving {

class flat_object {
 public:
  // False when the text is anything else.
  bool read(std::string_view text);

  std::string text(std::string_view name) const;  // "" when absent
  double number(std::string_view name, double otherwise = 0) const;

 private:
  std::map<std::string, std::string, std::less<>> texts_;
  std::map<std::string, double, std::less<>> numbers_;
};

}  // namespace qkv::serving
