// SPDX-License-Identifier: BSL-1.0
#include "codegen/sheets/cost.hpp"

#include <algorithm>
#include <map>
#include <qkv/core/kept_step.hpp>
#include <set>

#include "codegen/program/floating_numbers.hpp"
#include "codegen/program/meaning.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/scans.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

bool stands_for_itself(op kind) { return is_source(kind) || is_view(kind) || kind == op::output; }

// The parts of a condition that are made of positions, sizes and numbers only, evaluated at single
// positions.
class static_condition {
 public:
  static_condition(const program &p, const std::vector<std::int64_t> &size) : p_(p), size_(size) {}

  // True where sizes and numbers alone decide it.
  bool is_of_sizes(node_id keep) const { return p_[keep].shape.empty() && is_static(keep); }

  // None where a size is unknown.
  std::optional<bool> holds(node_id keep) {
    return is_known(keep) ? std::optional<bool>(value(keep) != 0) : std::nullopt;
  }

  // The share of positions where they hold: of all, or of a regular sample of at most 256 along
  // each axis. 1 without such parts.
  double share(node_id keep) {
    std::int64_t kept = 0, samples = 0;
    for_samples(keep, [&](bool holds) {
      kept += holds;
      ++samples;
    });
    return samples == 0 ? 1 : static_cast<double>(kept) / static_cast<double>(samples);
  }

  // The share of positions along one axis at which they hold for some position along the others. 1
  // where the others have more than 256. Of many positions, a regular sample, of which one holds.
  double share_along(axis_id along, node_id keep) {
    std::vector<node_id> parts;
    add_parts(keep, parts);
    std::int64_t others = 1;
    for (axis_id a : p_[keep].shape)
      if (a != along) others *= std::min<std::int64_t>(size_[a], 1000);
    if (parts.empty() || others == 0 || others > 256 || size_[along] == 0) return 1;
    const std::int64_t samples = std::min<std::int64_t>(size_[along], 65'536 / others);
    std::int64_t kept = 0;
    for (std::int64_t s = 0; s < samples; ++s) {
      at_[along] = (2 * s + 1) * size_[along] / (2 * samples);
      bool holds = false;
      for (std::int64_t other = 0; other < others && !holds; ++other) {
        std::int64_t rest = other;
        for (axis_id a : p_[keep].shape)
          if (a != along) at_[a] = rest % size_[a], rest /= size_[a];
        holds = all_hold(parts);
      }
      kept += holds;
    }
    return static_cast<double>(std::max<std::int64_t>(kept, 1)) / static_cast<double>(samples);
  }

 private:
  std::int64_t samples_along(axis_id a, node_id keep) const {
    return std::min<std::int64_t>(size_[a], p_[keep].shape.size() > 2 ? 16 : 256);
  }

  // Nothing without parts.
  template <class F>
  void for_samples(node_id keep, F visit) {
    std::vector<node_id> parts;
    add_parts(keep, parts);
    if (parts.empty()) return;
    std::int64_t samples = 1;
    for (axis_id a : p_[keep].shape) samples *= samples_along(a, keep);
    for (std::int64_t s = 0; s < samples; ++s) {
      std::int64_t rest = s;
      for (axis_id a : p_[keep].shape) {
        const std::int64_t n = samples_along(a, keep);
        at_[a] = (2 * (rest % n) + 1) * size_[a] / (2 * n);
        rest /= n;
      }
      visit(all_hold(parts));
    }
  }

  bool all_hold(const std::vector<node_id> &parts) const {
    return std::all_of(parts.begin(), parts.end(), [&](node_id n) { return value(n) != 0; });
  }

  void add_parts(node_id n, std::vector<node_id> &parts) const {
    if (p_[n].kind == op::and_)
      for (node_id part : p_[n].in) add_parts(part, parts);
    else if (is_static(n))
      parts.push_back(n);
  }

  bool is_known(node_id n) const {
    return !depends_on(p_, n, [&](node_id step) {
      return p_[step].kind == op::size && size_[p_[step].over[0]] < 0;
    });
  }

  bool is_static(node_id n) const {
    const op k = p_[n].kind;
    if (k == op::input || k == op::param) return false;
    if (!is_source(k) && !is_pointwise(k)) return false;
    return std::all_of(p_[n].in.begin(), p_[n].in.end(), [&](node_id o) { return is_static(o); });
  }

  double value(node_id id) const {
    const node &n = p_[id];
    const auto in = [&](std::size_t k) { return value(n.in[k]); };
    switch (n.kind) {
      case op::number:
        return n.value;
      case op::index:
        return static_cast<double>(at_.at(n.over[0]));
      case op::size:
        return static_cast<double>(size_[n.over[0]]);
      default:
        break;
    }
    if (n.kind == op::cast) return in(0);
    if (!has_meaning(n.kind)) return 1;  // as if it kept the pair
    const double x = in(0);
    return meaning_of<floating_numbers<double>>(n.kind, x, is_binary(n.kind) ? in(1) : x);
  }

  const program &p_;
  const std::vector<std::int64_t> &size_;
  std::map<axis_id, std::int64_t> at_;
};

// A step inside of a scan is done at each of its positions.
std::vector<axis_id> every_position(const program &p, node_id n, std::vector<axis_id> axes) {
  const axis_id a = walked_axes(p)[n];
  return a < 0 ? axes : with(std::move(axes), {a});
}

struct pairs_left {
  std::vector<axis_id> axes;  // along which the mask varies
  double share = 1;
};

}  // namespace

formula flops_of(const program &p, node_id n) {
  const op kind = p[n].kind;
  // Positions of a constant of the spec do not count as work of a call.
  if (p[n].shape.empty() && p[n].over.empty()) return {};
  // One condition for all elements chooses between two steps.
  if (kind == op::where && p[p[n].in[0]].shape.empty()) return {};
  if (is_view(kind)) return formula(core::facts_of(kind).flops, p[n].shape);
  return formula(core::facts_of(kind).flops, every_position(p, n, with(p[n].shape, p[n].over)));
}

std::vector<bool> taken_steps(const program &p, const std::vector<std::int64_t> &size) {
  std::vector<bool> taken(p.nodes.size());
  static_condition condition(p, size);
  std::vector<node_id> next = p.outputs;
  while (!next.empty()) {
    const node_id n = next.back();
    next.pop_back();
    if (taken[n]) continue;
    taken[n] = true;
    const node &x = p[n];
    if (x.kind == op::where && condition.is_of_sizes(x.in[0]))
      next.push_back(x.in[condition.holds(x.in[0]).value_or(false) ? 1 : 2]);
    else
      next.insert(next.end(), x.in.begin(), x.in.end());
  }
  return taken;
}

static formula flops_of(const program &p, const std::vector<bool> &taken) {
  formula all;
  for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n)
    if (taken[n]) all += flops_of(p, n);
  return all;
}

cost_sheet cost_of(const program &p, const program &computed,
                   const std::vector<std::int64_t> &size) {
  cost_sheet c;
  c.flops = flops_of(computed, taken_steps(computed, size));
  for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n)
    if (!stands_for_itself(p[n].kind))
      c.intermediates += formula(size_of(p[n].type), every_position(p, n, p[n].shape));
  for (node_id n : p.arguments) c.read += formula(size_of(p[n].type), p[n].shape);
  for (node_id n : p.outputs) {
    const formula bytes(size_of(p[n].type), p[n].shape);
    c.written += bytes;
    if (core::is_kept_step(p[n].name)) c.saved += bytes;
  }
  return c;
}

bool has_masks_of_data(const program &p) {
  return std::any_of(p.nodes.begin(), p.nodes.end(), [&](const node &n) {
    return n.kind == op::mask && depends_on(p, n.in[1], [&](node_id step) {
             return p[step].kind == op::input || p[step].kind == op::param;
           });
  });
}

std::optional<double> flops_left_by_masks(const program &p, const std::vector<std::int64_t> &size) {
  const std::vector<bool> taken = taken_steps(p, size);
  std::vector<pairs_left> masks;
  if (!flops_of(p, taken).value(size)) return std::nullopt;
  static_condition condition(p, size);
  for (const node &n : p.nodes)
    if (n.kind == op::mask && p[n.in[1]].shape.size() > 1)
      masks.push_back({p[n.in[1]].shape, condition.share(n.in[1])});
  double sum = 0;
  for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n) {
    if (!taken[n]) continue;
    const std::vector<axis_id> axes = with(p[n].shape, p[n].over);
    double share = 1;
    for (const pairs_left &m : masks)
      if (with(axes, m.axes).size() == axes.size()) share = std::min(share, m.share);
    sum += share * flops_of(p, n).value(size).value_or(0);
  }
  return sum;
}

namespace {

// Which steps mean nothing at positions along an axis that a mask hides.
class masked_steps_along {
 public:
  masked_steps_along(const program &p, axis_id a) : p_(p), a_(a), known_(p.nodes.size()) {}

  // Absent there, or 0.
  bool is_masked(node_id n) {
    if (!known_[n]) known_[n] = compute(p_[n]);
    return *known_[n];
  }
  // A sum over the axis, or another view of it, of such steps alone.
  bool is_of_masked(const node &n) {
    return n.kind == op::dot ? is_masked(n.in[0]) || is_masked(n.in[1])
                             : !n.in.empty() && is_masked(n.in[0]);
  }

 private:
  bool compute(const node &n) {
    if (!has(n.shape, a_)) return false;
    const auto is = [&](node_id operand) { return is_masked(operand); };
    if (n.kind == op::mask && has(p_[n.in[1]].shape, a_)) return true;
    if (n.kind == op::mul || n.kind == op::dot) return std::any_of(n.in.begin(), n.in.end(), is);
    if (n.kind == op::where) return is(n.in[1]) && is(n.in[2]);
    if (is_pointwise(n.kind) || n.kind == op::concat)
      return std::all_of(n.in.begin(), n.in.end(), is);
    return (makes_weights(n.kind) || n.kind == op::mask || is_view(n.kind)) && is(n.in[0]);
  }

  const program &p_;
  const axis_id a_;
  std::vector<std::optional<bool>> known_;
};

// True if a result has the axis, or a step reads all positions along it.
bool needs_all(const program &p, axis_id a) {
  masked_steps_along masked(p, a);
  return std::any_of(p.outputs.begin(), p.outputs.end(),
                     [&](node_id n) { return has(p[n].shape, a); }) ||
         std::any_of(p.nodes.begin(), p.nodes.end(), [&](const node &n) {
           return has(n.over, a) && !is_source(n.kind) && !masked.is_of_masked(n);
         });
}

// For each axis of a mask, the share of positions that some pair still reads, at most.
std::map<axis_id, double> positions_left_by_masks(const program &p,
                                                  const std::vector<std::int64_t> &size) {
  std::map<axis_id, std::set<node_id>> masks;
  for (const node &n : p.nodes)
    if (n.kind == op::mask)
      for (axis_id a : p[n.in[1]].shape) masks[a].insert(n.in[1]);
  static_condition condition(p, size);
  std::map<axis_id, double> left;
  for (const auto &[a, conditions] : masks) {
    if (needs_all(p, a)) continue;
    for (node_id keep : conditions) left[a] += condition.share_along(a, keep);
    left[a] = std::min(left[a], 1.0);
  }
  return left;
}

}  // namespace

std::optional<double> bytes_moved(const program &p, const std::vector<std::int64_t> &size) {
  for (const std::vector<node_id> *all : {&p.arguments, &p.outputs})
    for (node_id n : *all)
      for (axis_id a : p[n].shape)
        if (size[a] < 0) return std::nullopt;
  const std::map<axis_id, double> left = positions_left_by_masks(p, size);
  const std::vector<std::vector<node_id>> users = users_of(p);
  const auto bytes = [&](node_id n) {
    return *formula(size_of(p[n].type), p[n].shape).value(size);
  };
  double sum = 0;
  for (node_id n : p.outputs) sum += bytes(n);
  for (node_id n : p.arguments) {
    double read = bytes(n), looked_up = 0;
    for (axis_id a : p[n].shape)
      if (const auto found = left.find(a); found != left.end()) read *= found->second;
    bool is_looked_up = !users[n].empty();
    for (node_id user : users[n]) {
      is_looked_up = is_looked_up && p[user].kind == op::take && p[user].in[0] == n;
      looked_up += bytes(user);
    }
    sum += is_looked_up ? std::min(read, looked_up) : read;
  }
  return sum;
}

}  // namespace qkv::codegen
