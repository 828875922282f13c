// SPDX-License-Identifier: BSL-1.0
#pragma once
// Layers with random weights, bound to the kernels of the spec. A decoder layer has two forms: the
// whole target at once, and token by token with a cache.
#include <cstdio>
#include <cstdlib>
#include <qkv/kv_cache.hpp>
#include <random>

#include "spec.hpp"

namespace examples {

using namespace qkv;
using lengths = tensor<i32, my::batch>;
using source_rows = tensor<my::batch, my::source, my::d_model>;
using target_rows = tensor<my::batch, my::target, my::d_model>;
using token_row = tensor<my::batch, my::token, my::d_model>;
using row_keys = tensor<my::batch, my::heads, my::row, my::d_k>;
using row_values = tensor<my::batch, my::heads, my::row, my::d_v>;
using cache = kv_cache<my::batch, my::slots, tensor<my::batch, my::heads, my::slots, my::d_k>,
                       tensor<my::batch, my::heads, my::slots, my::d_v>>;

inline void require(const status &s) {
  if (s) return;
  std::printf("%s\n", s.text());
  std::exit(1);
}

// Normally distributed numbers.
inline void randomise(auto &t, unsigned seed, float mean, float deviation) {
  std::mt19937 bits(seed);
  std::normal_distribution<float> normal(mean, deviation);
  for (float &x : t) x = normal(bits);
}

struct norm_weights {
  tensor<my::d_model> gamma, beta;
  explicit norm_weights(unsigned seed) {
    randomise(gamma, seed, 1, 0.1f), randomise(beta, seed + 1, 0, 0.1f);
  }
};

struct attention_weights {
  tensor<my::d_model, my::heads, my::d_k> q, k;
  tensor<my::d_model, my::heads, my::d_v> v;
  tensor<my::heads, my::d_v, my::d_model> o;
  norm_weights norm;
  explicit attention_weights(unsigned seed) : norm(seed + 4) {
    randomise(q, seed, 0, 0.2f), randomise(k, seed + 1, 0, 0.2f);
    randomise(v, seed + 2, 0, 0.125f), randomise(o, seed + 3, 0, 0.125f);
  }
};

struct feed_weights {
  tensor<my::d_model, my::d_ff> W1;
  tensor<my::d_ff> b1;
  tensor<my::d_ff, my::d_model> W2;
  tensor<my::d_model> b2;
  norm_weights norm;
  explicit feed_weights(unsigned seed) : norm(seed + 4) {
    randomise(W1, seed, 0, 0.125f), randomise(b1, seed + 1, 0, 0.1f);
    randomise(W2, seed + 2, 0, 0.1f), randomise(b2, seed + 3, 0, 0.1f);
  }
};

class encoder_layer {
 public:
  explicit encoder_layer(unsigned seed)
      : encoder_layer(attention_weights(seed), feed_weights(seed + 10)) {}

  source_rows operator()(const source_rows &X, const lengths &length) const {
    source_rows Y({X.extent(0), X.extent(1)});
    require(layer_(X, length, Y));
    return Y;
  }

 private:
  encoder_layer(const attention_weights &a, const feed_weights &f)
      : layer_(prepare<my::encoder_layer>(a.q, a.k, a.v, a.o, a.norm.gamma, a.norm.beta, f.W1, f.b1,
                                          f.W2, f.b2, f.norm.gamma, f.norm.beta)) {}
  prepared_kernel<my::encoder_layer> layer_;
};

// A decoder layer's memory between the tokens of one batch of targets.
struct decoder_state {
  cache own;             // keys and values of the target so far
  row_keys source_keys;  // of the encoder's result
  row_values source_values;
  decoder_state(std::int64_t batch, std::int64_t source, int most_tokens)
      : own(extents(extent<my::batch>(batch), extent<my::slots>(most_tokens))),
        source_keys({batch, source}),
        source_values({batch, source}) {}
};

class decoder_layer {
 public:
  explicit decoder_layer(unsigned seed)
      : decoder_layer(attention_weights(seed), attention_weights(seed + 10),
                      feed_weights(seed + 20)) {}

  // The whole target at once.
  target_rows operator()(const target_rows &X, const source_rows &E, const lengths &length) const {
    target_rows Y({X.extent(0), X.extent(1)});
    require(whole_(X, E, length, Y));
    return Y;
  }

  // Before the first token: computes keys and values of the source once.
  decoder_state start(const source_rows &E, int most_tokens) const {
    decoder_state s(E.extent(0), E.extent(1), most_tokens);
    require(
        of_source_(view_as<my::batch, my::row, my::d_model>(E), s.source_keys, s.source_values));
    return s;
  }

  // The next token.
  token_row operator()(const token_row &X, decoder_state &s, const lengths &length) const {
    row_keys K({X.extent(0), 1});
    row_values V({X.extent(0), 1});
    require(of_token_(view_as<my::batch, my::row, my::d_model>(X), K, V));
    require(s.own.append(K, V));
    token_row Y({X.extent(0)});
    require(step_(X, s.own.keys(), s.own.values(), s.own.lengths(),
                  view_as<my::batch, my::heads, my::source, my::d_k>(s.source_keys),
                  view_as<my::batch, my::heads, my::source, my::d_v>(s.source_values), length, Y));
    return Y;
  }

 private:
  decoder_layer(const attention_weights &a, const attention_weights &c, const feed_weights &f)
      : whole_(prepare<my::decoder_layer>(a.q, a.k, a.v, a.o, a.norm.gamma, a.norm.beta, c.q, c.k,
                                          c.v, c.o, c.norm.gamma, c.norm.beta, f.W1, f.b1, f.W2,
                                          f.b2, f.norm.gamma, f.norm.beta)),
        step_(prepare<my::decoder_step>(a.q, a.o, a.norm.gamma, a.norm.beta, c.q, c.o, c.norm.gamma,
                                        c.norm.beta, f.W1, f.b1, f.W2, f.b2, f.norm.gamma,
                                        f.norm.beta)),
        of_token_(prepare<my::keys_and_values>(a.k, a.v)),
        of_source_(prepare<my::keys_and_values>(c.k, c.v)) {}
  prepared_kernel<my::decoder_layer> whole_;
  prepared_kernel<my::decoder_step> step_;
  prepared_kernel<my::keys_and_values> of_token_, of_source_;
};

}  // namespace examples
