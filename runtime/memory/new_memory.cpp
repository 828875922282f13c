// SPDX-License-Identifier: BSL-1.0
#include <qkv/memory.hpp>

#include <cstdlib>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace qkv::detail {

void *new_memory(std::size_t bytes) noexcept {
  constexpr std::size_t line = 64, huge_page = std::size_t{2} << 20;
  const bool is_large = bytes >= 2 * huge_page;
  void *memory = nullptr;
  if (posix_memalign(&memory, is_large ? huge_page : line, bytes) != 0) return nullptr;
#if defined(__linux__)
  // One query against 6,000 keys waits for the addresses of small pages as long as for a third of
  // the keys.
  if (is_large) (void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

}  // namespace qkv::detail
