// SPDX-License-Identifier: BSL-1.0
#include "codegen/sheets/shape_trace.hpp"

#include <algorithm>

#include "codegen/sheets/shown_steps.hpp"

namespace qkv::codegen {
namespace {

bool becomes_weights(const program &p, node_id n) {
  for (const node &user : p.nodes) {
    if (std::find(user.in.begin(), user.in.end(), n) == user.in.end()) continue;
    if (makes_weights(user.kind)) return true;
  }
  return false;
}

// The axes of a step in one order, aliases as what they are aliases of.
std::vector<axis_id> sorted_axes(const program &p, node_id n) {
  std::vector<axis_id> all;
  for (axis_id a : p[n].shape) all.push_back(p.axes[a].root);
  std::sort(all.begin(), all.end());
  return all;
}

// The longest way from an input to a result, by contractions and weights on it; at a fork the first
// operand.
std::vector<node_id> longest_way(const program &p, node_id result) {
  const auto n = p.nodes.size();
  std::vector<int> length(n, -1);  // -1: no input reaches this step
  std::vector<node_id> from(n, -1);
  for (std::size_t k = 0; k < n; ++k) {
    const node &x = p.nodes[k];
    if (x.kind == op::input) length[k] = 0;
    const bool counts = x.kind == op::dot || makes_weights(x.kind);
    for (std::size_t side = x.kind == op::where ? 1 : 0; side < x.in.size(); ++side)
      if (const node_id operand = x.in[side];
          length[operand] >= 0 && length[operand] + counts > length[k]) {
        length[k] = length[operand] + counts;
        from[k] = operand;
      }
  }
  std::vector<node_id> way;
  for (node_id at = result; at >= 0; at = from[at]) way.push_back(at);
  std::reverse(way.begin(), way.end());
  return way;
}

// The steps of a way that change the shape, and those that have a name.
class headline {
 public:
  headline(const program &p, const std::vector<std::int64_t> &size) : p_(p), size_(size) {}

  std::string along(const std::vector<node_id> &way) {
    add(way.front(), p_[way.front()].name);
    for (std::size_t k = 1; k + 1 < way.size();) k = add_run(way, k);
    if (way.size() > 1) end(way.back());
    return std::move(text_);
  }

 private:
  // Steps of one shape: each name, or the purpose; one entry where there is neither. Another order
  // of the same axes is not another shape. Equal extents of other axes count only where a step is
  // named.
  std::size_t add_run(const std::vector<node_id> &way, std::size_t k) {
    const std::size_t first = k;
    const std::vector<axis_id> axes = sorted_axes(p_, way[k]);
    const bool is_new = axes != last_axes_;
    bool is_named = false;
    for (; k + 1 < way.size() && sorted_axes(p_, way[k]) == axes; ++k) {
      const node_id n = way[k];
      if (!p_[n].name.empty()) {
        add(n, p_[n].name);
        is_named = true;
      } else if (is_new && !is_named && becomes_weights(p_, n)) {
        add(n, "scores");
        is_purpose_ = is_named = true;
      }
    }
    if (is_new && !is_named && extents(way[first]) != last_extents_) add(way[first], "");
    return k;
  }

  // The result's name replaces an entry of its shape that nobody named.
  void end(node_id result) {
    if (sorted_axes(p_, result) == last_axes_ && (last_name_.empty() || is_purpose_)) {
      const std::size_t cut = text_.rfind(" -> ");
      text_.resize(cut == std::string::npos ? 0 : cut);
    }
    add(result, p_[result].name);
  }

  void add(node_id n, const std::string &name) {
    last_axes_ = sorted_axes(p_, n);
    last_extents_ = extents(n);
    last_name_ = name;
    is_purpose_ = false;
    text_ += (text_.empty() ? "" : " -> ") + (name.empty() ? "" : name + " ") + last_extents_;
  }

  std::string extents(node_id n) const { return extents_text(p_, shown_shape(p_, n), size_); }

  const program &p_;
  const std::vector<std::int64_t> &size_;
  std::string text_, last_extents_, last_name_;
  std::vector<axis_id> last_axes_;
  bool is_purpose_ = false;  // of the last entry: nobody named it
};

}  // namespace

std::string shape_trace(const program &p, node_id result, const std::vector<std::int64_t> &size) {
  return headline(p, size).along(longest_way(p, result));
}

}  // namespace qkv::codegen
