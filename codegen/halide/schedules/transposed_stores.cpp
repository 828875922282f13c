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

// A store across memory: `lanes` numbers, or runs of so many neighbours, `stride` apart.
struct store_across {
  const hi::Store *store;
  std::vector<const hi::LetStmt *> lets;  // around it
  Expr base;
  std::int64_t stride;
  int lanes, run;

  // Each run as one number.
  Expr value() const {
    const Halide::Type t = store->value.type();
    Expr e = store->value;
    if (run > 1) e = hi::Reinterpret::make(Halide::UInt(t.bits() * run, lanes), e);
    for (std::size_t k = lets.size(); k-- > 0;) e = hi::Let::make(lets[k]->name, lets[k]->value, e);
    return e;
  }
  hi::Stmt whole(const Expr &vector, int at) const {
    const Halide::Type t = store->value.type();
    const Expr to = hi::simplify(base + static_cast<int>(at * stride));
    return hi::Store::make(store->name, run == 1 ? vector : hi::Reinterpret::make(t, vector),
                           hi::Ramp::make(to, 1, t.lanes()), store->param,
                           hi::const_true(t.lanes()), hi::ModulusRemainder());
  }
};

std::optional<std::int64_t> distance(const Expr &from, const Expr &to) {
  const auto apart = hi::as_const_int(hi::simplify(to - from));
  return apart ? std::optional<std::int64_t>(*apart) : std::nullopt;
}

// Ramps of the same length, the same distance apart.
std::optional<store_across> as_runs_across(const hi::Store &store, const hi::Shuffle &to) {
  if (!to.is_concat() || to.vectors.size() < 2) return std::nullopt;
  std::vector<Expr> bases;
  int run = 0;
  for (const Expr &e : to.vectors) {
    const auto *one = e.as<hi::Ramp>();
    if (!one || !hi::is_const_one(one->stride) || (run && one->lanes != run)) return std::nullopt;
    bases.push_back(one->base), run = one->lanes;
  }
  const auto stride = distance(bases[0], bases[1]);
  for (std::size_t k = 2; stride && k < bases.size(); ++k)
    if (distance(bases[k - 1], bases[k]) != stride) return std::nullopt;
  if (!stride || run * store.value.type().bits() > 64 || (run & (run - 1)) != 0)
    return std::nullopt;
  return store_across{&store, {}, bases[0], *stride, static_cast<int>(bases.size()), run};
}

std::optional<store_across> as_store_across(hi::Stmt s) {
  std::vector<const hi::LetStmt *> lets;
  for (const hi::LetStmt *let; (let = s.as<hi::LetStmt>()); s = let->body) lets.push_back(let);
  const auto *store = s.as<hi::Store>();
  if (!store || !hi::is_const_one(store->predicate)) return std::nullopt;
  std::optional<store_across> made;
  if (const auto *to = store->index.as<hi::Ramp>()) {
    const auto step = hi::as_const_int(to->stride);
    if (step && store->value.type().lanes() == to->lanes)
      made = {store, {}, to->base, *step, to->lanes, 1};
  } else if (const auto *runs = store->index.as<hi::Shuffle>()) {
    made = as_runs_across(*store, *runs);
  }
  const int lanes = made ? made->lanes : 0;
  const bool fits = lanes >= 4 && (lanes & (lanes - 1)) == 0 && made->stride >= lanes * made->run;
  if (!fits) return std::nullopt;
  made->lets = lets;
  for (std::size_t k = lets.size(); k-- > 0;)
    made->base = hi::substitute(lets[k]->name, lets[k]->value, made->base);
  return made;
}

// The rows of a square that begins here; or none.
std::vector<store_across> square_at(const std::vector<hi::Stmt> &all, std::size_t begin) {
  std::vector<store_across> rows;
  while (begin + rows.size() < all.size()) {
    const std::optional<store_across> next = as_store_across(all[begin + rows.size()]);
    if (!next) return {};
    const store_across &first = rows.empty() ? *next : rows[0];
    const auto k = static_cast<int>(rows.size());
    if (next->store->name != first.store->name || next->stride != first.stride ||
        next->lanes != first.lanes || next->run != first.run ||
        distance(first.base, next->base) != k * first.run ||
        reads(next->value(), first.store->name))
      return {};
    rows.push_back(*next);
    if (k + 1 == rows[0].lanes) return rows;
  }
  return {};
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

hi::Stmt transposed(const std::vector<store_across> &rows) {
  std::vector<Expr> values;
  for (const store_across &row : rows) values.push_back(row.value());
  square s(values);
  s.transpose();
  std::vector<hi::Stmt> stores;
  for (int j = 0; j < rows[0].lanes; ++j)
    stores.push_back(rows[0].whole(s.vectors()[static_cast<std::size_t>(j)], j));
  return s.around(hi::Block::make(stores));
}

}  // namespace

hi::Stmt transposed_stores::visit(const hi::Block *op) {
  std::vector<hi::Stmt> all = flattened(op), made;
  for (std::size_t k = 0; k < all.size();) {
    const std::vector<store_across> rows = square_at(all, k);
    made.push_back(rows.empty() ? mutate(all[k]) : transposed(rows));
    k += std::max<std::size_t>(rows.size(), 1);
  }
  return hi::Block::make(made);
}

}  // namespace qkv::codegen
