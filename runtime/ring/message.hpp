// SPDX-License-Identifier: BSL-1.0
#pragma once
// The memory of messages.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <qkv/workspace.hpp>
#include <span>

namespace qkv::ring {

// Tells a message from others.
struct message_header {
  std::uint64_t kernel = 0;                  // its fingerprint
  std::int32_t round = 0, turn = 0, of = 0;  // the machine whose keys these are
  std::int32_t unused = 0;

  bool operator==(const message_header &) const = default;
};

// Two bodies with the header between them, so that the first or the second can go without the
// other.
class message {
 public:
  message() = default;
  // Throws std::bad_alloc.
  message(workspace &, std::size_t first_bytes, std::size_t second_bytes);

  // The same memory for other bodies, which fit.
  message with(std::size_t first_bytes, std::size_t second_bytes) const noexcept;

  std::byte *first() const { return memory_.get(); }
  std::byte *second() const { return memory_.get() + first_ + header_bytes; }
  void mark(const message_header &) const;
  message_header header() const;

  // The header with one or both of the bodies.
  std::span<std::byte> bytes(bool has_first, bool has_second) const;

  // A transport that never finishes may still write here: the memory is not given back.
  void abandon() const noexcept;

 private:
  static constexpr std::size_t header_bytes = 64;
  std::size_t first_ = 0, second_ = 0;
  std::shared_ptr<std::byte> memory_;
};

// Sizes of tensors in messages, so that each begins where vectors can be loaded.
constexpr std::size_t padded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace qkv::ring
