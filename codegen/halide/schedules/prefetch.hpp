// SPDX-License-Identifier: BSL-1.0
#pragma once
// The instruction that reads a line of memory ahead, for arguments that a cache does not hold.
#include <Halide.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace qkv::codegen {

constexpr int line_bytes = 64;  // of a cache

// Reads the line that holds an element of an argument into all caches, as __builtin_prefetch does.
// No element needs to be there. Halide's own prefetch is prefetchnta, which on Intel leaves the
// line in the first cache alone.
Halide::Internal::Stmt prefetch(const std::string &argument, Halide::Type, const Halide::Expr &at);

// True of an address that is made of sums and products: a table of positions ends with its last
// row, and a division takes longer than a prefetch saves.
bool is_computed_at_once(const Halide::Expr &address);

// A visitor that knows the meaning of the names inside of what it visits.
class lets_reader : public Halide::Internal::IRVisitor {
 protected:
  using IRVisitor::visit;
  void visit(const Halide::Internal::LetStmt *op) override { named(*op); }
  void visit(const Halide::Internal::Let *op) override { named(*op); }

  // The same, in names from outside.
  Halide::Expr outside(Halide::Expr) const;

 private:
  template <class Let>
  void named(const Let &op) {
    op.value.accept(this);
    lets_.emplace_back(op.name, op.value);
    op.body.accept(this);
    lets_.pop_back();
  }

  std::vector<std::pair<std::string, Halide::Expr>> lets_;
};

// Which arguments have so many bytes, known at the call.
class large_arguments {
 public:
  explicit large_arguments(std::int64_t least_bytes) : least_bytes_(least_bytes) {}

  Halide::Expr is_large(const std::string &argument, Halide::Type, int axes);
  // The statement with the names that is_large() returned, which are forgotten.
  Halide::Internal::Stmt around(Halide::Internal::Stmt);

 private:
  const std::int64_t least_bytes_;
  std::map<std::string, Halide::Expr> conditions_;
};

// True of a loop that has `no_prefetch_name` in its name.
bool is_left_alone(const Halide::Internal::For &);

}  // namespace qkv::codegen
