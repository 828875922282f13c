// SPDX-License-Identifier: BSL-1.0
#include "codegen/emit/shared_memory.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <string_view>

#include "codegen/emit/modules.hpp"

namespace qkv::codegen {
namespace {

namespace hi = Halide::Internal;
using Halide::Expr;
using text = std::string_view;

bool is_access_of_shared_memory(text line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (line.starts_with('@'))  // a predicate
    line.remove_prefix(std::min(line.find_first_of(" \t"), line.size()));
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const text instruction = line.substr(0, line.find_first_of(" \t"));
  constexpr std::array<text, 4> kinds = {"ld.", "st.", "atom.", "red."};
  return instruction.find(".shared") != text::npos &&
         std::any_of(kinds.begin(), kinds.end(),
                     [&](text kind) { return instruction.starts_with(kind); });
}

// "%r1+-16" or "128": a register, a number or both.
std::string shifted(text address, int bytes) {
  const std::size_t plus = address.find('+');
  const bool is_number = std::isdigit(static_cast<unsigned char>(address[0]));
  if (plus == text::npos && !is_number) return std::string(address) + "+" + std::to_string(bytes);
  const text base = is_number ? "" : address.substr(0, plus + 1);
  const text number = is_number ? address : address.substr(plus + 1);
  return std::string(base) + std::to_string(std::stoi(std::string(number)) + bytes);
}

// Calls of Halide's runtime: code of this size, and launches that request more.
class calls_for_more : public hi::IRMutator {
 public:
  explicit calls_for_more(int size) : size_(size) {}

 private:
  using IRMutator::visit;

  Expr visit(const hi::Call *op) override {
    if (op->name == "halide_cuda_initialize_kernels") return with(op, 2, size_);
    if (op->name == "halide_cuda_run") return with(op, 8, op->args.at(8) + reserved_shared_memory);
    return IRMutator::visit(op);
  }

  static Expr with(const hi::Call *op, std::size_t argument, Expr value) {
    std::vector<Expr> args = op->args;
    args.at(argument) = std::move(value);
    return hi::Call::make(op->type, op->name, args, op->call_type);
  }

  int size_;
};

}  // namespace

std::string shared_memory_shifted(text ptx, int bytes) {
  std::string all;
  for (std::size_t at = 0; at < ptx.size();) {
    const std::size_t end = std::min(ptx.find('\n', at), ptx.size() - 1) + 1;
    const text line = ptx.substr(at, end - at);
    at = end;
    const std::size_t open = line.find('['), close = line.find(']');
    if (!is_access_of_shared_memory(line) || open == text::npos || close == text::npos) {
      all += line;
      continue;
    }
    all += line.substr(0, open + 1);
    all += shifted(line.substr(open + 1, close - open - 1), bytes);
    all += line.substr(close);
  }
  return all;
}

Halide::Module with_shared_memory_apart(const Halide::Module &m) {
  const Halide::Buffer<> code = m.get_cuda_ptx_assembly_buffer();
  if (!code.defined()) return m;
  const text ptx(static_cast<const char *>(code.data()), code.number_of_elements());
  const std::string moved = shared_memory_shifted(ptx, reserved_shared_memory);
  Halide::Buffer<std::uint8_t> further(static_cast<int>(moved.size()), code.name());
  std::memcpy(further.data(), moved.data(), moved.size());
  calls_for_more calls(static_cast<int>(moved.size()));
  return rewritten(m, calls, further);
}

}  // namespace qkv::codegen
