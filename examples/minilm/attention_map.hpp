#pragma once
// A picture of attention weights: the tokens on both sides, a line from each query to each key it looks at.
#include <functional>
#include <string>
#include <vector>

namespace minilm {

// SVG text. weight(head, query, key) in [0, 1]; lines below 0.05 are left out; one colour a head.
std::string attention_map(const std::string &title, const std::vector<std::string> &tokens,
                          int heads, const std::function<float(int, int, int)> &weight);

}  // namespace minilm
