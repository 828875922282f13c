// SPDX-License-Identifier: BSL-1.0
// Real texts of many scripts: the tokens that the original's own tokenizer gives them.
#include "tests/examples/wordpiece_cases.hpp"

#include "examples/minilm/tokenizer.hpp"
#include "tests/catch.hpp"

// A part of a vocabulary that holds every piece of the result gives the same result: the longest
// that fits stays it.
TEST_CASE("tokens are the original's") {
  std::vector<std::string> pieces;
  for (const numbered_piece &p : numbered_pieces) pieces.emplace_back(p.piece);
  const minilm::tokenizer tokenizer(std::move(pieces));
  for (const wordpiece_case &c : wordpiece_cases) {
    INFO(c.text);
    std::vector<std::int32_t> tokens;
    for (const std::int32_t t : tokenizer.encode(c.text))
      tokens.push_back(numbered_pieces[t].number);
    CHECK(tokens == c.tokens);
  }
}
