// SPDX-License-Identifier: BSL-1.0
#include "codegen/emit/c_words.hpp"

#include <string>

namespace qkv::codegen {
namespace {

constexpr std::string_view words =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t "
    "char32_t char8_t class co_await co_return co_yield compl concept const const_cast consteval "
    "constexpr constinit continue decltype default delete do double dynamic_cast else enum "
    "explicit export extern false float for friend goto if inline int long mutable namespace new "
    "noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires restrict return short signed sizeof static static_assert "
    "static_cast struct switch template this thread_local throw true try typedef typeid typename "
    "typeof union unsigned using virtual void volatile wchar_t while xor xor_eq typeof_unqual "
    "NULL linux unix qkv_tensor ";

}  // namespace

bool is_word_of_c(std::string_view name) {
  // SIZE_MAX and the like: macros of the headers that a caller may have included
  const bool capitals = name.find('_') != std::string_view::npos &&
                        name.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
  return capitals || words.find(' ' + std::string(name) + ' ') != std::string_view::npos;
}

}  // namespace qkv::codegen
