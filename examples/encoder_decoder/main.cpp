// SPDX-License-Identifier: BSL-1.0
// Encodes two sources of different lengths, decodes two targets: whole, as in training, and token
// by token. Both give the same results, and padding of the source changes none. Then the masks.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "layers.hpp"

namespace {

using namespace examples;
constexpr int batch = 2, longest = 5, tokens = 4, features = 64;
constexpr int source_lengths[batch] = {5, 3};

struct transformer {
  std::vector<encoder_layer> encoder{encoder_layer(100), encoder_layer(200)};
  std::vector<decoder_layer> decoder{decoder_layer(300), decoder_layer(400)};

  source_rows encode(source_rows X, const lengths &length) const {
    for (const encoder_layer &layer : encoder) X = layer(X, length);
    return X;
  }
  target_rows whole(target_rows X, const source_rows &E, const lengths &length) const {
    for (const decoder_layer &layer : decoder) X = layer(X, E, length);
    return X;
  }

  struct decoded {
    target_rows rows;
    std::vector<int> filled;  // slots of a cache at each token
  };
  decoded token_by_token(const target_rows &X, const source_rows &E, const lengths &length) const {
    decoded result{target_rows({X.extent(0), X.extent(1)}), {}};
    std::vector<decoder_state> states;
    for (const decoder_layer &layer : decoder) states.push_back(layer.start(E, tokens));
    for (int t = 0; t < tokens; ++t) {
      token_row x({X.extent(0)});
      for (int b = 0; b < X.extent(0); ++b)
        for (int c = 0; c < features; ++c) x(b, 0, c) = X(b, t, c);
      for (std::size_t k = 0; k < decoder.size(); ++k) x = decoder[k](x, states[k], length);
      for (int b = 0; b < X.extent(0); ++b)
        for (int c = 0; c < features; ++c) result.rows(b, t, c) = x(b, 0, c);
      result.filled.push_back(states[0].own.lengths()(0));
    }
    return result;
  }
};

// The first n rows of one entry of a batch.
template <class Rows>
Rows entry(const Rows &all, int at, int n) {
  Rows one({1, n});
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < features; ++c) one(0, i, c) = all(at, i, c);
  return one;
}

bool near(const target_rows &a, const target_rows &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](float x, float y) { return std::abs(x - y) < 1e-5f; });
}

bool report(const char *title, const char *promise, bool right) {
  std::printf("%-30s%s\n", title, right ? promise : "WRONG");
  return right;
}

// Rows are queries, columns are keys.
std::vector<std::string> picture(int queries, int keys, auto sees) {
  std::vector<std::string> rows;
  for (int i = 0; i < queries; ++i) {
    rows.emplace_back();
    for (int j = 0; j < keys; ++j) rows.back() += sees(i, j) ? 'x' : '.';
  }
  return rows;
}

void print(const char *title, const char *left, const std::vector<std::string> &a,
           const char *right, const std::vector<std::string> &b) {
  std::printf("\n%-30s%-18s%s\n", title, left, right);
  for (std::size_t i = 0; i < a.size(); ++i)
    std::printf("%-30s%-18s%s\n", "", a[i].c_str(), b[i].c_str());
}

void print_masks(const std::vector<int> &filled) {
  const auto in_source = [](int entry) {
    return [entry](int, int j) { return j < source_lengths[entry]; };
  };
  print("encoder self-attention", "source of 5", picture(longest, longest, in_source(0)),
        "source of 3", picture(longest, longest, in_source(1)));
  print("decoder self-attention", "training",
        picture(tokens, tokens, [](int i, int j) { return j <= i; }),
        "decoding: slots of the cache", picture(tokens, tokens, [&](int i, int j) {
          return j < filled[static_cast<std::size_t>(i)];
        }));
  print("cross-attention", "source of 5", picture(tokens, longest, in_source(0)), "source of 3",
        picture(tokens, longest, in_source(1)));
}

}  // namespace

int main() {
  const transformer model;
  source_rows X({batch, longest});
  target_rows Y({batch, tokens});
  randomise(X, 1, 0, 1), randomise(Y, 2, 0, 1);
  lengths length({batch});
  std::copy(std::begin(source_lengths), std::end(source_lengths), length.begin());

  const source_rows E = model.encode(X, length);
  const target_rows whole = model.whole(Y, E, length);
  const transformer::decoded decoded = model.token_by_token(Y, E, length);
  bool right = report("the target token by token:", "equal to the whole target at once within 1e-5",
                      near(decoded.rows, whole));

  // The shorter source alone has no padding.
  lengths short_length({1});
  short_length(0) = source_lengths[1];
  const source_rows short_E = model.encode(entry(X, 1, source_lengths[1]), short_length);
  const target_rows alone = model.whole(entry(Y, 1, tokens), short_E, short_length);
  right &= report("the source of 3 alone:", "equal to the padded one within 1e-5",
                  near(alone, entry(whole, 1, tokens)));

  print_masks(decoded.filled);
  return right ? 0 : 1;
}
