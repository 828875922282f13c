// SPDX-License-Identifier: BSL-1.0
#include "codegen/emit/source_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "codegen/program/queries.hpp"
#include "codegen/program/step_key.hpp"

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

// A statement of C++: all between two of ; { and }.
struct statement {
  std::string text;
  std::vector<std::size_t> lines;  // of each character
  std::vector<std::size_t> names;  // the statements that its variables are made by
};

std::vector<statement> statements_of(const source &kernel) {
  std::vector<statement> all(1);
  for (std::size_t n = kernel.first; n < kernel.end; ++n) {
    const std::string line = kernel.text[n].substr(0, kernel.text[n].find("//")) + " ";
    for (const char c : line) {
      if (c == ';' || c == '{' || c == '}') {
        all.emplace_back();
        continue;
      }
      if (all.back().text.empty() && c == ' ') continue;
      all.back().text += c;
      all.back().lines.push_back(n);
    }
  }
  std::erase_if(all, [](const statement &s) { return s.text.empty(); });
  return all;
}

std::string word_at(const std::string &text, std::size_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  std::size_t end = at;
  while (end < text.size() && is_of_word(text[end])) ++end;
  return text.substr(at, end - at);
}

// How many steps before this one compute the same.
std::size_t copies_before(const program &p, node_id step) {
  std::map<step_key, node_id> firsts;
  std::vector<node_id> first_of;
  std::size_t copies = 0;
  for (node_id n = 0; n <= step; ++n) {
    node x = p[n];
    for (node_id &operand : x.in) operand = first_of[operand];
    const bool is_single = is_argument(x) || x.kind == op::uniform || x.kind == op::carried;
    first_of.push_back(is_single ? n : firsts.try_emplace(key_of(x), n).first->second);
  }
  for (node_id n = 0; n < step; ++n) copies += first_of[n] == first_of[step];
  return copies;
}

// Functions of the library that make conditions and biases of positions.
constexpr std::string_view of_positions[] = {
    "causal",        "cached_causal", "sliding_window", "padding",        "prefix",  "dilated",
    "global_window", "relative_bias", "t5_bias",        "t5_causal_bias", "document"};

// A kernel as it is written, and how much of a step each statement says.
class written_kernel {
 public:
  written_kernel(const program &p, const source &kernel)
      : p_(p), positions_(steps_of_positions(p)), all_(statements_of(kernel)) {
    std::map<std::string, std::size_t> made_by;  // a variable: its statement
    for (std::size_t k = 0; k < all_.size(); ++k) {
      declared(all_[k].text);
      for (const auto &[name, by] : made_by)
        if (word(all_[k].text, name).share == 1) all_[k].names.push_back(by);
      const std::size_t at = all_[k].text.find("auto ");
      if (at != std::string::npos) made_by[word_at(all_[k].text, at + 5)] = k;
    }
  }

  // The line that says most of the step; none where nothing does.
  std::optional<std::size_t> line_of(node_id step) const {
    // A condition that is written by itself is what a slip in a mask is about.
    if (p_[step].kind == op::mask && !is_argument(p_[p_[step].in[1]]))
      if (const auto line = line_of(p_[step].in[1])) return line;
    constexpr double enough = 0.1;
    double most = enough;
    std::vector<std::size_t> lines;  // those that say as much
    for (const statement &s : all_) {
      if (is_signature(s)) continue;
      const double now = share(step, s, 0);
      if (now < most || (now == most && lines.empty())) continue;
      if (now > most) lines.clear();
      most = now;
      lines.push_back(s.lines[said(step, s.text).at]);
    }
    if (lines.empty()) return {};
    return lines[std::min(copies_before(p_, step), lines.size() - 1)];
  }

 private:
  // Names all arguments, and does nothing with them.
  static bool is_signature(const statement &s) {
    const auto has = [&](const char *text) { return s.text.find(text) != std::string::npos; };
    return (has("in<\"") || has("kernel<\"")) && !has("return");
  }

  struct found {
    double share = 0;
    std::size_t at = 0;  // in the text
  };

  // in<"Q", batch, seq, d<64>> queries: the name of "Q" is queries.
  void declared(const std::string &text) {
    for (const std::string open : {"in<\"", "param<\""})
      for (std::size_t at = text.find(open); at != std::string::npos;
           at = text.find(open, at + 1)) {
        const std::size_t begin = at + open.size(), quote = text.find('"', begin);
        std::size_t end = quote;
        for (int depth = 1; end < text.size() && depth > 0; ++end)
          depth += (text[end] == '<') - (text[end] == '>');
        if (quote != std::string::npos)
          names_[text.substr(begin, quote - begin)] = word_at(text, end);
      }
  }

  static found word(const std::string &text, std::string_view name) {
    found best;
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      const char before = at == 0 ? ' ' : text[at - 1], after = end < text.size() ? text[end] : ' ';
      if (!is_of_word(before) && !is_of_word(after)) return {1, at};
      // sigmoid_attention
      const bool is_part =
          (before == '_' || !is_of_word(before)) && (after == '_' || !is_of_word(after));
      if (is_part && best.share == 0) best = {0.7, at};
    }
    return best;
  }

  static found number(const std::string &text, double value) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      const bool begins = std::isdigit(static_cast<unsigned char>(text[at])) &&
                          (at == 0 || (!is_of_word(text[at - 1]) && text[at - 1] != '.'));
      if (!begins) continue;
      char *end = nullptr;
      const double read = std::strtod(text.c_str() + at, &end);
      if (std::abs(read - std::abs(value)) <= 1e-6 * std::abs(read)) return {1, at};
      at = static_cast<std::size_t>(end - text.c_str()) - 1;
    }
    return {};
  }

  static found sign(const std::string &text, std::string_view name) {
    const std::string written = name == "and" ? "&&" : name == "or" ? "||" : std::string(name);
    for (std::size_t at = text.find(written); at != std::string::npos;
         at = text.find(written, at + 1))
      if (text.compare(at, 2, "->") != 0) return {1, at};
    return {};
  }

  // Finds the operation itself in the text, or the argument or number.
  found said(node_id step, const std::string &text) const {
    const node &x = p_[step];
    if (x.kind == op::number) return number(text, x.value);
    if (x.kind == op::output) return word(text, "return");
    if (is_argument(x)) {
      const auto name = names_.find(x.name);
      return word(text, name == names_.end() || name->second.empty() ? x.name : name->second);
    }
    const std::string_view name = name_of(x.kind);
    if (name == "and" || name == "or" || !std::isalpha(static_cast<unsigned char>(name.front())))
      return or_of_positions(step, text, sign(text, name));
    const found one = word(text, name);
    if (x.kind == op::take && one.share < 1) return word(text, "slice");
    return or_of_positions(step, text, one);
  }

  // Where the step is not in the text: causal<seq, kv> for index(kv) <= index(seq).
  found or_of_positions(node_id step, const std::string &text, const found &own) const {
    constexpr double by_function = 0.5;
    const node &x = p_[step];
    if (own.share > 0 || !positions_[step] || (x.type != b8 && x.type != i32)) return own;
    for (const std::string_view function : of_positions)
      if (const found one = word(text, function); one.share == 1) return {by_function, one.at};
    return own;
  }

  // The operation, and half as much its operands: in the statement, or in those that it names.
  double share(node_id step, const statement &s, int depth) const {
    constexpr int deepest = 3;
    step = inner_of(p_, step);
    const double own = said(step, s.text).share;
    const std::vector<node_id> &in = p_[step].in;
    if (depth == deepest || in.empty()) return own;
    double of_operands = 0;
    for (const node_id operand : in) of_operands += most_of(operand, s, depth + 1);
    return own + 0.5 * of_operands / static_cast<double>(in.size());
  }
  // The share of a step in a statement, or in one that it names: rename<seq, kv>(P) names P.
  double most_of(node_id step, const statement &s, int depth, int hops = 0) const {
    constexpr int furthest = 2;
    double most = share(step, s, depth);
    if (hops < furthest)
      for (const std::size_t by : s.names)
        most = std::max(most, 0.95 * most_of(step, all_[by], depth, hops + 1));
    return most;
  }

  const program &p_;
  const std::vector<bool> positions_;
  std::vector<statement> all_;
  std::map<std::string, std::string> names_;  // of arguments: in the kernel
};

}  // namespace

std::string place_of(const program &p, node_id step, const std::string &spec) {
  std::set<std::filesystem::path> seen;
  const std::optional<source> found = source_of(p.name, spec, seen);
  if (!found) return {};
  const std::size_t line = written_kernel(p, *found).line_of(step).value_or(found->first);
  return fmt::format("{}:{}: error: ", found->path.string(), line + 1);
}

}  // namespace qkv::codegen
