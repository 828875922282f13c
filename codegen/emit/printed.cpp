// SPDX-License-Identifier: BSL-1.0
#include "codegen/emit/printed.hpp"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <stdexcept>

#include "codegen/cuda/compile.hpp"
#include "codegen/emit/modules.hpp"
#include "codegen/program/hash.hpp"

namespace qkv::codegen {
namespace {

namespace hi = Halide::Internal;
using Halide::Expr;

// The arguments of halide_cuda_run.
enum launch_argument { name_of_entry = 1, list_of_arguments = 10, list_of_kinds = 11 };

std::string buffer_of(const std::string &variable) {
  const std::string suffix = ".buffer";
  return variable.ends_with(suffix) ? variable.substr(0, variable.size() - suffix.size())
                                    : variable;
}

// The expression below conversions.
template <class Node>
const Node *inside(const Expr &e) {
  if (const hi::Cast *cast = e.as<hi::Cast>()) return inside<Node>(cast->value);
  if (const hi::Reinterpret *r = e.as<hi::Reinterpret>()) return inside<Node>(r->value);
  return e.as<Node>();
}

const hi::Call *struct_of(const Expr &e) {
  const hi::Call *c = inside<hi::Call>(e);
  return c && c->is_intrinsic(hi::Call::make_struct) ? c : nullptr;
}

// The parameters that Halide passes to an entry, in order: tensors by the address of their buffer,
// numbers in a structure of one. The last one is null.
std::vector<entry_parameter> parameters_of(const hi::Call *run) {
  std::vector<entry_parameter> all;
  const hi::Call *list = struct_of(run->args.at(list_of_arguments));
  if (!list) throw std::logic_error("a launch without a list of arguments");
  for (const Expr &e : list->args) {
    const hi::Call *one = struct_of(e);
    const hi::Variable *v = inside<hi::Variable>(one ? one->args.at(0) : e);
    if (v) all.push_back({one ? v->name : buffer_of(v->name), !one});
  }
  return all;
}

std::uint64_t hash_of(const std::string &text) {
  hash h;
  h.add(text);
  return h.value();
}

// Launches of placeholders become launches of the printed kernels by the runtime.
class launches : public hi::IRMutator {
 public:
  launches(const printed_kernels &kernels, const printing &how, const scratch &folder)
      : kernels_(kernels), how_(how), folder_(folder) {}
  std::vector<Halide::Buffer<std::uint8_t>> code;

 private:
  using IRMutator::visit;
  Expr visit(const hi::Call *op) override {
    const hi::StringImm *name =
        op->name == "halide_cuda_run" ? op->args.at(name_of_entry).as<hi::StringImm>() : nullptr;
    if (name)
      for (const auto &k : kernels_)
        if (name->value.find(k->name + "_s0_") != std::string::npos) return launch(*k, op);
    return IRMutator::visit(op);
  }

  // See qkv_cuda_launch of runtime/qkv/kernel.h. An old compiler may not know the newest GPUs: the
  // kernel keeps the codes that it compiles.
  Expr launch(printed_kernel &k, const hi::Call *run) {
    const std::vector<entry_parameter> parameters = parameters_of(run);
    std::vector<Expr> codes;
    std::vector<printed_code> compiled;
    std::string refused;
    for (const printed_code &x : k.codes) {
      try {
        const std::string ptx = compiled_ptx(k, x, parameters);
        const auto count = [](const Expr &e) { return Halide::cast<std::int64_t>(e); };
        for (const Expr &e :
             {address_of(ptx), Expr(hash_of(ptx)), count(x.blocks), count(x.merge_blocks),
              Expr(x.capability), Expr(x.exact ? 1 : 0), Expr(x.threads), Expr(x.shared_bytes),
              Expr(x.merge_threads), Halide::cast<std::int32_t>(x.fits), Expr(x.fills)})
          codes.push_back(e);
        compiled.push_back(x);
      } catch (const std::runtime_error &e) {
        if (refused.empty()) refused = e.what();
      }
    }
    if (compiled.empty()) throw std::runtime_error(refused);
    k.codes = compiled;
    const Expr all = hi::Call::make(Halide::type_of<void *>(), hi::Call::make_struct, codes,
                                    hi::Call::Intrinsic);
    const Expr user = hi::Variable::make(Halide::type_of<void *>(), "__user_context");
    return hi::Call::make(Halide::Int(32), "qkv_cuda_launch",
                          {user, hi::StringImm::make(k.name), all, static_cast<int>(k.codes.size()),
                           run->args.at(list_of_arguments), run->args.at(list_of_kinds)},
                          hi::Call::Extern);
  }

  std::string compiled_ptx(const printed_kernel &k, const printed_code &code,
                           const std::vector<entry_parameter> &parameters) const {
    const std::string text = skeleton(code.skeleton) + text_of(k, code, parameters);
    std::string base;
    if (!how_.keep.empty()) {
      base = fmt::format("{}.{}.{}.{}", how_.keep, k.name, code.target, code.what);
      std::erase(base, ' ');
      std::ofstream(base + ".cu") << text;
    }
    const std::string ptx = ptx_of(text, how_.compiler, code.target, folder_.path(""));
    if (!base.empty()) std::ofstream(base + ".ptx") << ptx;
    return ptx;
  }

  // The text in the module, with a 0 at its end.
  Expr address_of(const std::string &text) {
    const std::string name = fmt::format("{}_printed_{}", how_.prefix, code.size());
    Halide::Buffer<std::uint8_t> b(static_cast<int>(text.size()) + 1, name);
    std::memcpy(b.data(), text.c_str(), text.size() + 1);
    code.push_back(b);
    const Expr buffer = hi::Variable::make(Halide::type_of<halide_buffer_t *>(), name + ".buffer",
                                           Halide::Buffer<>(b));
    return hi::Call::make(Halide::type_of<void *>(), hi::Call::buffer_get_host, {buffer},
                          hi::Call::Extern);
  }

  const printed_kernels &kernels_;
  const printing &how_;
  const scratch &folder_;
};

}  // namespace

Halide::Module with_printed_kernels(const Halide::Module &m, const printed_kernels &kernels,
                                    const printing &how, const scratch &folder) {
  if (kernels.empty()) return m;
  launches calls(kernels, how, folder);
  Halide::Module result = rewritten(m, calls);
  for (const auto &b : calls.code) result.append(b);
  return result;
}

}  // namespace qkv::codegen
