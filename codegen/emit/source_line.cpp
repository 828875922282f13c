// SPDX-License-Identifier: BSL-1.0
#include "codegen/emit/source_line.hpp"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <vector>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

using lines = std::vector<std::string>;

lines lines_of(const std::filesystem::path &path) {
  lines all;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) all.push_back(line);
  return all;
}

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// True if the line has the word, not as a part of another one.
bool has_word(const std::string &line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string::npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_of_word(line[at - 1])) && (end == line.size() || !is_of_word(line[end])))
      return true;
  }
  return false;
}

struct source {
  std::filesystem::path path;
  lines text;
  std::size_t first, end;  // lines of the kernel
};

std::optional<source> source_of(const std::string &kernel, const std::filesystem::path &path,
                                std::set<std::filesystem::path> &seen) {
  if (!seen.insert(path.lexically_normal()).second) return {};
  const lines text = lines_of(path);
  const std::string begin = "kernel<\"";
  for (std::size_t n = 0; n < text.size(); ++n)
    if (text[n].find(begin + kernel + "\">") != std::string::npos) {
      std::size_t end = n + 1;
      while (end < text.size() && text[end].find(begin) == std::string::npos) ++end;
      return source{path, text, n, end};
    }
  for (const std::string &line : text) {
    const std::size_t open = line.find('"');
    if (line.rfind("#include", 0) != 0 || open == std::string::npos) continue;
    const std::string included = line.substr(open + 1, line.find('"', open + 1) - open - 1);
    if (auto found = source_of(kernel, path.parent_path() / included, seen)) return found;
  }
  return {};
}

// The names of the step's operation, or of the operations whose results a sign joins.
std::vector<std::string_view> words_of(const program &p, node_id step) {
  const auto is_spoken = [](std::string_view name) {
    return std::isalpha(static_cast<unsigned char>(name.front()));
  };
  const op kind = p[step].kind;
  if (kind == op::output) return {"return"};
  if (is_spoken(name_of(kind))) return {name_of(kind)};
  std::vector<std::string_view> words;
  for (const node_id operand : p[step].in)
    if (const op of = p[inner_of(p, operand)].kind; !is_source(of) && is_spoken(name_of(of)))
      words.push_back(name_of(of));
  return words;
}

}  // namespace

std::string place_of(const program &p, node_id step, const std::string &spec) {
  std::set<std::filesystem::path> seen;
  const std::optional<source> found = source_of(p.name, spec, seen);
  if (!found) return {};
  std::size_t line = found->first;
  for (const std::string_view word : words_of(p, step)) {
    std::vector<std::size_t> having;
    for (std::size_t n = found->first; n < found->end; ++n)
      if (has_word(found->text[n], word)) having.push_back(n);
    if (having.size() != 1) continue;
    line = having.front();
    break;
  }
  return fmt::format("{}:{}: error: ", found->path.string(), line + 1);
}

}  // namespace qkv::codegen
