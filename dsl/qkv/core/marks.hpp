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
  counted_2,  // a product of two of them: the positions of along and from count from 0
  cosines     // a product of two of unit length, perhaps with gains
};

struct treated {
  treatment by = treatment::none;
  const axis_data *along = nullptr;
  const axis_data *from = nullptr;
};

// Axes along which a part of the expression is constant.
struct constancy {
  axes mask{};
  axes bias{};         // an added term
  axes factor{};       // a factor that was computed
  bool apart = false;  // of two terms or masks, each lacks an axis that the other has
};

// Positions that take no part, or whose value is 0 for that reason.
struct hiding {
  axes masked{};          // axes along which a mask removed positions
  axes zeroed{};          // axes along which removed positions were summed to 0
  bool left_out = false;  // a sum without masked positions
  bool gated = false;     // 0 wherever its b8 factor is false
  bool dropped = false;   // with a part left out
};

// The queries and keys that a mask or a bias relates.
struct sides {
  maybe_axis query{};  // of a causal mask, or of another relation that has sides
  maybe_axis key{};
  relation by = relation::causal;  // named query and key
  placing placed{};                // the relation that knows most about positions
  bool unaligned = false;  // a causal mask between axes of unrelated size that does not state how
                           // they align
};

struct scaling {
  maybe_axis root{};     // sqrt(root), or 1 / sqrt(root)
  bool inverse = false;  // the latter
  maybe_axis by{};       // divided by sqrt(by), since it was contracted or before
};

// One axis was split into these two.
struct halves {
  maybe_axis first{};
  maybe_axis second{};
};

struct projection {
  bool made = false;     // a product with a param
  bool by_head = false;  // the same, by a matrix of each head, whose features are `contracted`
};

// Faults of the declaration of an input.
struct misdeclared {
  maybe_axis twice{};  // named twice
  bool stray = false;  // an entry is neither an axis nor a dtype
};

struct marks {
  axes weights{};     // softmax or normalize made it weights over these
  axes contracted{};  // by the last dot (or a sum after it)
  axes statistic{};   // reduced over these: mean, max, min, sum, logsumexp
  constancy lacks{};
  hiding hidden{};
  core::sides sides{};
  scaling scale{};
  halves split{};
  treated done{};
  projection projected{};
  misdeclared fault{};
  bool quotient = false;  // of positions by a whole number
  bool param = false;     // made of parameters only
  bool given = false;     // an input or its log, perhaps with numbers and positions: (1 - M) * -1e4
  dtype type = f32;

  // The same with f applied to every set of axes.
  template <class F>
  constexpr marks over_axes(F f) const {
    marks m = *this;
    for (axes *s : {&m.weights, &m.contracted, &m.statistic, &m.lacks.mask, &m.lacks.bias,
                    &m.lacks.factor, &m.hidden.masked, &m.hidden.zeroed})
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
  m.lacks.bias = m.lacks.factor = {};
  m.scale.root = {};
  m.scale.by = {};
  m.quotient = false;
  m.done = {};
  m.projected.made = m.hidden.gated = false;
  m.given = false;
  m.type = type;
  return m;
}

}  // namespace qkv::detail
