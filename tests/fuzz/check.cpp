// SPDX-License-Identifier: BSL-1.0
#include "tests/fuzz/check.hpp"

#include <cctype>
#include <exception>

#include "tests/fuzz/data.hpp"
#include "tests/fuzz/language.hpp"

namespace qkv::fuzz {

std::string wrong_meaning(const recipe &r, std::uint64_t seed, const std::vector<rewrite> &rewrites,
                          const cut &how) try {
  const auto p = program_of(r);
  if (!p) return "";
  dice d(seed);
  for (const std::vector<long> &lengths :
       {std::vector<long>{1, 2, 3, 4, 5, 6, 9}, {0, 1, 2, 3, 7}}) {
    const auto sizes = sizes_for(*p, d, lengths, 2e5);
    if (!sizes) continue;
    const meaning m(*p, arguments_for(*p, *sizes, d), *sizes);
    codegen::program after;
    if (std::string w = wrong_rewrite(*p, m, rewrites, &after); !w.empty()) return w;
    if (std::string w = wrong_stages(after, m, how); !w.empty()) return w;
    if (lengths.front() > 0)
      if (std::string w = wrong_sheets(*p, *sizes); !w.empty()) return w;
  }
  return "";
} catch (const std::exception &e) {
  return std::string("interpreter: ") + e.what();
}

std::string kind_of(const std::string &wrong) {
  const std::string kind = wrong.substr(0, wrong.find(':'));
  if (kind != "build" && kind != "status") return kind;
  std::string words;  // without numbers and names, which change while a spec shrinks
  for (char c : wrong.substr(0, wrong.find(';'))) {
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '"') break;
    words += c;
  }
  return words.substr(0, 60);
}

}  // namespace qkv::fuzz
