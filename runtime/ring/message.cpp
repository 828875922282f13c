// SPDX-License-Identifier: BSL-1.0
#include "ring/message.hpp"

#include <cstring>
#include <new>

#include "ring/local_tensor.hpp"

namespace qkv::ring {

message::message(workspace &from, std::size_t first_bytes, std::size_t second_bytes)
    : first_(padded(first_bytes)),
      second_(padded(second_bytes)),
      memory_(borrowed(from, first_ + header_bytes + second_)) {
  static_assert(sizeof(message_header) <= header_bytes);
  std::memset(memory_.get() + first_, 0, header_bytes);
}

message message::with(std::size_t first_bytes, std::size_t second_bytes) const noexcept {
  message other = *this;
  other.first_ = padded(first_bytes);
  other.second_ = padded(second_bytes);
  return other;
}

void message::mark(const message_header &h) const {
  std::memcpy(memory_.get() + first_, &h, sizeof h);
}

message_header message::header() const {
  message_header h;
  std::memcpy(&h, memory_.get() + first_, sizeof h);
  return h;
}

std::span<std::byte> message::bytes(bool has_first, bool has_second) const {
  const std::size_t begin = has_first ? 0 : first_,
                    end = first_ + header_bytes + (has_second ? second_ : 0);
  return {memory_.get() + begin, end - begin};
}

void message::abandon() const noexcept {
  if (memory_) (void)new (std::nothrow) std::shared_ptr<std::byte>(memory_);
}

}  // namespace qkv::ring
