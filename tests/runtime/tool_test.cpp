// SPDX-License-Identifier: BSL-1.0
// The command line, as a user sees it: run in a process of its own, text compared.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <qkv/npy.hpp>
#include <qkv/tool.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fake.hpp"
#include "tests/catch.hpp"

namespace {

using qkv::tool::array;
using qkv::tool::arrays;
using qkv::tool::entry;
using qkv::tool::sizes;

std::vector<array> blend_reference(const arrays &in, const sizes &s) {
  const array &q = in.at("Q"), &k = in.at("K"), &v = in.at("V");
  array o = q;
  const auto seq = static_cast<std::size_t>(s.at("seq")), kv = static_cast<std::size_t>(s.at("kv"));
  for (std::size_t i = 0; i < o.data.size(); ++i) {
    for (std::size_t j = 0; j < kv; ++j) {
      const std::size_t at = (i / (seq * 4) * kv + j) * 4 + i % 4;
      o.data[i] += k.data[at] * v.data[at];
    }
  }
  return {o};
}

// As if blend were a gradient: right for Q, wrong for K where its seed is 2.
std::vector<qkv::tool::slope> blend_slopes(const arrays &, const sizes &, unsigned seed) {
  return {{"Q", 0.5, 0.5, ""}, {"K", 2, 2.5, seed == 2 ? "dK: 2 is not 2.5" : ""}};
}

std::vector<qkv::tool::step> blend_trace(const arrays &in, const sizes &s) {
  return {{"Q", {"batch", "seq", "d"}, in.at("Q")},
          {"O", {"batch", "seq", "d"}, blend_reference(in, s)[0]}};
}

const std::vector<qkv::tool::machine_sheet> machines = {{"blend", "abacus", "on abacus\n"},
                                                        {"blend", "loom", "on loom\n"}};

std::vector<entry> entries() {
  entry blend{.name = "blend",
              .describe = {},
              .picture = {},
              .reference = blend_reference,
              .cost = {},
              .compare = {},
              .slopes = blend_slopes,
              .trace = blend_trace,
              .heat_maps = [](const std::vector<qkv::tool::step> &steps) {
                return "<svg>" + std::to_string(steps.size()) + "</svg>";
              }};
  blend.describe = [](const sizes &s) {
    return "blend, described with " + std::to_string(s.size()) + " sizes";
  };
  blend.picture = [](const sizes &) { return std::string("<svg/>"); };
  blend.cost = [](const sizes &) {
    return qkv::tool::cost{1000, 800, {"1000", 1000}, {"1000", 1000}, {}, {}, {}};
  };
  return {blend};
}

struct result {
  int code;
  std::string text;
};

// stdout and stderr of the tool together.
struct session {
  std::string folder = "/tmp/qkv-tool-XXXXXX";
  session() {
    REQUIRE(mkdtemp(folder.data()));
    static const fake::loaded sdpa("sdpa", {&fake::sdpa_none().table, &fake::sdpa_causal().table});
  }
  ~session() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  result run(std::vector<std::string> words, const std::string &input = "") const {
    std::ofstream(folder + "/stdin") << input;
    const pid_t child = fork();
    if (child == 0) {
      (void)!freopen((folder + "/stdin").c_str(), "r", stdin);
      (void)!freopen((folder + "/stdout").c_str(), "w", stdout);
      dup2(1, 2);
      words.insert(words.begin(), "tool");
      std::vector<char *> argv;
      for (std::string &w : words) argv.push_back(w.data());
      const int code =
          qkv::tool::main(static_cast<int>(argv.size()), argv.data(), entries(), machines);
      std::fflush(stdout);
      _exit(code);
    }
    int state = 0;
    REQUIRE(waitpid(child, &state, 0) == child);
    REQUIRE(WIFEXITED(state));
    std::stringstream text;
    text << std::ifstream(folder + "/stdout").rdbuf();
    return {WEXITSTATUS(state), text.str()};
  }

  std::string save(const char *name, std::vector<std::int64_t> shape,
                   std::vector<float> data) const {
    const std::string path = folder + "/" + name + ".npy";
    REQUIRE(qkv::write_npy(path, qkv::npy_type::f32, shape, data.data()).ok());
    return path;
  }
};

}  // namespace

TEST_CASE("output that nobody takes") {
  const session s;
  // The exit code and the text on stderr; prepare_stdout() runs first.
  const auto run = [&](std::vector<std::string> words, void (*prepare_stdout)()) {
    const std::string said = s.folder + "/stderr";
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      (void)!freopen(said.c_str(), "w", stderr);
      prepare_stdout();
      words.insert(words.begin(), "tool");
      std::vector<char *> argv;
      for (std::string &w : words) argv.push_back(w.data());
      const int code = qkv::tool::main(static_cast<int>(argv.size()), argv.data(), entries());
      std::fflush(stderr);
      _exit(code);
    }
    int state = 0;
    REQUIRE(waitpid(child, &state, 0) == child);
    std::stringstream text;
    text << std::ifstream(said).rdbuf();
    return (WIFEXITED(state) ? "" : "killed ") + std::to_string(WEXITSTATUS(state)) + ": " +
           text.str();
  };
  const auto full = [] { dup2(open("/dev/full", O_WRONLY), 1); };
  const auto closed = [] { close(1); };
  const auto left = [] {
    int ends[2];
    (void)!pipe(ends);
    dup2(ends[1], 1);
    close(ends[0]);
  };
  for (const std::vector<std::string> &words :
       {std::vector<std::string>{"list"}, {"check", "blend", "--size", "seq=2", "kv=2"}}) {
    CHECK(run(words, full) == "2: standard output: No space left on device\n");
    CHECK(run(words, closed) == "2: standard output: Bad file descriptor\n");
    CHECK(run(words, left) == "2: standard output: Broken pipe\n");
  }
  const std::string svg = s.folder + "/blend.svg";
  CHECK(run({"describe", "blend", "--svg", svg}, closed) ==
        "2: standard output: Bad file descriptor\n");
  std::ostringstream picture;
  picture << std::ifstream(svg).rdbuf();
  CHECK(picture.str() == "<svg/>");
  CHECK(s.run({"describe", "blend", "--svg", "/dev/full"}).text ==
        "/dev/full: No space left on device\nblend, described with 1 sizes\n");
  const std::string q = s.save("q", {1, 1, 1, 4}, {1, 2, 3, 4});
  const result r =
      s.run({"run", "sdpa_none", "--in", "Q=" + q, "K=" + q, "V=" + q, "--out", "O=/dev/full"});
  CHECK(r.text == "/dev/full: No space left on device\n");
  CHECK(r.code == 2);
}

TEST_CASE("list and describe") {
  const session s;
  const result all = s.run({"list"});
  CHECK(all.code == 0);
  CHECK(all.text.find("blend(Q[batch, seq, d=4], K[batch, kv, d=4], V[batch, kv, d=4]) -> O[batch, "
                      "seq, d=4]   [fake]\n") != std::string::npos);
  CHECK(all.text.find("project(X[seq, k], param W[k, n, m=3]) -> Y[seq, n, m=3]   [fake]\n") !=
        std::string::npos);
  CHECK(s.run({"describe", "blend", "--size", "seq=3", "kv=4"}).text ==
        "blend, described with 3 sizes\n");
  CHECK(s.run({"describe", "project"}).text ==
        "project(X[seq, k], param W[k, n, m=3]) -> Y[seq, n, m=3]\n");
  CHECK(s.run({"describe", "blend", "--machine", "loom"}).text.ends_with("\non loom\n"));
  CHECK(s.run({"describe", "blend", "--machine", "lom"}).text ==
        "there is no machine lom; did you mean loom?\n");
  CHECK(s.run({"describe", "project", "--machine", "loom"}).text ==
        "project: this tool was built without plans on machines\n");
  CHECK(s.run({"describe", "blend", "--svg", s.folder + "/blend.svg"}).code == 0);
  std::ostringstream picture;
  picture << std::ifstream(s.folder + "/blend.svg").rdbuf();
  CHECK(picture.str() == "<svg/>");
  CHECK(s.run({"describe", "blend", "--svg", s.folder + "/none/blend.svg"}).code == 2);
  CHECK(s.run({"describe", "project", "--svg", s.folder + "/project.svg"}).code == 2);
}

TEST_CASE("commands that cannot be carried out") {
  const session s;
  const auto refused = [&](std::vector<std::string> words) {
    const result r = s.run(std::move(words));
    CHECK(r.code == 2);
    return r.text;
  };
  CHECK(refused({"dance"}) ==
        "there is no command dance; there are: list, describe, run, trace, check, bench, serve\n");
  CHECK(refused({"chek", "blend"}) == "there is no command chek; did you mean check?\n");
  CHECK(refused({"help", "benhc"}) == "there is no command benhc; did you mean bench?\n");
  CHECK(refused({"check"}).substr(0, 26) == "which kernel? there are: b");
  CHECK(refused({"check", "mha"}).substr(0, 36) == "there is no kernel mha; there are: b");
  CHECK(refused({"check", "blnd"}) == "there is no kernel blnd; did you mean blend?\n");
  CHECK(refused({"check", "blend", "--size"}) == "--size needs a value\n");
  CHECK(refused({"check", "blend", "--size", "seq"}) == "--size needs name=value, not seq\n");
  CHECK(refused({"check", "blend", "--size", "seq=many"}) ==
        "seq needs a number from 0 to 2147483647, not many\n");
  CHECK(refused({"check", "blend", "--size", "seq=99999999999"}) ==
        "seq needs a number from 0 to 2147483647, not 99999999999\n");
  CHECK(refused({"check", "blend", "--size", "depth=3"}).substr(0, 34) ==
        "blend has no axis depth: blend(Q[b");
  CHECK(refused({"check", "blend", "--size", "seq=3", "seq=4"}) == "--size gives seq twice\n");
  CHECK(refused({"run", "blend", "--in", "Q=q.npy", "Q=r.npy"}) == "--in gives Q twice\n");
  CHECK(refused({"run", "blend", "--out", "O=o.npy", "O=p.npy"}) == "--out gives O twice\n");
  CHECK(refused({"check", "blend", "--seed", "3", "--seed", "4"}) == "--seed is given twice\n");
  CHECK(refused({"check", "blend", "--size", "d=3"}) == "blend: axis d is fixed at 4\n");
  CHECK(refused({"check", "blend", "--wish", "1"}) ==
        "check has no option --wish; it has: --size --threads --seed --device "
        "--finite-differences --tool --json\n");
  CHECK(refused({"check", "blend", "--thread", "1"}) ==
        "check has no option --thread; did you mean --threads?\n");
  CHECK(refused({"check", "blend", "--svg", "f.svg"}).substr(0, 26) ==
        "check has no option --svg;");
  CHECK(refused({"check", "blend", "--seed", "1", "2"}) == "2: not understood\n");
  CHECK(refused({"check", "blend", "seq=2"}) ==
        "seq=2: not understood; did you mean --size seq=2?\n");
  CHECK(refused({"check", "blend", "sea=2"}) == "sea=2: not understood\n");
  CHECK(refused({"check", "blend", "--seq", "2"}) ==
        "check has no option --seq; did you mean --size seq=N?\n");
  CHECK(refused({"check", "blend", "--json", "2"}) == "2: not understood\n");
  CHECK(refused({"check", "project"}) == "project: this tool was built without its reference\n");
  CHECK(refused({"check", "blend", "--device", "cuda"}) == "blend: not built for cuda\n");
  // Before inputs of tens of gigabytes are made.
  CHECK(refused({"bench", "blend", "--device", "cuda", "--size", "seq=2000000000"}) ==
        "blend: not built for cuda\n");
}

TEST_CASE("check and bench") {
  const session s;
  const result r = s.run({"check", "blend"});
  CHECK(r.code == 0);
  CHECK(std::count(r.text.begin(), r.text.end(), '\n') == 10);
  CHECK(r.text.find("blend  batch=2 seq=17 kv=33  error ") != std::string::npos);
  CHECK(r.text.find("WRONG") == std::string::npos);
  CHECK(s.run({"check", "blend", "--size", "batch=1", "seq=5", "kv=7"}).text.substr(0, 30) ==
        "blend  batch=1 seq=5 kv=7  err");
  const result b = s.run({"bench", "blend", "--size", "seq=8", "kv=8", "--threads", "1"});
  CHECK(b.code == 0);
  CHECK(b.text.find("blend  batch=1 seq=8 kv=8  1 thread  median ") == 0);
}

TEST_CASE("check of a kernel in another tool") {
  const session s;
  const auto script = [&](const char *name, const std::string &lines) {
    const std::string path = s.folder + "/" + name;
    std::ofstream(path) << lines;
    return path;
  };
  // It writes Q as O, which is right where there are no keys.
  const std::string copies = script("copies", R"(echo "$1 $2" >&2
for word; do
  case $word in
    Q=*) q=${word#Q=} ;;
    O=*) cp "$q" "${word#O=}" ;;
    batch=* | seq=* | kv=* | --* | [0-9]*) printf '%s ' "$word" >&2 ;;
  esac
done
)");
  const auto check = [&](const std::string &tool, std::vector<std::string> more) {
    std::vector<std::string> words = {"check", "blend", "--tool", "sh", tool};
    words.insert(words.end(), more.begin(), more.end());
    return s.run(words);
  };
  const result right = check(copies, {"--size", "batch=1", "seq=2", "kv=0", "--threads", "3"});
  CHECK(right.code == 0);
  CHECK(right.text.find("run blend\n--in --size batch=1 kv=0 seq=2 --threads 3 --out blend  "
                        "batch=1 seq=2 kv=0  error 0.00e+00") == 0);
  const result wrong = check(copies, {"--size", "batch=1", "seq=2", "kv=3"});
  CHECK(wrong.code == 1);
  CHECK(wrong.text.find("WRONG: output 0 element 0: ") != std::string::npos);
  CHECK(check(copies, {"--device", "opencl", "--size", "seq=2", "kv=0"}).text.find("--device") !=
        std::string::npos);

  const result fails = check(script("fails", "echo no >&2; exit 3\n"), {"--size", "kv=0"});
  CHECK(fails.code == 2);
  CHECK(fails.text.find("no\nit returned 3: sh " + s.folder + "/fails run blend --in Q=") == 0);
  CHECK(check(script("dies", "kill -9 $$\n"), {}).text.find("signal 9 ended it: sh ") == 0);
  CHECK(s.run({"check", "blend", "--tool", "/none"}).text == "/none: No such file or directory\n");
  const result none = check(script("none", ""), {"--size", "seq=2", "kv=0"});
  CHECK(none.code == 2);
  CHECK(none.text.find("/O.npy: No such file or directory\n") != std::string::npos);
  const std::string o = s.save("o", {1, 3, 4}, std::vector<float>(12, 1));
  const std::string long_o = script("long_o", "for w; do :; done; cp '" + o + "' \"${w#O=}\"\n");
  CHECK(check(long_o, {"--size", "batch=1", "seq=2", "kv=0"}).text ==
        "O has the shape [1, 3, 4], not [1, 2, 4]\n");
}

TEST_CASE("check with finite differences") {
  const session s;
  const result r =
      s.run({"check", "blend", "--finite-differences", "--size", "batch=1", "seq=2", "kv=3"});
  CHECK(r.code == 0);
  CHECK(r.text.find("dQ: 0.5 by differences, 0.5 by its formula  ok\n") != std::string::npos);
  const result wrong = s.run({"check", "blend", "--finite-differences", "--seed", "2"});
  CHECK(wrong.code == 1);
  CHECK(wrong.text.find("dK: 2 by differences, 2.5 by its formula  WRONG: dK: 2 is not 2.5\n") !=
        std::string::npos);
  CHECK(s.run({"check", "project", "--finite-differences"}).code == 2);
}

TEST_CASE("run on files") {
  const session s;
  const std::string q = s.save("q", {1, 2, 4}, std::vector<float>(8, 1)),
                    k = s.save("k", {1, 3, 4}, std::vector<float>(12, 2));
  const std::string o = s.folder + "/o.npy";
  const result r = s.run({"run", "blend", "--in", "Q=" + q, "K=" + k, "V=" + k, "--out", "O=" + o});
  CHECK(r.text == "Q: f32 [1, 2, 4] from " + q + "\nK: f32 [1, 3, 4] from " + k +
                      "\nV: f32 [1, 3, 4] from " + k + "\nO: f32 [1, 2, 4] into " + o + "\n");
  CHECK(r.code == 0);
  const std::string wide = s.folder + "/wide.npy";
  const std::vector<double> ones(8, 1);
  REQUIRE(qkv::write_npy(wide, qkv::npy_type::f64, std::vector<std::int64_t>{1, 2, 4}, ones.data())
              .ok());
  CHECK(s.run({"run", "blend", "--in", "Q=" + wide, "K=" + k, "V=" + k, "--out", "O=" + o})
            .text.find("Q: f64 [1, 2, 4] from " + wide + ", taken as f32\n") == 0);
  CHECK(s.run({"run", "blend", "--in", "Q=" + q, "K=" + k, "V=" + k, "--out", "K=" + o})
            .text.substr(0, 15) == "blend has no K:");
  qkv::npy_array a;
  REQUIRE(qkv::read_npy(o, a).ok());
  CHECK(a.shape == std::vector<std::int64_t>{1, 2, 4});
  CHECK(reinterpret_cast<const float *>(a.data.data())[7] == 13);
  CHECK(s.run({"run", "blend", "--in", "Q=" + q, "K=" + k, "V=" + q}).text ==
        "blend: axis kv is 2 in V but 3 in K\n");
  CHECK(
      s.run({"run", "blend", "--in", "Q=" + q, "K=" + k, "V=" + k, "Z=" + k}).text.substr(0, 15) ==
      "blend has no Z:");
  CHECK(s.run({"run", "blend", "--in", "Q=" + q, "K=" + k}).text.substr(0, 29) ==
        "blend needs --in V=file.npy: ");
  CHECK(s.run({"run", "blend", "--in", "Q=" + q, "K=" + k, "V=" + k}).text ==
        "blend ran, but nothing was written: say --out O=file.npy\n");
  CHECK(s.run({"run", "blend", "--in", "Q=/none", "K=" + k, "V=" + k}).text ==
        "/none: No such file or directory\n");
}

TEST_CASE("the tool without a command prints its usage") {
  const session s;
  const result r = s.run({});
  CHECK(r.code == 2);
  CHECK(r.text.find("tool COMMAND [KERNEL] [OPTION ...]\n  list      The kernels") == 0);
  CHECK(s.run({"help"}).code == 0);
  CHECK(s.run({"help"}).text == r.text);
  CHECK(s.run({"-h"}).text == r.text);
  const std::string about_run =
      "tool run K --in Q=q.npy ... --out O=o.npy\n  Runs a kernel on files.\n"
      "  --in Q=q.npy ...       arguments from files, as NumPy saves them\n";
  CHECK(s.run({"help", "run"}).text.find(about_run) == 0);
  CHECK(s.run({"run", "blend", "--help"}).text.find(about_run) == 0);
  CHECK(s.run({"run", "--help"}).code == 0);
  CHECK(s.run({"--version"}).text.find("qkv 0.1.0, binary interface ") == 0);
}

TEST_CASE("trace prints the numbers of every step") {
  const session s;
  const std::string q = s.save("q", {1, 2, 4}, {1, 2, 3, 4, -INFINITY, 6, 7, 8}),
                    k = s.save("k", {1, 1, 4}, {2, 2, 2, 2}), svg = s.folder + "/blend.svg";
  const result r = s.run({"trace", "blend", "--in", "Q=" + q, "K=" + k, "V=" + k, "--svg", svg});
  INFO(r.text);
  CHECK(r.code == 0);
  CHECK(r.text.find("Q [batch=1, seq=2, d=4]  1 to 8, mean 4.429, 1 hidden, infinite or NaN\n"
                    "            1         2         3         4\n"
                    "         -inf         6         7         8\n"
                    "O [batch=1, seq=2, d=4]  5 to 12, mean 8.429, 1 hidden") == 0);
  std::ostringstream picture;
  picture << std::ifstream(svg).rdbuf();
  CHECK(picture.str() == "<svg>2</svg>");
  CHECK(s.run({"trace", "blend", "--size", "seq=3"}).text.find("Q [batch=1, seq=3, d=4]") == 0);
  CHECK(s.run({"trace", "project"}).text == "project: this tool was built without its reference\n");
}

TEST_CASE("JSON, an object a line") {
  const session s;
  const auto has = [](const result &r, const std::string &part) {
    INFO(r.text);
    CHECK(r.code == 0);
    CHECK(r.text.find(part) != std::string::npos);
  };
  has(s.run({"list", "--json"}),
      R"({"kernel": "project", )"
      R"("signature": "project(X[seq, k], param W[k, n, m=3]) -> Y[seq, n, m=3]", )"
      R"("arguments": [{"name": "X", "role": "in", "dtype": "f32", "axes": ["seq", "k"]}, )");
  has(s.run({"describe", "blend", "--json", "--size", "seq=3", "kv=4", "batch=1"}),
      R"("sizes": {"batch": 1, "d": 4, "kv": 4, "seq": 3}, "flops_left_by_masks": 1000, )"
      R"("bytes_moved": 800, "flops": {"formula": "1000", "value": 1000}, )");
  has(s.run({"describe", "blend", "--json", "--size", "seq=3", "kv=4", "batch=1"}),
      R"("sheet": "blend, described with 4 sizes"})");
  has(s.run({"check", "blend", "--json", "--size", "seq=2"}),
      R"({"kernel": "blend", "sizes": {"batch": 2, "d": 4, )");
  has(s.run({"check", "blend", "--json", "--size", "seq=2"}), R"("right": true, "text": ""})");
  has(s.run({"bench", "blend", "--json", "--size", "seq=8", "kv=8"}), R"("threads": )");
  has(s.run({"bench", "blend", "--json", "--size", "seq=8", "kv=8"}), R"("gbytes_per_second": )");
}

TEST_CASE("serve speaks the protocol of the benchmark") {
  const session s;
  const auto line = [&](int hq, int hkv, const char *mask, double scale, const std::string &q,
                        const std::string &kv, int seq) {
    std::stringstream json;
    json << R"({"name": "case", "dtype": "fp32", "B": 1, "Hq": )" << hq << R"(, "Hkv": )" << hkv
         << R"(, "Sq": )" << seq << R"(, "Skv": )" << seq << R"(, "Dk": 4, "Dv": 4, "mask": ")"
         << mask << R"(", "window": 0, "softcap": 0.0, "scale": )" << scale
         << R"(, "threads": 1, "q": ")" << q << R"(", "k": ")" << kv << R"(", "v": ")" << kv
         << R"(", "bias": "", "lengths": "", "out": ")" << s.folder << "/out.npy\"}\n";
    return json.str();
  };
  const std::string q = s.save("q", {1, 4, 3, 4}, std::vector<float>(48, 1)),
                    k = s.save("k", {1, 4, 3, 4}, std::vector<float>(48, 2));
  const std::string k2 = s.save("k2", {1, 2, 3, 4}, std::vector<float>(24, 5));
  const result plain = s.run({"serve"}, line(4, 4, "none", 0.5, q, k, 3) + "run 3\nwrite\nquit\n");
  CHECK(plain.code == 0);
  CHECK(plain.text.substr(0, 6) == "ready\n");
  CHECK(std::count(plain.text.begin(), plain.text.end(), ' ') == 2);
  CHECK(plain.text.substr(plain.text.size() - 3) == "ok\n");
  CHECK(
      s.run({"serve"}, line(4, 2, "causal", 0.5, q, k2, 3) + "run 1\nwrite\n").text.substr(0, 6) ==
      "ready\n");
  qkv::npy_array a;
  REQUIRE(qkv::read_npy(s.folder + "/out.npy", a).ok());
  CHECK(a.shape == std::vector<std::int64_t>{1, 4, 3, 4});
  CHECK(std::abs(reinterpret_cast<const float *>(a.data.data())[47] - 5) < 1e-5f);

  const auto with = [&](const std::string &more) {
    return "{" + more + ", " + line(4, 4, "none", 0.5, q, k, 3).substr(1);
  };
  CHECK(s.run({"serve"}, with(R"("kind": "sdpa")")).text == "ready\n");
  CHECK(s.run({"serve"}, with(R"("kind": "linear")")).text ==
        "unsupported no kernel here is named linear_...\n");
  CHECK(s.run({"serve"}, with(R"("w": ")" + q + "\"")).text ==
        "unsupported sdpa_none: its parameters have 0 elements\n");
  CHECK(s.run({"serve"}, line(4, 4, "window", 0.5, q, k, 3)).text ==
        "unsupported no kernel with mask window\n");
  CHECK(s.run({"serve"}, line(4, 4, "causal", 0.5, q, k, 3)).text ==
        "unsupported sdpa_causal_h2: axis group is 1 in Q but must be 2\n");
  CHECK(s.run({"serve"}, line(4, 4, "none", 0.7, q, k, 3)).text ==
        "unsupported sdpa_none: its scale is 1 / sqrt(Dk)\n");
  CHECK(s.run({"serve"}, line(4, 4, "none", 0.5, "/none", k, 3)).text ==
        "unsupported /none: No such file or directory\n");
  CHECK(s.run({"serve"}, "[1, 2]\n").text == "unsupported: the case is not a flat JSON object\n");
  CHECK(s.run({"serve"}, line(4, 4, "none", 0.5, q, k, 3) + "dance\n").text ==
        "ready\nnot understood\n");
}
