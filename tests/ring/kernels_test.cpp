// Every kernel of the tests of compiled kernels that has queries and keys: its shares give the results of
// one machine, or kernels.txt has the error.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "codegen/program/queries.hpp"
#include "codegen/ring/shard.hpp"
#include "tests/catch.hpp"
#include "tests/gradient/programs.hpp"
#include "tests/ring/same_results.hpp"

using namespace qkv::testing;
using qkv::codegen::axis_id;
using qkv::codegen::node;
using qkv::codegen::program;

namespace {

struct axes {
  std::string query, key;
};

// The first sum over positions of pairs: along one of two axes that the call decides.
std::optional<axes> shared_axes(const program &p) {
  const auto is_long = [&](axis_id a) {
    return !p.axes[a].batch && p.axes[p.axes[a].root].size < 0;
  };
  for (const node &n : p.nodes) {
    if (n.over.empty() || n.in.empty() || qkv::core::is_view(n.kind)) continue;
    for (const axis_id key : n.over)
      for (const int operand : n.in)
        for (const axis_id query : p[operand].shape)
          if (is_long(key) && is_long(query) && query != key &&
              qkv::codegen::has(p[operand].shape, key) && !qkv::codegen::has(n.over, query))
            return axes{p.axes[query].name, p.axes[key].name};
  }
  return std::nullopt;
}

std::string line_of(const program &p) {
  const std::optional<axes> shared = shared_axes(p);
  if (!shared) return "";
  try {
    const qkv::codegen::shares s = qkv::codegen::shard(p, shared->query, shared->key);
    return p.name + ": " + shared->query + ", " + shared->key + ": " +
           std::to_string(s.hops.size()) + (s.hops.size() == 1 ? " round" : " rounds");
  } catch (const std::runtime_error &e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("every kernel with queries and keys has shares, or an error that is known") {
  std::string all;
  for (const program &p : all_programs())
    if (const std::string line = line_of(p); !line.empty()) all += line + "\n";
  const std::string path = QKV_ROOT "/tests/ring/kernels.txt";
  if (std::getenv("QKV_UPDATE_GOLDEN")) std::ofstream(path) << all;
  std::ifstream file(path);
  std::stringstream known;
  known << file.rdbuf();
  CHECK(known.str() == all);
}

TEST_CASE("machines that share the tokens of a kernel give the results of one") {
  for (const program &p : all_programs()) {
    const std::optional<axes> shared = shared_axes(p);
    // Scores of -3e38 alone: their logsumexp absorbs the logarithm of their number.
    if (!shared || p.name == "lowest_less_maximum") continue;
    try {
      (void)qkv::codegen::shard(p, shared->query, shared->key);
    } catch (const std::runtime_error &) {
      continue;  // in kernels.txt
    }
    CHECK(wrong_shares(p, shared->query, shared->key) == "");
  }
}
