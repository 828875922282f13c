#pragma once
// The main() of a generator: qkv_add_kernels writes one that calls this with the kernels of a spec.
//
//   generator list                                                      one kernel per line
//   generator kernel ID --out DIR --targets host,cuda,opencl            DIR/ID.a, DIR/ID.sheet.txt
//   generator library --name LIB --out DIR --targets host,cuda,opencl   DIR/LIB.kernels.h, DIR/LIB_kernels.c
//
// `kernel` does nothing when neither the kernel, nor the targets, nor the code generator have changed since DIR/ID.a
// was written. ID is the identifier of a kernel in C++: its name, unless it is derived from another kernel. Further options of `kernel`: --stmt and --assembly also write the lowered loops and the assembly.
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "codegen/gradient/make_program.hpp"
#include "codegen/program/program.hpp"

namespace qkv::codegen {

// A kernel that is traced on request, so that one wrong kernel does not prevent the others from
// being built.
struct traceable {
  std::string identifier;  // the last part of the kernel's name in C++
  program (*trace)();
  program (*source)() = nullptr;  // of a derived kernel: what it is derived from
};
template <class Kernel>
concept is_derived = requires { typename Kernel::of; };
template <const auto &Kernel>
traceable traceable_of(std::string identifier) {
  using K = std::remove_cvref_t<decltype(Kernel)>;
  traceable t{std::move(identifier), [] { return make_program(Kernel); }};
  if constexpr (is_derived<K>) t.source = [] { return make_program(typename K::of()); };
  return t;
}

// True if the identifier of a kernel is its name, or the kernel is derived and has no name of its own.
template <const auto &Kernel>
constexpr bool is_named(std::string_view identifier) {
  using K = std::remove_cvref_t<decltype(Kernel)>;
  return K::name == identifier || is_derived<K>;
}

// Returns the exit status; prints errors to stderr.
int generate(int argc, char **argv, const std::vector<traceable> &kernels);

}  // namespace qkv::codegen
