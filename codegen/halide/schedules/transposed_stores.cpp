// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/transposed_stores.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace qkv::codegen {

namespace hi = Halide::Internal;

namespace {

using Halide::Expr;

// Shuffles within these are cheap on x86; on ARM a vector is one.
constexpr int lane_bytes = 16;

std::vector<hi::Stmt> flattened(const hi::Block *op) {
  std::vector<hi::Stmt> all;
  hi::Stmt rest;
  for (; op; op = rest.as<hi::Block>()) {
    all.push_back(op->first);
    rest = op->rest;
  }
  if (rest.defined()) all.push_back(rest);
  return all;
}

class finds_load : public hi::IRVisitor {
 public:
  explicit finds_load(const std::string &name) : name_(name) {}
  bool found = false;

 private:
  using IRVisitor::visit;
  void visit(const hi::Load *op) override {
    found = found || op->name == name_;
    IRVisitor::visit(op);
  }

  const std::string &name_;
};

bool reads(const Expr &e, const std::string &name) {
  finds_load finder(name);
  e.accept(&finder);
  return finder.found;
}

// A store of all lanes across memory.
const hi::Store *as_store_across(const hi::Stmt &s) {
  const auto *store = s.as<hi::Store>();
  const auto *to = store ? store->index.as<hi::Ramp>() : nullptr;
  const int lanes = to ? to->lanes : 0;
  const bool fits =
      lanes >= 4 && (lanes & (lanes - 1)) == 0 && store->value.type().lanes() == lanes;
  const auto step = fits ? hi::as_const_int(to->stride) : std::nullopt;
  return step && *step >= lanes && hi::is_const_one(store->predicate) ? store : nullptr;
}

// The number of rows in a square that begins here, else 0.
std::size_t rows_of_square(const std::vector<hi::Stmt> &all, std::size_t begin) {
  const hi::Store *first = as_store_across(all[begin]);
  if (!first) return 0;
  const auto *to = first->index.as<hi::Ramp>();
  const auto n = static_cast<std::size_t>(to->lanes);
  if (begin + n > all.size()) return 0;
  for (std::size_t k = 0; k < n; ++k) {
    const hi::Store *next = as_store_across(all[begin + k]);
    if (!next || next->name != first->name || reads(next->value, first->name)) return 0;
    const auto *at = next->index.as<hi::Ramp>();
    const Expr off = hi::simplify(at->base - to->base - static_cast<int>(k));
    if (!hi::is_const_zero(off) || !hi::equal(at->stride, to->stride) || at->lanes != to->lanes)
      return 0;
  }
  return n;
}

// A square of vectors, held in names.
class square {
 public:
  explicit square(const std::vector<Expr> &rows)
      : n_(static_cast<int>(rows.size())),
        in_lane_(std::min(n_, lane_bytes / rows[0].type().bytes())) {
    for (const Expr &row : rows) all_.push_back(named(row));
  }

  void transpose() {
    std::vector<Expr> columns(all_.size());
    const int lanes = n_ / in_lane_;
    std::vector<std::vector<Expr>> blocks;
    for (int b = 0; b < lanes; ++b)
      blocks.push_back(
          within_lanes({all_.begin() + b * in_lane_, all_.begin() + (b + 1) * in_lane_}));
    for (int q = 0; q < in_lane_; ++q) {
      std::vector<Expr> same;
      for (const auto &block : blocks) same.push_back(block[static_cast<std::size_t>(q)]);
      const std::vector<Expr> apart = across_lanes(same);
      for (int l = 0; l < lanes; ++l)
        columns[static_cast<std::size_t>(l * in_lane_ + q)] = apart[static_cast<std::size_t>(l)];
    }
    all_ = columns;
  }

  const std::vector<Expr> &vectors() const { return all_; }

  // The statement with these names known to it.
  hi::Stmt around(hi::Stmt body) const {
    for (std::size_t k = names_.size(); k-- > 0;)
      body = hi::LetStmt::make(names_[k].first, names_[k].second, body);
    return body;
  }

 private:
  Expr named(const Expr &e) {
    names_.emplace_back(hi::unique_name("square"), e);
    return hi::Variable::make(e.type(), names_.back().first);
  }

  // The first or the second halves of the lanes of 16 bytes of two vectors, in turns.
  Expr unpacked(const Expr &a, const Expr &b, int half) {
    std::vector<int> from;
    for (int lane = 0; lane < n_; lane += in_lane_)
      for (int k = 0; k < in_lane_ / 2; ++k)
        for (int of : {0, n_}) from.push_back(of + lane + half * in_lane_ / 2 + k);
    return named(hi::Shuffle::make({a, b}, from));
  }

  // Every second lane of 16 bytes of two vectors.
  Expr every_second(const Expr &a, const Expr &b, int first) {
    std::vector<int> from;
    for (int lane = first * in_lane_; lane < 2 * n_; lane += 2 * in_lane_)
      for (int k = 0; k < in_lane_; ++k) from.push_back(lane + k);
    return named(hi::Shuffle::make({a, b}, from));
  }

  // As many vectors as a lane has numbers, each lane transposed.
  std::vector<Expr> within_lanes(std::vector<Expr> v) {
    const std::size_t half = v.size() / 2;
    for (std::size_t k = 1; k < v.size(); k *= 2) {
      std::vector<Expr> next;
      for (std::size_t i = 0; i < half; ++i)
        for (int side : {0, 1}) next.push_back(unpacked(v[i], v[i + half], side));
      v = std::move(next);
    }
    return v;
  }

  // As many vectors as each has lanes of 16 bytes, these lanes transposed.
  std::vector<Expr> across_lanes(const std::vector<Expr> &v) {
    if (v.size() == 1) return v;
    std::vector<Expr> sides[2];
    for (int side : {0, 1}) {
      std::vector<Expr> half;
      for (std::size_t i = 0; i < v.size(); i += 2)
        half.push_back(every_second(v[i], v[i + 1], side));
      sides[side] = across_lanes(half);
    }
    std::vector<Expr> all;
    for (std::size_t i = 0; i < v.size() / 2; ++i)
      for (const auto &side : sides) all.push_back(side[i]);
    return all;
  }

  int n_, in_lane_;
  std::vector<Expr> all_;
  std::vector<std::pair<std::string, Expr>> names_;
};

hi::Stmt transposed(const std::vector<hi::Stmt> &all, std::size_t begin, std::size_t n) {
  std::vector<Expr> rows;
  for (std::size_t k = 0; k < n; ++k) rows.push_back(all[begin + k].as<hi::Store>()->value);
  square s(rows);
  s.transpose();
  const auto *first = all[begin].as<hi::Store>();
  const auto *to = first->index.as<hi::Ramp>();
  const int lanes = to->lanes;
  std::vector<hi::Stmt> stores;
  for (int j = 0; j < lanes; ++j)
    stores.push_back(
        hi::Store::make(first->name, s.vectors()[static_cast<std::size_t>(j)],
                        hi::Ramp::make(hi::simplify(to->base + j * to->stride), 1, lanes),
                        first->param, hi::const_true(lanes), hi::ModulusRemainder()));
  return s.around(hi::Block::make(stores));
}

}  // namespace

hi::Stmt transposed_stores::visit(const hi::Block *op) {
  std::vector<hi::Stmt> all = flattened(op), made;
  for (std::size_t k = 0; k < all.size();) {
    const std::size_t n = rows_of_square(all, k);
    made.push_back(n ? transposed(all, k, n) : mutate(all[k]));
    k += std::max<std::size_t>(n, 1);
  }
  return hi::Block::make(made);
}

}  // namespace qkv::codegen
