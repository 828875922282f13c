#include <qkv/registry.hpp>

#include <mutex>

namespace qkv {
namespace {

struct registered {
  std::mutex lock;
  std::vector<const qkv_kernel *> all;
};

// Made by the first library that registers, whatever the order of static constructors.
registered &the_registry() {
  static registered *r = new registered;
  return *r;
}

}  // namespace

std::vector<const qkv_kernel *> kernels() {
  registered &r = the_registry();
  const std::lock_guard hold(r.lock);
  return r.all;
}

std::vector<const qkv_kernel *> kernels(std::string_view name) {
  std::vector<const qkv_kernel *> found = kernels();
  std::erase_if(found, [&](const qkv_kernel *k) { return name != k->name; });
  return found;
}

}  // namespace qkv

extern "C" void qkv_register(const qkv_kernel *const *kernels, int32_t n) {
  auto &r = qkv::the_registry();
  try {
    const std::lock_guard hold(r.lock);
    r.all.insert(r.all.end(), kernels, kernels + n);
  } catch (...) {  // no memory before main: calls will say that the kernel is not linked in
  }
}
