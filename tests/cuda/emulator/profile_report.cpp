// SPDX-License-Identifier: BSL-1.0
// PTX_PROFILE=1: statistics of each kernel, printed when the program ends.
#include <cstdio>
#include <cstdlib>

#include "tests/cuda/emulator/device.hpp"

namespace qkv::ptx {
namespace {

using counted = unsigned long long;

void print_totals(std::FILE *f, const std::string &name, const profiled &p) {
  const statistics &s = p.total;
  std::fprintf(f, "{\"kernel\": \"%s\", \"launches\": %llu, \"warp_instructions\": {", name.c_str(),
               counted{p.launches});
  const char *comma = "";
  for (int k = 0; k < static_cast<int>(kind::count_); ++k)
    if (s.warp_instructions[k]) {
      std::fprintf(f, "%s\"%s\": %llu", comma, name_of(static_cast<kind>(k)),
                   counted{s.warp_instructions[k]});
      comma = ", ";
    }
  std::fprintf(f, "}, \"tensor_flops\": %llu, ", counted{s.tensor_flops});
  std::fprintf(f, "\"global\": {\"requests\": %llu, \"sectors\": %llu, \"bytes\": %llu}, ",
               counted{s.global_requests}, counted{s.global_sectors}, counted{s.global_bytes});
  std::fprintf(f, "\"shared\": {\"requests\": %llu, \"wavefronts\": %llu}, ",
               counted{s.shared_requests}, counted{s.shared_wavefronts});
  std::fprintf(f, "\"divergent_branches\": %llu}\n", counted{s.divergent_branches});
}

void print_accesses(std::FILE *f, const std::string &name, const profiled &p) {
  std::fprintf(f, "%s: requests, wavefronts or sectors of each, the same at best\n", name.c_str());
  for (const auto &[at, x] : p.total.accesses)
    std::fprintf(f, "  %-48s %10llu %7.2f %7.2f\n", p.lines[at].c_str(), counted{x.requests},
                 static_cast<double>(x.units) / static_cast<double>(x.requests),
                 static_cast<double>(x.ideal) / static_cast<double>(x.requests));
}

__attribute__((destructor)) void report_at_end() {
  if (!gpu().how.profile) return;
  const char *path = std::getenv("PTX_PROFILE_FILE");
  std::FILE *f = path ? std::fopen(path, "a") : stderr;
  if (!f) return;
  for (const auto &[name, p] : gpu().profile) print_totals(f, name, p);
  for (const auto &[name, p] : gpu().profile) print_accesses(f, name, p);
  if (path) std::fclose(f);
}

}  // namespace
}  // namespace qkv::ptx
