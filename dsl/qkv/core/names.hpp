// SPDX-License-Identifier: BSL-1.0
#pragma once
// Names of kernels, arguments, axes and steps: identifiers, since they become names in the
// generated C.
#include <qkv/core/step.hpp>

namespace qkv::detail {

// Names that begin with _ belong to C and its compilers.
constexpr bool is_identifier(sv s) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (s.empty() || !letter(s[0])) return false;
  for (char c : s)
    if (!(letter(c) || c == '_' || (c >= '0' && c <= '9'))) return false;
  return true;
}

constexpr bool bad_name(message &m, sv what, sv name) {
  if (is_identifier(name)) return false;
  if (name.empty()) {
    m.say(what, ": a name belongs in quotes");
    return true;
  }
  m.say(what, " ", name, ": a name is a letter, then letters, digits or _");
  return true;
}

// The C function of a kernel is qkv_<name>, next to the declarations of qkv/kernel.h
// (tests/structure compares) and the names that generated code gives to kernels and libraries.
inline constexpr sv names_of_runtime[] = {"argument",    "axis",
                                          "call",        "call_saved",
                                          "call_saving", "call_with",
                                          "chunk_part",  "chunk_temporary",
                                          "chunk_value", "chunks",
                                          "condition",   "cuda_code",
                                          "cuda_launch", "entry",
                                          "kernel",      "library",
                                          "pack",        "register_library",
                                          "run_chunks",  "saved",
                                          "saved_free",  "saved_new",
                                          "tensor",      "unregister_library",
                                          "variant"};

constexpr bool bad_kernel_name(message &m, sv name) {
  if (bad_name(m, "kernel", name)) return true;
  for (sv prefix : {sv("code_"), sv("library_")})
    if (name.starts_with(prefix)) {
      m.say("kernel ", name, ": qkv_", prefix, ".. is the name of other generated code")
          .say("choose another name");
      return true;
    }
  for (sv taken : names_of_runtime)
    if (name == taken) {
      m.say("kernel ", name, ": the runtime has a qkv_", name, " of its own")
          .say("choose another name");
      return true;
    }
  return false;
}

}  // namespace qkv::detail
