// SPDX-License-Identifier: BSL-1.0
// A hash over everything that decides the result.
#include "codegen/program/hash.hpp"
#include "codegen/program/program.hpp"

namespace qkv::codegen {
namespace {

bool is_named(op kind) { return kind == op::input || kind == op::param || kind == op::output; }

}  // namespace

// The names of axes and arguments count: they are in the tables and messages of the compiled
// kernel.
std::uint64_t fingerprint(const program &p) {
  hash h;
  h.add(p.name);
  h.add(static_cast<std::uint64_t>(p.axes.size()));
  for (const axis &a : p.axes) {
    h.add(a.name);
    h.add(a.size);
    h.add(static_cast<int>(a.batch));
    h.add(a.root);
  }
  h.add(static_cast<std::uint64_t>(p.nodes.size()));
  for (const node &n : p.nodes) {
    h.add(std::string(name_of(n.kind)));
    h.add(std::string(name_of(n.type)));
    h.add(n.in);
    h.add(n.shape);
    h.add(n.over);
    h.add(n.kind == op::number ? n.value : 0.0);
    if (is_named(n.kind)) h.add(n.name);
  }
  h.add(p.arguments);
  h.add(p.outputs);
  for (const condition &c : p.conditions) {
    h.add(static_cast<int>(c.what));
    h.add(c.a);
    h.add(c.b);
    h.add(c.c);
  }
  return h.value();
}

}  // namespace qkv::codegen
