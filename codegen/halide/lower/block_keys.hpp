// SPDX-License-Identifier: BSL-1.0
#pragma once
// The keys of a block that some row of the tile may see, as a range of a sum; and such a key as a
// coordinate. where() trims the loops; the clamp, redundant in value, trims the bounds required of
// the producers.
#include <string>

#include "codegen/halide/lower/attention_setting.hpp"
#include "codegen/halide/lower/key_range.hpp"

namespace qkv::codegen {

class block_keys {
 public:
  explicit block_keys(const attention_setting &);

  // `unrolled`: several at a time, without conditions but at the end.
  Halide::RDom range(const std::string &name, bool unrolled = false) const;
  // Keeps a range to the keys of the block that some row may see.
  void limit(Halide::RDom &, const Halide::Expr &key, bool unrolled = false) const;
  // The same in whole vectors of keys: keys past the end are masked, and repeat the last one.
  Halide::RDom vectors(const std::string &name) const;
  // The same, two keys at a time: x counts these, and y the twos. One of the last two may be
  // hidden.
  Halide::RDom twos(const std::string &name, bool unrolled) const;
  // The same in chunks of so many keys: x counts the keys of a two, y the twos of a chunk, and z
  // the chunks. The last one may have hidden keys.
  Halide::RDom chunks(const std::string &name, int keys) const;
  // A part of a block, of so many keys.
  Halide::Expr trimmed_part(const Halide::Expr &part, int keys) const;
  Halide::Expr trimmed(const Halide::RDom &keys) const;
  Halide::Expr trimmed(const Halide::Expr &key) const;
  Halide::Expr trimmed_vector(const Halide::RDom &vectors) const;
  // The keys that the masks leave to some row of this tile.
  const key_range &visible() const { return visible_; }
  // False for a block of keys all of which this sum has for every row of the call.
  Halide::Expr hides_some(const weighted_sum &) const;

 private:
  const attention_setting &a_;
  const key_range visible_;
  Halide::Expr limit_;
};

}  // namespace qkv::codegen
