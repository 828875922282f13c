// SPDX-License-Identifier: BSL-1.0
// WordPiece on a vocabulary of a few pieces.
#include "examples/minilm/tokenizer.hpp"

#include "examples/minilm/words.hpp"
#include "tests/catch.hpp"

namespace {

using numbers = std::vector<std::int32_t>;
enum : std::int32_t {
  pad,
  unk,
  cls,
  sep,
  mask,
  un,
  aff,
  able,
  aff_begin,
  comma,
  e,
  e_on,
  hash,
  ham
};

const minilm::tokenizer tiny({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##aff", "##able",
                              "aff", ",", "e", "##e", "#", "한"});

// The tokens between [CLS] and [SEP].
numbers inside(std::string_view text) {
  numbers tokens = tiny.encode(text);
  REQUIRE(tokens.size() >= 2);
  CHECK(tokens.front() == cls);
  CHECK(tokens.back() == sep);
  return {tokens.begin() + 1, tokens.end() - 1};
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  while (times-- > 0) all += text;
  return all;
}

}  // namespace

TEST_CASE("words are lower case, without accents, punctuation by itself") {
  using words = std::vector<std::string>;
  CHECK(minilm::words_of("").empty());
  CHECK(minilm::words_of(" \t\r\n").empty());
  CHECK(minilm::words_of("Hello, World!") == words{"hello", ",", "world", "!"});
  CHECK(minilm::words_of("ÀÉÎÕÜ Straße") == words{"aeiou", "straße"});
  CHECK(minilm::words_of("e\u0301e") == words{"ee"});
  CHECK(minilm::words_of("a\u00A0b\u3000c\u2028d") == words{"a", "b", "c", "d"});
  CHECK(minilm::words_of("中文abc") == words{"中", "文", "abc"});
  CHECK(minilm::words_of("$1.50+2") == words{"$", "1", ".", "50", "+", "2"});
  CHECK(minilm::words_of("½€ 😀") == words{"½€", "😀"});  // symbols beyond ASCII are letters
  CHECK(minilm::words_of("각") == words{"\u1100\u1161\u11A8"});
  CHECK(minilm::words_of("\u09CB") == words{"\u09C7\u09BE"});  // one that becomes two
}

TEST_CASE("bytes that are not text are left out") {
  using words = std::vector<std::string>;
  using namespace std::string_view_literals;
  CHECK(minilm::words_of("a\0b\x01\x7F\u00AD\u200B\uFFFD\uFEFF\uE000"
                         "c"sv) == words{"abc"});
  CHECK(minilm::words_of("a\xFF\x80"
                         "b\xC3"sv) == words{"ab"});
  CHECK(minilm::words_of("\xC0\xAF\xED\xA0\x80\xF4\x90\x80\x80\xE4\xB8"sv).empty());
  CHECK(minilm::words_of("\xE4\xB8 x"sv) == words{"x"});  // cut off: what follows is kept
}

TEST_CASE("the longest piece that fits is taken") {
  CHECK(inside("") == numbers{});
  CHECK(inside("unaffable") == numbers{un, aff, able});
  CHECK(inside("Aff") == numbers{aff_begin});
  CHECK(inside("aff, able") == numbers{aff_begin, comma, unk});
  CHECK(inside("eee") == numbers{e, e_on, e_on});
  CHECK(inside("##e") == numbers{hash, hash, e});
}

TEST_CASE("a word with a rest is unknown as a whole") {
  CHECK(inside("unaffablex un") == numbers{unk, un});
  CHECK(inside("한") == numbers{unk});  // the vocabulary's is one character, the word is three
}

TEST_CASE("a word of more than 100 characters is unknown") {
  CHECK(inside(repeated("e", 100)).size() == 100);
  CHECK(inside(repeated("é", 100)).size() == 100);
  CHECK(inside(repeated("e", 101)) == numbers{unk});
  CHECK(inside(repeated("é", 101)) == numbers{unk});
}

TEST_CASE("what is beyond the longest sentence is cut off") {
  const std::string text = repeated("un ", 300);
  CHECK(tiny.encode(text).size() == 256);
  CHECK(tiny.encode(text).back() == sep);
  CHECK(tiny.encode(text, 3) == numbers{cls, un, sep});
  CHECK(tiny.encode(text, 0) == numbers{cls, sep});
  CHECK(tiny.encode(repeated("un ", 254)) == tiny.encode(text));
}

TEST_CASE("special pieces in the text stand for themselves") {
  CHECK(inside("un[MASK]e") == numbers{un, mask, e});
  CHECK(inside("[PAD] [SEP]") == numbers{pad, sep});
  CHECK(inside("[[MASK]]") == numbers{unk, mask, unk});
  CHECK(inside("[mask]") == numbers{unk, unk, unk});
  CHECK(inside("[CLS") == numbers{unk, unk});
}

TEST_CASE("a vocabulary without [UNK], [CLS] or [SEP] is none") {
  CHECK_THROWS_WITH(minilm::tokenizer({"[UNK]", "[CLS]"}), "the vocabulary has no [SEP]");
}
