// SPDX-License-Identifier: BSL-1.0
#pragma once
// The purpose of an expression, beyond its shape: facts for the meaning checks. Part of the
// expression's type.
#include <qkv/core/axes.hpp>

namespace qkv::core {

// The functions of attention/ that relate queries to keys.
enum class relation : unsigned char {
  causal,
  cached_causal,
  prefix,
  sliding_window,
  global_window,
  dilated,
  alibi,
  relative_bias,
  t5_bias,
  t5_causal_bias
};

// Where a relation counts the positions of its queries from: the first or last positions lie
// together, or the queries are the last of the `length` positions in a cache, or the first `count`
// of them are.
enum class origin : unsigned char { unsaid, first, last, length, count };

struct info;

struct placing {
  maybe_axis query{};
  maybe_axis key{};
  relation by = relation::causal;
  origin from = origin::unsaid;
  const info *length = nullptr;  // that from counts back from
};

// A treatment of x along an axis that a later step may undo or contradict.
enum class treatment : unsigned char {
  none,
  shifted,    // x - max<along>(x), or exp of it, or a sum of exp of it over along
  centred,    // x - mean<along>(x)
  deviation,  // the square of that
  unit,       // divided by its length over along
  rotated,    // turned in pairs of along: its halves
  turned,     // the same by angles that count the positions of from, 0 first
  rotated_2,  // turned in pairs of neighbours along it
  turned_2,   // the same by angles that count positions
  counted,    // such angles, or a product of features that they turned
  counted_2   // a product of two of them: the positions of along and from count from 0
};

struct treated {
  treatment by = treatment::none;
  const axis_data *along = nullptr;
  const axis_data *from = nullptr;
};

struct marks {
  axes weights{};        // softmax or normalize made it weights over these
  axes contracted{};     // by the last dot (or a sum after it)
  axes statistic{};      // reduced over these: mean, max, min, sum, logsumexp
  axes mask_lacks{};     // axes along which some mask is constant
  axes bias_lacks{};     // axes along which some added term is constant
  axes factor_lacks{};   // axes along which a computed factor is constant
  axes masked{};         // axes along which a mask removed positions
  axes zeroed{};         // axes along which removed positions were summed to 0
  maybe_axis query{};    // of a causal mask, or of another relation that has sides
  maybe_axis key{};      // of the same
  maybe_axis root{};     // sqrt(root), or 1 / sqrt(root)
  bool inverse = false;  // the latter
  maybe_axis scaled{};   // divided by sqrt(scaled), since it was contracted or before
  maybe_axis first{};    // one axis was split into these two
  maybe_axis second{};
  treated done{};
  bool lack_apart = false;  // of two terms or masks, each lacks an axis that the other has
  bool left_out = false;    // a sum without masked positions
  bool projected = false;   // a product with a param
  bool by_head = false;     // the same, by a matrix of each head, whose features are `contracted`
  bool gated = false;       // 0 wherever its b8 factor is false
  bool dropped = false;     // with a part left out
  bool quotient = false;    // of positions by a whole number
  bool unaligned =
      false;  // a causal mask between axes of unrelated size that does not state how they align
  maybe_axis twice{};  // named twice by the declaration of this input
  bool stray = false;  // its declaration has an entry that is neither an axis nor a dtype
  bool param = false;  // made of parameters only
  bool given = false;  // an input or its log, perhaps with numbers and positions: (1 - M) * -1e4
  dtype type = f32;
  relation by = relation::causal;  // named query and key
  placing placed{};                // the relation that knows most about positions

  // The same with f applied to every set of axes.
  template <class F>
  constexpr marks over_axes(F f) const {
    marks m = *this;
    for (axes *s : {&m.weights, &m.contracted, &m.statistic, &m.mask_lacks, &m.bias_lacks,
                    &m.factor_lacks, &m.masked, &m.zeroed})
      *s = f(*s);
    return m;
  }
};

}  // namespace qkv::core

namespace qkv::detail {

// New numbers: only what they are made of and their type remain.
constexpr marks values(const marks &m, dtype type) {
  marks r;
  r.param = m.param;
  r.type = type;
  return r;
}

// Through a nonlinear function: no longer weights, and what was added no longer cancels.
constexpr marks bent(marks m, dtype type) {
  m.weights = {};
  m.bias_lacks = m.factor_lacks = {};
  m.root = {};
  m.scaled = {};
  m.quotient = false;
  m.done = {};
  m.projected = m.gated = false;
  m.given = false;
  m.type = type;
  return m;
}

}  // namespace qkv::detail
