// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/rows_ahead.hpp"

#include <algorithm>

#include "codegen/halide/schedules/prefetch.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;
using Halide::Expr;
using hi::Stmt;

namespace {

constexpr int page_bytes = 4096;
constexpr std::size_t most_lines = page_bytes / 2 / line_bytes;  // longer rows are left to hardware

// Where the lines of a row of one argument begin.
struct read_row {
  Halide::Type type;
  int axes = 0;  // of the argument
  std::vector<Expr> lines;
  // Rows within a page, but at least those that are on their way from memory.
  int ahead() const {
    const int bytes = static_cast<int>(lines.size()) * line_bytes;
    return std::clamp(page_bytes / bytes, 4, 32);
  }
};

// The rows of arguments that an iteration of a loop reads.
class row_reader : public lets_reader {
 public:
  explicit row_reader(const hi::For &loop) : loop_(loop) { loop.body.accept(this); }

  // None where a loop inside is long, or its length is not known at build.
  const std::map<std::string, read_row> &rows() const { return is_long_ ? none_ : rows_; }

 private:
  static constexpr int most_iterations = 64;  // of all loops inside

  using lets_reader::visit;

  void visit(const hi::For *op) override {
    const auto n = hi::as_const_int(op->extent);
    if (!n || *n * iterations_ > most_iterations || op->for_type != hi::ForType::Serial)
      is_long_ = true;
    if (is_long_ || is_left_alone(*op)) return;
    inside_.push_back(op);
    iterations_ *= *n;
    op->body.accept(this);
    iterations_ /= *n;
    inside_.pop_back();
  }

  void visit(const hi::Load *op) override {
    lets_reader::visit(op);
    const auto *ramp = op->index.as<hi::Ramp>();
    if (is_long_ || !op->param.defined() || !ramp || !hi::is_const_one(ramp->stride)) return;
    const Expr first = outside(ramp->base);
    if (!is_row(first) || !is_computed_at_once(first)) return;
    const read_row empty{op->type, op->param.dimensions(), {}};
    read_row &r = rows_.try_emplace(op->name, empty).first->second;
    const int of_line = line_bytes / op->type.element_of().bytes();
    for (int k = 0; k < op->type.lanes(); k += of_line) add(r, first + k, inside_.size());
  }

  // True if the distance to what the next iteration reads is not known at build.
  bool is_row(const Expr &first) const {
    if (!hi::expr_uses_var(first, loop_.name)) return false;
    const Expr iteration = hi::Variable::make(loop_.min.type(), loop_.name);
    return !hi::is_const(hi::simplify(hi::substitute(loop_.name, iteration + 1, first) - first));
  }

  // Adds the lines that the loops inside read, of which so many are left.
  void add(read_row &r, const Expr &first, std::size_t loops) {
    if (r.lines.size() > most_lines) return;
    if (loops == 0) return add_line(r, hi::simplify(first));
    const hi::For &loop = *inside_[loops - 1];
    if (!hi::expr_uses_var(first, loop.name)) return add(r, first, loops - 1);
    for (int k = 0; k < *hi::as_const_int(loop.extent); ++k)
      add(r, hi::substitute(loop.name, loop.min + k, first), loops - 1);
  }

  static void add_line(read_row &r, const Expr &first) {
    const int of_line = line_bytes / r.type.element_of().bytes();
    const auto holds = [&](const Expr &line) {
      const auto apart = hi::as_const_int(hi::simplify(first - line));
      return apart && *apart >= 0 && *apart < of_line;
    };
    if (std::none_of(r.lines.begin(), r.lines.end(), holds)) r.lines.push_back(first);
  }

  const hi::For &loop_;
  std::map<std::string, read_row> rows_;
  const std::map<std::string, read_row> none_;
  std::vector<const hi::For *> inside_;
  std::int64_t iterations_ = 1;
  bool is_long_ = false;
};

}  // namespace

Stmt rows_ahead::visit(const hi::LetStmt *op) {
  for (loop_around &x : around_)
    if (hi::expr_uses_vars(op->value, x.names)) x.names.push(op->name);
  return IRMutator::visit(op);
}

Stmt rows_ahead::visit(const hi::IfThenElse *op) {
  conditions_.emplace_back(around_.size(), op->condition);
  Stmt inner = IRMutator::visit(op);
  conditions_.pop_back();
  return inner;
}

Stmt rows_ahead::visit(const hi::For *op) {
  if (is_left_alone(*op)) return op;
  const bool is_task = op->for_type != hi::ForType::Serial;
  std::vector<loop_around> outside;
  if (is_task) outside.swap(around_);
  around_.push_back({op, {}});
  around_.back().names.push(op->name);
  ++loops_;
  Stmt inner = IRMutator::visit(op);
  --loops_;
  around_.pop_back();
  if (inner.same_as(op) && !is_task) inner = with_prefetches(op);
  if (is_task) around_.swap(outside);
  if (loops_ > 0) return inner;
  return large_.around(inner);
}

Stmt rows_ahead::with_prefetches(const hi::For *op) {
  const row_reader read(*op);
  const auto iterations = hi::as_const_int(op->extent);
  const Expr iteration = hi::Variable::make(op->min.type(), op->name);
  std::vector<Stmt> body;
  for (const auto &[argument, row] : read.rows()) {
    if (row.lines.empty() || row.lines.size() > most_lines) continue;
    // A short loop is over before: the loops around it must go on to these rows.
    if (iterations && *iterations <= row.ahead() && !moves_around(row.lines[0])) continue;
    std::vector<Stmt> all;
    for (const Expr &line : row.lines) {
      const Expr ahead = hi::substitute(op->name, iteration + row.ahead(), line);
      all.push_back(prefetch(argument, row.type, hi::simplify(ahead)));
    }
    Expr condition = large_.is_large(argument, row.type, row.axes);
    if (const Expr first = is_first_to_read(row.lines, op->extent); first.defined())
      condition = condition && first;
    body.push_back(hi::IfThenElse::make(condition, hi::Block::make(all)));
  }
  if (body.empty()) return op;
  body.push_back(op->body);
  return hi::For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy,
                       op->device_api, hi::Block::make(body));
}

// True if a loop around reads elsewhere in its next iteration.
bool rows_ahead::moves_around(const Expr &address) const {
  return std::any_of(around_.begin(), around_.end(), [&](const loop_around &x) {
    return x.loop->for_type == hi::ForType::Serial && hi::expr_uses_vars(address, x.names);
  });
}

// Undefined where no loop around reads all the same lines again.
Expr rows_ahead::is_first_to_read(const std::vector<Expr> &lines, const Expr &extent) const {
  // The addresses and the length of the loop itself, conditions, and the lengths of those loops
  // around that go on to other rows: they decide which rows are read.
  std::vector<Expr> decisive = lines;
  decisive.push_back(extent);
  Expr all;
  for (std::size_t k = around_.size(); k-- > 0;) {
    const auto &[loop, names] = around_[k];
    for (const auto &[loops, condition] : conditions_)
      if (loops == k + 1) decisive.push_back(condition);
    const bool decides =
        std::any_of(decisive.begin(), decisive.end(),
                    [&, &of = names](const Expr &e) { return hi::expr_uses_vars(e, of); });
    if (decides) {
      decisive.push_back(loop->extent);
    } else if (loop->for_type == hi::ForType::Serial) {
      const Expr first = hi::Variable::make(loop->min.type(), loop->name) == loop->min;
      all = all.defined() ? first && all : first;
    }
  }
  return all;
}

}  // namespace qkv::codegen
