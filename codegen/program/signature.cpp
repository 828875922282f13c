#include <bit>

#include "codegen/program/program.hpp"

namespace qkv::codegen {
namespace {

// FNV-1a: stable across compilers and machines, which std::hash is not.
class hash {
 public:
  void add(std::uint64_t x) {
    for (int k = 0; k < 8; ++k) value_ = (value_ ^ ((x >> (8 * k)) & 0xff)) * 1099511628211ull;
  }
  void add(const std::string &s) {
    add(s.size());
    for (unsigned char c : s) add(c);
  }
  template <class T>
  void add_all(const std::vector<T> &list) {
    add(list.size());
    for (const T &x : list) add(static_cast<std::uint64_t>(x));
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037ull;
};

}  // namespace

std::uint64_t signature(const program &p) {
  hash h;
  h.add(p.name);
  h.add(p.axes.size());
  for (const axis &a : p.axes) {
    h.add(a.name);
    h.add(static_cast<std::uint64_t>(a.size));
    h.add(static_cast<std::uint64_t>(a.root));
  }
  for (const node &n : p.nodes) {
    h.add(static_cast<std::uint64_t>(n.kind));
    h.add(static_cast<std::uint64_t>(n.type));
    h.add_all(n.in);
    h.add_all(n.shape);
    h.add_all(n.over);
    h.add(std::bit_cast<std::uint64_t>(n.value));
    if (n.kind == op::input || n.kind == op::param || n.kind == op::output) h.add(n.name);
  }
  return h.value();
}

}  // namespace qkv::codegen
