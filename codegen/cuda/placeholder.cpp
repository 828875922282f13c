// SPDX-License-Identifier: BSL-1.0
#include "codegen/cuda/placeholder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "codegen/halide/lower/expression_text.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;
using Halide::Expr;
using hi::Stmt;

namespace {

const std::string written_name = "qkv_written_by_another";

// The call has side effects as far as Halide knows, so that it stays where it is.
Expr call(const std::string &name, const Halide::Type &t, const std::vector<Expr> &args) {
  return hi::Call::make(t, name, args, hi::Call::Extern);
}

}  // namespace

// ---- what the text refers to --------------------------------------------------------------------

int placeholder::add(node_id n, bool written) {
  printed_tensor t{c_type(halide_type(c_.p[n].type)), written, {}, k_.numbers.size(), {}, {}};
  const std::vector<axis_id> &order = c_.order_in_memory(n);
  for (std::size_t d = order.size(); d-- > 0;) t.last.push_back(c_.extent(order[d]) - 1);
  k_.numbers.resize(k_.numbers.size() + 1 + order.size());
  k_.tensors.push_back(std::move(t));
  return static_cast<int>(k_.tensors.size()) - 1;
}

int placeholder::tensor(node_id n) {
  if (const auto it = seen_.find(n); it != seen_.end()) return it->second;
  const std::vector<axis_id> &order = c_.order_in_memory(n);
  const auto read_with = [&](std::optional<axis_id> at_end) {
    indices at;
    for (axis_id a : order) at[a] = a == at_end ? c_.extent(a) - 1 : Expr(0);
    return c_.element(n, at);
  };
  if (const Expr first = c_.before(n); first.defined()) before_.push_back(first);
  reads_.push_back(read_with({}));
  for (std::size_t d = order.size(); d-- > 0;) reads_.push_back(read_with(order[d]));
  return seen_[n] = add(n, false);
}

int placeholder::written(node_id n) {
  const int t = tensor(n);
  k_.tensors[static_cast<std::size_t>(t)].written = true;
  return t;
}

int placeholder::result(node_id n) {
  const int t = add(n, true);
  const std::vector<axis_id> &order = c_.order_in_memory(n);
  for (std::size_t d = order.size(); d-- > 0;)
    k_.tensors.back().loops.push_back(c_.var(order[d]).name());
  return t;
}

int placeholder::scratch(const Halide::Func &f, const Expr &size) {
  reads_.push_back(f(0));
  reads_.push_back(f(size - 1));
  k_.tensors.push_back({"float", true, {size - 1}, k_.numbers.size(), {}, {}});
  k_.numbers.resize(k_.numbers.size() + 2);
  return static_cast<int>(k_.tensors.size()) - 1;
}

std::string placeholder::number(const Expr &e) {
  const Expr simple = hi::simplify(e);
  for (std::size_t n = 0; n < k_.numbers.size(); ++n)
    if (k_.numbers[n].defined() && hi::equal(k_.numbers[n], simple)) return fmt::format("a.n{}", n);
  k_.numbers.push_back(simple);
  return fmt::format("a.n{}", k_.numbers.size() - 1);
}

std::string placeholder::stride(int tensor, std::size_t dimension) const {
  return fmt::format("a.n{}",
                     k_.tensors[static_cast<std::size_t>(tensor)].first_number + 1 + dimension);
}

std::string placeholder::first(int tensor) const {
  return fmt::format("a.b{} + a.n{}", tensor,
                     k_.tensors[static_cast<std::size_t>(tensor)].first_number);
}

std::string placeholder::element(int tensor, const std::vector<std::string> &at) const {
  std::string text = first(tensor);
  for (std::size_t d = 0; d < at.size(); ++d)
    text += fmt::format(" + {} * {}", at[d], stride(tensor, d));
  return fmt::format("*({})", text);
}

// The elements that it reads come first.
Expr placeholder::value(const Halide::Type &t) const {
  std::vector<Expr> all = reads_;
  all.insert(all.end(), before_.begin(), before_.end());
  return call(k_.name, t, all);
}

Expr placeholder::value_of_written(const Halide::Type &t) { return call(written_name, t, {}); }

// ---- lowering -----------------------------------------------------------------------------------

namespace {

// The store of a placeholder, with the definitions around it.
struct placed {
  const hi::Store *store = nullptr;
  std::string called;
  std::vector<Expr> args;
  std::vector<std::string> loops;  // outermost first
  std::vector<std::pair<std::string, Expr>> lets;
};

class finder : public hi::IRVisitor {
 public:
  std::optional<placed> found;

 private:
  using IRVisitor::visit;
  void visit(const hi::For *op) override {
    // Halide adds a loop over the one thread of a block.
    const bool is_dimension = op->for_type != hi::ForType::GPUThread;
    if (is_dimension) now_.loops.push_back(op->name);
    op->body.accept(this);
    if (is_dimension) now_.loops.pop_back();
  }
  void visit(const hi::LetStmt *op) override {
    now_.lets.emplace_back(op->name, op->value);
    op->body.accept(this);
    now_.lets.pop_back();
  }
  void visit(const hi::Store *op) override {
    struct caller : hi::IRVisitor {
      using IRVisitor::visit;
      const hi::Call *call = nullptr;
      void visit(const hi::Call *c) override {
        if (c->name.rfind("qkv_printed_", 0) == 0 || c->name == written_name) call = c;
        IRVisitor::visit(c);
      }
    } look;
    const Expr value = hi::substitute_in_all_lets(op->value);
    value.accept(&look);
    if (!look.call) return;
    found = now_;
    found->store = op;
    found->called = look.call->name;
    found->args = look.call->args;
  }

  placed now_;
};

// The expression in terms of loops and of what is defined outside of them.
Expr with_lets(Expr e, const placed &p) {
  for (std::size_t k = p.lets.size(); k-- > 0;)
    e = hi::substitute(p.lets[k].first, p.lets[k].second, e);
  return hi::substitute_in_all_lets(e);
}

// Where an element of the result lies, at these positions along the loops.
Expr result_index(const placed &p, const std::vector<int> &at) {
  Expr e = with_lets(p.store->index, p);
  for (std::size_t k = 0; k < p.loops.size(); ++k) e = hi::substitute(p.loops[k], Expr(at[k]), e);
  return hi::simplify(e);
}

// The launch that takes the place of the loops.
class launch {
 public:
  launch(const placed &p, printed_kernel &k) : p_(p), k_(k) {}

  Stmt run() {
    std::size_t read = 0;
    for (printed_tensor &t : k_.tensors) t.loops.empty() ? lay_out(t, read) : lay_out_result(t);
    Stmt s = hi::Store::make(p_.store->name, Halide::cast(p_.store->value.type(), everything()), 0,
                             p_.store->param, hi::const_true(), {});
    const std::string base = k_.name + ".s0.tile";
    s = hi::For::make(base + hi::gpu_thread_name(0), 0, 1, hi::ForType::GPUThread,
                      Halide::Partition::Auto, Halide::DeviceAPI::CUDA, s);
    s = hi::For::make(base + hi::gpu_block_name(0), 0, 1, hi::ForType::GPUBlock,
                      Halide::Partition::Auto, Halide::DeviceAPI::CUDA, s);
    for (std::size_t n = k_.numbers.size(); n-- > 0;)
      if (!hi::is_const(k_.numbers[n]))
        s = hi::LetStmt::make(variable_of_number(k_, n), k_.numbers[n], s);
    return s;
  }

 private:
  void lay_out(printed_tensor &t, std::size_t &read) {
    const Expr first = read_at(read++);
    const hi::Load *at_first = load_of(first);
    t.halide_name = at_first->name;
    loads_.push_back(hi::Load::make(at_first->type, at_first->name, 0, at_first->image,
                                    at_first->param, hi::const_true(), {}));
    k_.numbers[t.first_number] = hi::simplify(at_first->index);
    for (std::size_t d = 0; d < t.last.size(); ++d) {
      const Expr last = hi::simplify(t.last[d]), at_last = read_at(read++);
      Expr stride =
          hi::simplify((load_of(at_last)->index - at_first->index) / Halide::max(last, 1));
      if (hi::is_const_zero(last)) stride = 0;
      k_.numbers[t.first_number + 1 + d] = stride;
    }
  }

  Expr read_at(std::size_t n) const { return with_lets(p_.args.at(n), p_); }
  static const hi::Load *load_of(const Expr &e) {
    const hi::Load *l = e.as<hi::Load>();
    if (!l) throw std::logic_error("a placeholder's argument is not an element of memory");
    return l;
  }

  void lay_out_result(printed_tensor &t) {
    t.halide_name = p_.store->name;
    const Expr first = result_index(p_, std::vector<int>(p_.loops.size(), 0));
    k_.numbers[t.first_number] = first;
    for (std::size_t d = 0; d < t.loops.size(); ++d) {
      std::vector<int> at(p_.loops.size(), 0);
      for (std::size_t l = 0; l < p_.loops.size(); ++l) at[l] = is_loop_of(t.loops[d], p_.loops[l]);
      k_.numbers[t.first_number + 1 + d] = hi::simplify(result_index(p_, at) - first);
    }
  }

  // Loops are called O.s0.at_seq, or O.s0.at_seq.block_id_x.
  static bool is_loop_of(const std::string &variable, const std::string &loop) {
    const std::string part = ".s0." + variable;
    const std::size_t at = loop.find(part);
    if (at == std::string::npos) return false;
    const std::size_t end = at + part.size();
    return end == loop.size() || loop[end] == '.';
  }

  // A value made of all that the kernel reads: Halide passes what the loops use.
  Expr everything() const {
    Expr sum = 0.f;
    for (const Expr &l : loads_) sum = sum + Halide::cast<float>(l);
    for (std::size_t n = 0; n < k_.numbers.size(); ++n)
      if (!hi::is_const(k_.numbers[n]))
        sum = sum +
              Halide::cast<float>(hi::Variable::make(Halide::Int(32), variable_of_number(k_, n)));
    return sum;
  }

  const placed &p_;
  printed_kernel &k_;
  std::vector<Expr> loads_;
};

}  // namespace

Stmt launch_printed::visit(const hi::For *op) {
  finder f;
  Stmt(op).accept(&f);
  if (!f.found) return op;
  if (f.found->called == written_name) return hi::Evaluate::make(0);
  const auto kernel = std::find_if(kernels_.begin(), kernels_.end(),
                                   [&](const auto &k) { return k->name == f.found->called; });
  return launch(*f.found, **kernel).run();
}

}  // namespace qkv::codegen
