// SPDX-License-Identifier: BSL-1.0
// Writes a C++ file with the first random specs, printed as a person would write them, and the
// signatures that they must have: fuzz_print FILE COUNT
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "tests/fuzz/draw.hpp"
#include "tests/fuzz/language.hpp"
#include "tests/fuzz/print.hpp"
#include "tests/fuzz/shrink.hpp"

int main(int argc, char **argv) {
  using namespace qkv::fuzz;
  if (argc != 3) return 2;
  std::string specs, table;
  for (int seed = 0; seed < std::atoi(argv[2]); ++seed) {
    const recipe drawn = draw(static_cast<std::uint64_t>(seed));
    recipe r = pruned(drawn, seed % 3 == 0);
    std::string why;
    auto p = program_of(r, &why);
    if (!p) {  // an argument that no step needs was what carried an axis
      r = pruned(drawn, true);
      p = program_of(r, &why);
    }
    if (!p) {
      fmt::print(stderr, "seed {}: the spec drawn is refused: {}\n", seed, why);
      return 1;
    }
    const std::string space = fmt::format("printed_{}", seed);
    specs += cpp_of(r, space);
    table += fmt::format("    {{{}ull, qkv::codegen::make_program({}::{})}},\n", fingerprint(*p),
                         space, r.name);
  }
  std::ofstream file(argv[1]);
  file << "#include <limits>\n#include <qkv/dsl.hpp>\n\n#include \"tests/fuzz/printed.hpp\"\n\n"
       << "#include \"codegen/program/from_graph.hpp\"\n"
       << specs << "\nstd::vector<printed> all_printed() {\n  return {\n"
       << table << "  };\n}\n";
  return file.flush() ? 0 : 1;
}
