// SPDX-License-Identifier: BSL-1.0
// Machines of this process share the tokens of a causal attention: who has how much work, and whose
// keys are where at which hop.
//
//   ring [FOLDER]    draws ring.svg there
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "examples/svg.hpp"
#include "tokens.hpp"

namespace {

using namespace examples;
using qkv::ring::layout;
constexpr int machines = 4;
constexpr std::int64_t n = 512;

// Pairs of a query of one machine and a key of another that the mask shows.
std::int64_t visible_pairs(const layout &where, int of_queries, int of_keys) {
  std::int64_t pairs = 0;
  for_tokens(where.queries(of_queries), [&](std::int64_t, std::int64_t i) {
    for_tokens(where.keys(of_keys), [&](std::int64_t, std::int64_t j) { pairs += j <= i; });
  });
  return pairs;
}

std::int64_t work_of(const layout &where, int machine) {
  std::int64_t pairs = 0;
  for (int of = 0; of < machines; ++of) pairs += visible_pairs(where, machine, of);
  return pairs;
}

// A row for each machine, a column for each hop: whose keys are there, as dark as what is seen of
// them.
std::string hops(const layout &where, const char *title, double left, double top) {
  constexpr double size = 56;
  std::string body = svg::text(left, top - 26, title, "start", "font-weight=\"bold\"");
  for (int h = 0; h < machines; ++h)
    body += svg::text(left + size * (h + 0.5), top - 6, fmt::format("hop {}", h), "middle");
  for (int m = 0; m < machines; ++m) {
    for (int h = 0; h < machines; ++h) {
      const int of = (m + machines - h) % machines;
      const double all = static_cast<double>(where.n_queries(m) * where.n_keys(of)),
                   share = static_cast<double>(visible_pairs(where, m, of)) / all;
      const double x = left + size * h, y = top + size * m;
      body += fmt::format(
          "<rect x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\" fill=\"#1f4e8c\" "
          "fill-opacity=\"{:.2f}\" stroke=\"#aaa\"/>\n",
          x, y, size, size, share);
      body += svg::text(x + size / 2, y + size / 2 - 2, fmt::format("keys {}", of), "middle",
                        share > 0.6 ? "style=\"fill:#fff\"" : "");
      body += svg::text(x + size / 2, y + size / 2 + 15, fmt::format("{:.0f} %", 100 * share),
                        "middle", share > 0.6 ? "style=\"fill:#fff\"" : "");
    }
    body += svg::text(left - 8, top + size * (m + 0.5) + 4, fmt::format("{}", m), "end");
  }
  return body;
}

std::string picture(const layout &one, const layout &other) {
  const std::string title = "What machines see of the keys that come round";
  std::string body = svg::text(20, 24, title, "start", "font-weight=\"bold\"");
  body += hops(one, "contiguous", 50, 86) + hops(other, "zigzag", 330, 86);
  return svg::page(580, 330, body, title);
}

}  // namespace

int main(int argc, char **argv) {
  const queries Q = random<queries>(n, 1);
  const keys K = random<keys>(n, 2), V = random<keys>(n, 3);
  queries expected({n});
  if (const qkv::status s = qkv::call<my::attention>(Q, K, V, expected); !s) {
    std::printf("%s\n", s.text());
    return 1;
  }
  const layout contiguous = qkv::ring::contiguous(machines, n, n),
               zigzag = qkv::ring::zigzag(machines, n, n);
  for (const layout *where : {&contiguous, &zigzag}) {
    qkv::ring::loopback ring(machines);
    queries O({n});
    std::vector<qkv::status> said(machines);
    std::vector<std::thread> threads;
    for (int m = 0; m < machines; ++m)
      threads.emplace_back([&, m] { said[m] = attend(ring.machine(m), *where, {}, Q, K, V, O); });
    for (std::thread &t : threads) t.join();
    for (const qkv::status &s : said)
      if (!s) {
        std::printf("%s\n", s.text());
        return 1;
      }
    const qkv::ring::positions all[] = {{0, n}};
    if (!(difference(O, expected, all) < 1e-5f)) {
      std::printf("machines give other results than one\n");
      return 1;
    }
  }
  std::printf("%d machines, %d tokens: the results of one\n\n", machines, static_cast<int>(n));
  std::printf("visible pairs, of the mean\n");
  std::printf("machine   contiguous   zigzag\n");
  const double mean = static_cast<double>(n * (n + 1) / 2) / machines;
  for (int m = 0; m < machines; ++m)
    std::printf("%4d %13.2f %10.2f\n", m, static_cast<double>(work_of(contiguous, m)) / mean,
                static_cast<double>(work_of(zigzag, m)) / mean);
  if (argc > 1) std::ofstream(std::string(argv[1]) + "/ring.svg") << picture(contiguous, zigzag);
}
