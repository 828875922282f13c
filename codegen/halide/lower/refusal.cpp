// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/refusal.hpp"

#include <sstream>

#include "codegen/halide/lower/context.hpp"
#include "codegen/program/text.hpp"

namespace qkv::codegen {
namespace {

// Joins the lines by single spaces, without the words that begin every error of Halide.
std::string one_line(const std::string &text) {
  std::string line;
  std::istringstream words(text);
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  for (const std::string begin : {"Error: ", "Internal Error at ", "Internal error at "})
    if (line.rfind(begin, 0) == 0) return line.substr(begin.size());
  return line;
}

// True if the text names a Func of this label: "sum_dot5" names dot5, but not dot.
bool names(const std::string &text, const std::string &label) {
  const auto is_alnum = [&](std::size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at]));
  };
  for (std::size_t at = text.find(label); at != std::string::npos; at = text.find(label, at + 1))
    if (!(at > 0 && is_alnum(at - 1)) && !is_alnum(at + label.size())) return true;
  return false;
}

}  // namespace

std::string refusal(const program &p, node_id step, const Halide::Error &e) {
  const std::string reason = one_line(e.what());
  for (node_id n = 0; step < 0 && n < static_cast<node_id>(p.nodes.size()); ++n)
    if (!is_source(p[n].kind) && names(reason, context::label(p, n))) step = n;
  return p.name + ": " + (step < 0 ? "" : label_of(p, step) + ": ") + reason;
}

}  // namespace qkv::codegen
