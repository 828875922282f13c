// SPDX-License-Identifier: BSL-1.0
// Reads texts that end with a zero byte, prints the tokens of each on a line: wordpiece_cases.py
// compares them.
//
//   tokenize VOCABULARY
#include <fstream>
#include <iostream>

#include "examples/minilm/tokenizer.hpp"

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  std::ifstream vocabulary(argv[1]);
  std::vector<std::string> pieces;
  for (std::string line; std::getline(vocabulary, line);) pieces.push_back(line);
  const minilm::tokenizer tokenizer(std::move(pieces));
  for (std::string text; std::getline(std::cin, text, '\0');) {
    for (const std::int32_t token : tokenizer.encode(text)) std::cout << token << ' ';
    std::cout << '\n';
  }
}
