// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/rows_ahead.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/halide/lower/attention_funcs.hpp"
#include "codegen/halide/schedules/prefetch.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;
using Halide::Expr;
using hi::Stmt;

namespace {

constexpr int page_bytes = 4096;
constexpr int least_turns = 8;  // of a loop: shorter ones copy the rows of a tile
// Longer rows are sequential memory for hardware, too.
constexpr int most_lines = page_bytes / 2 / line_bytes;

// Where the lines of a row of one argument begin.
struct row_of_turn {
  Halide::Type type;
  int axes = 0;  // of the argument
  std::vector<Expr> lines;
  // Rows within a page, but at least those that are on their way from memory.
  int ahead() const {
    const int bytes = static_cast<int>(lines.size()) * line_bytes;
    return std::clamp(page_bytes / bytes, 4, 32);
  }
};

const std::string large_name = ".is_large";  // of a condition, after the argument's name

// Of the whole argument.
Expr bytes_of(const std::string &argument, const row_of_turn &r) {
  const Expr buffer =
      hi::Variable::make(Halide::type_of<halide_buffer_t *>(), argument + ".buffer");
  Expr bytes = Halide::cast<std::int64_t>(r.type.element_of().bytes());
  for (int d = 0; d < r.axes; ++d)
    bytes *= Halide::cast<std::int64_t>(hi::Call::make(Halide::Int(32), hi::Call::buffer_get_extent,
                                                       {buffer, d}, hi::Call::Extern));
  return bytes;
}

// True of an address that is made of sums and products: a table of positions ends with its last
// row, and a division takes longer than a prefetch saves.
bool is_computed_at_once(const Expr &address) {
  class finder : public hi::IRGraphVisitor {
    using IRGraphVisitor::visit;
    void visit(const hi::Load *) override { found = true; }
    void visit(const hi::Call *) override { found = true; }
    void visit(const hi::Div *op) override { of(op->a, op->b); }
    void visit(const hi::Mod *op) override { of(op->a, op->b); }
    void of(const Expr &a, const Expr &b) {
      found |= !hi::is_const(b);
      a.accept(this);
    }

   public:
    bool found = false;
  } slow;
  address.accept(&slow);
  return !slow.found;
}

// The rows of arguments that a turn of a loop reads.
class turn_reader : public hi::IRVisitor {
 public:
  explicit turn_reader(const hi::For &loop) : loop_(loop) { loop.body.accept(this); }

  std::map<std::string, row_of_turn> rows;
  bool is_of_known_length = true;  // every loop inside

 private:
  static constexpr int most_turns = 32;  // of a loop inside

  using IRVisitor::visit;

  void visit(const hi::LetStmt *op) override { within(*op); }
  void visit(const hi::Let *op) override { within(*op); }

  template <class Named>
  void within(const Named &op) {
    op.value.accept(this);
    lets_.emplace_back(op.name, op.value);
    op.body.accept(this);
    lets_.pop_back();
  }

  void visit(const hi::For *op) override {
    const auto turns = hi::as_const_int(op->extent);
    if (!turns || *turns > most_turns || op->for_type != hi::ForType::Serial) {
      is_of_known_length = false;
      return;
    }
    inside_.push_back(op);
    op->body.accept(this);
    inside_.pop_back();
  }

  void visit(const hi::Load *op) override {
    IRVisitor::visit(op);
    const auto *ramp = op->index.as<hi::Ramp>();
    if (!op->param.defined() || !ramp || !hi::is_const_one(ramp->stride)) return;
    Expr first = ramp->base;
    for (auto let = lets_.rbegin(); let != lets_.rend(); ++let)
      first = hi::substitute(let->first, let->second, first);
    if (!is_row(first) || !is_computed_at_once(first)) return;
    row_of_turn &r =
        rows.try_emplace(op->name, row_of_turn{op->type, op->param.dimensions(), {}}).first->second;
    add(r, first, inside_.size());
  }

  // True if the next turn reads elsewhere, in a place that hardware does not know.
  bool is_row(const Expr &first) const {
    if (!hi::expr_uses_var(first, loop_.name)) return false;
    const Expr turn = hi::Variable::make(Halide::Int(32), loop_.name);
    const Expr step = hi::simplify(hi::substitute(loop_.name, turn + 1, first) - first);
    return !hi::is_const(step);
  }

  // At every turn of the loops inside.
  void add(row_of_turn &r, const Expr &first, std::size_t depth) {
    if (depth == 0) return add_line(r, hi::simplify(first));
    const hi::For &loop = *inside_[depth - 1];
    if (!hi::expr_uses_var(first, loop.name)) return add(r, first, depth - 1);
    for (int k = 0; k < *hi::as_const_int(loop.extent); ++k)
      add(r, hi::substitute(loop.name, loop.min + k, first), depth - 1);
  }

  static void add_line(row_of_turn &r, const Expr &first) {
    if (r.lines.size() > most_lines) return;
    const int elements = line_bytes / r.type.element_of().bytes();
    const auto holds = [&](const Expr &line) {
      const auto apart = hi::as_const_int(hi::simplify(first - line));
      return apart && *apart >= 0 && *apart < elements;
    };
    if (std::none_of(r.lines.begin(), r.lines.end(), holds)) r.lines.push_back(first);
  }

  const hi::For &loop_;
  std::vector<std::pair<std::string, Expr>> lets_;
  std::vector<const hi::For *> inside_;
};

}  // namespace

Stmt rows_ahead::visit(const hi::LetStmt *op) {
  for (loop_around &x : around_)
    if (hi::expr_uses_vars(op->value, x.of_turn)) x.of_turn.push(op->name);
  return IRMutator::visit(op);
}

Stmt rows_ahead::visit(const hi::For *op) {
  if (op->name.find(no_prefetch_name) != op->name.npos) return op;
  std::vector<loop_around> outside;
  if (op->for_type != hi::ForType::Serial) outside.swap(around_);
  around_.push_back({op, {}});
  around_.back().of_turn.push(op->name);
  ++loops_;
  Stmt inner = IRMutator::visit(op);
  --loops_;
  around_.pop_back();
  if (op->for_type != hi::ForType::Serial) around_.swap(outside);
  if (inner.same_as(op)) inner = with_prefetches(op);
  if (loops_ > 0) return inner;
  for (const auto &[argument, condition] : is_large_)
    inner = hi::LetStmt::make(argument + large_name, condition, inner);
  is_large_.clear();
  return inner;
}

Stmt rows_ahead::with_prefetches(const hi::For *op) {
  if (op->for_type != hi::ForType::Serial) return op;
  if (const auto turns = hi::as_const_int(op->extent); turns && *turns < least_turns) return op;
  const turn_reader read(*op);
  if (!read.is_of_known_length) return op;
  const Expr turn = hi::Variable::make(op->min.type(), op->name);
  std::vector<Stmt> body;
  for (const auto &[argument, row] : read.rows) {
    if (row.lines.size() > most_lines) continue;
    std::vector<Stmt> all;
    for (const Expr &line : row.lines) {
      const Expr ahead = hi::substitute(op->name, turn + row.ahead(), line);
      all.push_back(prefetch(argument, row.type, hi::simplify(ahead)));
    }
    is_large_[argument] = bytes_of(argument, row) >= hi::make_const(Halide::Int(64), least_bytes_);
    Expr condition = hi::Variable::make(Halide::Bool(), argument + large_name);
    if (const Expr first = is_first_to_read(row.lines); first.defined())
      condition = condition && first;
    body.push_back(hi::IfThenElse::make(condition, hi::Block::make(all)));
  }
  if (body.empty()) return op;
  body.push_back(op->body);
  return hi::For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy,
                       op->device_api, hi::Block::make(body));
}

// Undefined where no loop around reads the same lines again.
Expr rows_ahead::is_first_to_read(const std::vector<Expr> &lines) const {
  Expr all;
  for (const loop_around &x : around_) {
    const bool moves = std::any_of(lines.begin(), lines.end(), [&](const Expr &line) {
      return hi::expr_uses_vars(line, x.of_turn);
    });
    if (moves || x.loop->for_type != hi::ForType::Serial) continue;
    const Expr first = hi::Variable::make(x.loop->min.type(), x.loop->name) == x.loop->min;
    all = all.defined() ? all && first : first;
  }
  return all;
}

}  // namespace qkv::codegen
