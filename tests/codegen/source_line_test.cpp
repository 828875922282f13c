// SPDX-License-Identifier: BSL-1.0
// The line of a spec that a slip is in.
#include <qkv/dsl.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "codegen/emit/source_line.hpp"
#include "codegen/program/from_graph.hpp"
#include "codegen/program/slips.hpp"
#include "tests/catch.hpp"

namespace qkv::testing {
namespace {

constexpr axis<"seq"> seq;
constexpr axis<"d", 8> d;

constexpr auto soft =
    kernel<"soft">([](in<"X", seq, d> X) -> out<"Y", seq, d> { return X * log(exp(X)); });

constexpr axis<"before"> before;
constexpr alias<"now", seq> now;
constexpr axis<"all"> all;
constexpr axis<"packed", 24> packed;
constexpr axis<"part", 8> part;

constexpr auto aligned = kernel<"aligned">(
    [](in<"Q", seq, d> Q, in<"old", before, d> old, in<"fresh", now, d> fresh) -> out<"Y", seq, d> {
      auto K = concat<all>(old, fresh);
      return scaled_dot_product<d, all>(Q, K, K, causal<seq, all, align::first>);
    });

constexpr auto cut = kernel<"cut">([
](in<"X", seq, packed> X) -> outs<out<"q", seq, part>, out<"k", seq, part>, out<"v", seq, part>> {
  return {slice<packed, part>(X, 0), slice<packed, part>(X, 8), slice<packed, part>(X, 8)};
});

constexpr auto late =
    kernel<"late">([](in<"X", seq, d> X, in<"length", i32> length) -> out<"Y", d> {
      return max<seq>(mask(X, index(seq) <= length));
    });

class source_files {
 public:
  source_files() { REQUIRE(mkdtemp(path_.data())); }
  ~source_files() { std::filesystem::remove_all(path_); }

  std::string write(const char *name, const char *text) const {
    std::ofstream(path_ + "/" + name) << text;
    return path_ + "/" + name;
  }

 private:
  std::string path_ = std::filesystem::temp_directory_path() / "qkv_source_line_XXXXXX";
};

// "9: error: " of the first slip, the file's path replaced by its name.
template <class Kernel>
std::string place(const std::string &spec, const Kernel &k) {
  const codegen::program p = codegen::make_program(k);
  const std::string all = codegen::place_of(p, codegen::slips_of(p).at(0).at, spec);
  return all.empty() ? "" : all.substr(all.rfind('/') + 1);
}

std::string place(const std::string &spec) { return place(spec, soft); }

}  // namespace

TEST_CASE("a slip in a mask is in the line of its condition") {
  const source_files files;
  CHECK(
      place(files.write("spec.hpp",
                        "inline constexpr auto late = kernel<\"late\">(\n"
                        "    [](in<\"X\", seq> X, in<\"length\", i32> length) -> out<\"Y\", d> {\n"
                        "      auto last = index(seq) == length - 1;\n"
                        "      auto keep = index(seq) <= length;\n"
                        "      return max<seq>(mask(X, keep));\n"
                        "    });\n"),
            late) == "spec.hpp:4: error: ");
}

TEST_CASE("a slip in a mask is in the line that has its function") {
  const source_files files;
  CHECK(place(files.write(
                  "spec.hpp",
                  "inline constexpr auto aligned = kernel<\"aligned\">(\n"
                  "    [](in<\"Q\", seq> Q, in<\"old\", before> old, in<\"fresh\", now> fresh) {\n"
                  "      auto K = concat<all>(old, fresh);\n"
                  "      return scaled_dot_product<d, all>(Q, K, K, causal<seq, all, ..>);\n"
                  "    });\n"),
              aligned) == "spec.hpp:4: error: ");
}

TEST_CASE("a slip in a step that is written twice is in the second line") {
  const source_files files;
  CHECK(place(files.write("spec.hpp",
                          "inline constexpr auto cut = kernel<\"cut\">(\n"
                          "    [](in<\"X\", seq, packed> X) -> outs<> {\n"
                          "      auto q = slice<packed, part>(X, 0);\n"
                          "      auto other = rename<seq, now>(X);\n"
                          "      auto k = slice<packed, part>(other, 8);\n"
                          "      auto v = slice<packed, part>(other, 8);\n"
                          "      return {q, k, v};\n"
                          "    });\n"),
              cut) == "spec.hpp:6: error: ");
}

TEST_CASE("a slip is in the line that has its operation") {
  const source_files files;
  CHECK(place(files.write("spec.hpp",
                          "inline constexpr auto other = kernel<\"other\">(log(X));\n"
                          "inline constexpr auto soft = kernel<\"soft\">(\n"
                          "    [](in<\"X\", seq> X) -> out<\"Y\", seq> {\n"
                          "      auto logits = exp(X);\n"
                          "      auto y = log(logits);\n"
                          "      return X * y;\n"
                          "    });\n"
                          "inline constexpr auto next = kernel<\"next\">(log(X));\n")) ==
        "spec.hpp:5: error: ");
}

TEST_CASE("of two lines with the operation, the slip is in the one that has its operands") {
  const source_files files;
  CHECK(place(files.write("spec.hpp",
                          "\n"
                          "inline constexpr auto soft = kernel<\"soft\">(\n"
                          "    [](in<\"X\", seq> X) -> out<\"Y\", seq> {\n"
                          "      auto y = log(X + 1);\n"
                          "      auto shown = exp(X);\n"
                          "      return X *\n"
                          "             log(shown);\n"
                          "    });\n")) == "spec.hpp:7: error: ");
}

TEST_CASE("an argument may have another name in the kernel") {
  const source_files files;
  CHECK(place(files.write("spec.hpp",
                          "inline constexpr auto soft = kernel<\"soft\">(\n"
                          "    [](in<\"X\", seq, d<8>> rows) -> out<\"Y\", seq> {\n"
                          "      // log(exp(X))\n"
                          "      auto y = sharpened(rows);\n"
                          "      return y;\n"
                          "    });\n")) == "spec.hpp:4: error: ");
}

TEST_CASE("a slip of which no line says anything is in the kernel's first line") {
  const source_files files;
  CHECK(place(files.write("spec.hpp",
                          "\n"
                          "inline constexpr auto soft = kernel<\"soft\">(\n"
                          "    [](auto... all) { return sharpened(all...); });\n")) ==
        "spec.hpp:2: error: ");
}

TEST_CASE("a kernel may be in a file that the spec includes") {
  const source_files files;
  files.write("kernels.hpp",
              "#include \"spec.hpp\"\n"
              "auto soft = kernel<\"soft\">([](auto X) { return X * log(exp(X)); });\n");
  CHECK(place(files.write("spec.hpp", "#include <qkv/dsl.hpp>\n#include \"kernels.hpp\"\n")) ==
        "kernels.hpp:2: error: ");
  CHECK(place(files.write("empty.hpp", "#include \"missing.hpp\"\n")) == "");
  CHECK(place("") == "");
}

}  // namespace qkv::testing
