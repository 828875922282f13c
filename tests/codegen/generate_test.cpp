// SPDX-License-Identifier: BSL-1.0
// The generator's command line: a kernel that is wrong keeps no other from being built.
#include <qkv/dsl.hpp>
#include <qkv/generate.hpp>
#include <qkv/specs.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/catch.hpp"

using namespace qkv;

namespace {

constexpr axis<"seq"> seq;
constexpr auto doubled = kernel<"doubled">([](in<"X", seq> X) -> out<"Y", seq> { return X + X; });

constexpr auto idle =
    kernel<"idle">([](in<"X", seq> X) -> out<"Y", seq> { return mask(X, index(seq) + 1 > 0); });

codegen::program wrong() { throw std::invalid_argument("wrong: for a reason"); }
codegen::program crashing() { std::abort(); }

int generate(std::vector<std::string> words) {
  std::vector<char *> argv;
  for (std::string &w : words) argv.push_back(w.data());
  return codegen::generate(static_cast<int>(argv.size()), argv.data(),
                           {{"wrong", wrong},
                            {"crashing", crashing},
                            codegen::traceable_of<doubled>("doubled"),
                            codegen::traceable_of<idle>("idle")});
}

constexpr auto once = gradient<doubled>;
constexpr auto again = gradient<doubled, "X">;

}  // namespace

TEST_CASE("a derived kernel has files of its identifier and a name of its own") {
  const auto folder = std::filesystem::temp_directory_path() / "qkv_generate_derived";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const auto run = [&](std::vector<std::string> words) {
    for (const char *word : {"--out", folder.c_str(), "--targets", "host"})
      words.emplace_back(word);
    std::vector<char *> argv;
    for (std::string &w : words) argv.push_back(w.data());
    return codegen::generate(static_cast<int>(argv.size()), argv.data(),
                             words[1] == "library"
                                 ? std::vector{codegen::traceable_of<once>("once"),
                                               codegen::traceable_of<again>("again")}
                                 : std::vector{codegen::traceable_of<once>("once")});
  };
  CHECK(run({"generator", "kernel", "once"}) == 0);
  CHECK(std::filesystem::exists(folder / "once.a"));
  CHECK(std::filesystem::exists(folder / "once.sheet.txt"));
  CHECK(run({"generator", "library", "--name", "two"}) == 1);  // both are doubled_gradient
  CHECK(!std::filesystem::exists(folder / "two_kernels.c"));
  CHECK(codegen::is_named<doubled>("doubled"));
  CHECK(!codegen::is_named<doubled>("once"));
  CHECK(codegen::is_named<once>("once"));
  std::filesystem::remove_all(folder);
}

TEST_CASE("one kernel of a library may be wrong") {
  const auto folder = std::filesystem::temp_directory_path() / "qkv_generate_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string to = folder.string();
  CHECK(generate({"generator", "list"}) == 0);
  CHECK(generate({"generator", "kernel", "doubled", "--out", to, "--targets", "host"}) == 0);
  CHECK(std::filesystem::exists(folder / "doubled.a"));
  CHECK(generate({"generator", "kernel", "doubled", "--out", to, "--targets", "host", "--stmt"}) ==
        0);
  CHECK(std::filesystem::exists(folder / "doubled.x86-64-v3.stmt"));
  CHECK(!std::filesystem::exists(folder / "doubled.x86-64-v3.s"));
  CHECK(generate({"generator", "kernel", "doubled", "--out", to, "--targets", "host",
                  "--assembly"}) == 0);
  CHECK(std::filesystem::exists(folder / "doubled.x86-64-v3.s"));
  CHECK(generate({"generator", "kernel", "wrong", "--out", to, "--targets", "host"}) == 1);
  CHECK(generate({"generator", "kernel", "idle", "--out", to, "--targets", "host"}) == 1);
  CHECK(!std::filesystem::exists(folder / "idle.a"));
  CHECK(generate({"generator", "kernel", "crashing", "--out", to, "--targets", "host"}) == 1);
  CHECK(generate({"generator", "kernel", "none", "--out", to, "--targets", "host"}) == 1);
  CHECK(generate({"generator", "library", "--name", "both", "--out", to, "--targets", "host"}) ==
        1);
  CHECK(!std::filesystem::exists(folder / "both_kernels.c"));
  CHECK(generate({"generator"}) == 2);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a wrong option or file is an error before anything is compiled") {
  const auto folder = std::filesystem::temp_directory_path() / "qkv_generate_options";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const auto code_of = [&](std::vector<std::string> more, const std::string &to) {
    std::vector<std::string> words = {"generator", "kernel", "doubled", "--targets",
                                      "host",      "--out",  to};
    words.insert(words.end(), more.begin(), more.end());
    return generate(words);
  };
  const std::string to = folder.string();
  const auto file = [&](const std::string &name, const std::string &text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  };
  const std::string like = "like = x86-64-v3\nhalide = x86-64-linux-avx-avx2-f16c-fma-sse41\n";
  CHECK(code_of({"--machien", "f"}, to) == 1);
  CHECK(code_of({"--machine"}, to) == 1);
  CHECK(code_of({"--stmt", "idle"}, to) == 1);
  CHECK(code_of({"--name", "a", "--name", "b"}, to) == 1);
  CHECK(code_of({"--machine", to}, to) == 1);
  CHECK(code_of({"--machine", to + "/none.machine"}, to) == 1);
  CHECK(code_of({"--machine", file("a\"b.machine", like)}, to) == 1);
  CHECK(code_of({"--machine", file("x86_64_v3.machine", like)}, to) == 1);
  CHECK(code_of({"--machine", file("of_no_target.machine", like)}, to) == 1);
  CHECK(code_of({}, to + "/none") == 1);
  CHECK(!std::filesystem::exists(folder / "doubled.a"));
  const std::string own = like + "part_of = host\npreference = 1\n";
  CHECK(code_of({"--machine", file("x86-64-v3.machine", own)}, to) == 0);
  std::filesystem::remove_all(folder);
}

TEST_CASE("the option --writer takes plain, or the stages of a kernel") {
  const auto folder = std::filesystem::temp_directory_path() / "qkv_generate_writer";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const auto code_of = [&](const std::string &writer, const std::string &compiler = "c++") {
    return generate({"generator", "kernel", "doubled", "--out", folder.string(), "--targets",
                     "host", "--writer", writer, "--compiler", compiler});
  };
  for (const char *wrong : {"halide", "plain:", "plain:0", "plain:2", "plain:1x", "plain:,"})
    CHECK(code_of(wrong) == 1);
  CHECK(code_of("plain", "no_such_compiler") == 1);
  CHECK(!std::filesystem::exists(folder / "doubled.a"));
  CHECK(code_of("plain:1") == 0);
  CHECK(std::filesystem::exists(folder / "doubled.a"));
  // The tool of a library shows who writes a stage.
  std::vector<std::string> words = {"generator",     "library",   "--name", "my",       "--out",
                                    folder.string(), "--targets", "host",   "--writer", "plain:1"};
  std::vector<char *> argv;
  for (std::string &w : words) argv.push_back(w.data());
  CHECK(codegen::generate(static_cast<int>(argv.size()), argv.data(),
                          {codegen::traceable_of<doubled>("doubled")}) == 0);
  std::stringstream sheets;
  sheets << std::ifstream(folder / "my_machines.cpp").rdbuf();
  CHECK(sheets.str().find("\n    by loops of C++\n") != std::string::npos);
  std::filesystem::remove_all(folder);
}
