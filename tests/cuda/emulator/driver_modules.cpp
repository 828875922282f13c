// SPDX-License-Identifier: BSL-1.0
// Modules: PTX becomes kernels and variables.
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "tests/cuda/emulator/driver.hpp"

#include "tests/cuda/emulator/decoder.hpp"
#include "tests/cuda/emulator/replaced.hpp"

namespace qkv::ptx {
namespace {

struct loaded_module {
  std::vector<std::unique_ptr<std::uint8_t[]>> memory;  // of its variables
  std::map<std::string, variable> variables;
  ptx::module text;
  std::map<std::string, std::unique_ptr<loaded_function>> functions;
};

// All that are loaded. Never destroyed: programs unload modules while they end.
std::set<loaded_module *> &modules() {
  static auto &all = *new std::set<loaded_module *>;
  return all;
}

}  // namespace
}  // namespace qkv::ptx

using namespace qkv::ptx;

#pragma GCC visibility push(default)
extern "C" {

result cuModuleLoadData(void **out, const void *image) {
  const call here(__func__);
  if (contexts().empty()) return result::invalid_context;
  const auto *text = static_cast<const char *>(image);
  for (const std::string_view machine_code : {"\177ELF", "\x50\xed\x55\xba"})
    if (std::string_view(text).substr(0, 4) == machine_code) return result::no_binary;
  try {
    auto m = std::make_unique<loaded_module>();
    m->text = parse(text_in_place_of(text));
    for (variable v : m->text.variables) {
      if (v.where == space::global || v.where == space::constant) {
        m->memory.push_back(
            std::make_unique<std::uint8_t[]>(static_cast<std::size_t>(v.bytes) + 256));
        const auto at =
            (reinterpret_cast<std::uintptr_t>(m->memory.back().get()) + 255) / 256 * 256;
        std::memcpy(reinterpret_cast<void *>(at), v.value.data(), v.value.size());
        v.offset = static_cast<std::int64_t>(at);
        gpu().memory.add(at, static_cast<std::uint64_t>(v.bytes));
      }
      m->variables[v.name] = v;
    }
    modules().insert(m.get());
    *out = m.release();
    return result::success;
  } catch (const std::exception &e) {
    return gpu().refuse(result::invalid_ptx, e.what());
  }
}
result cuModuleLoadDataEx(void **out, const void *image, unsigned, void *, void **) {
  return cuModuleLoadData(out, image);
}
result cuModuleUnload(void *m) {
  const call here(__func__);
  finish_all_streams();
  const auto it = modules().find(static_cast<loaded_module *>(m));
  if (it == modules().end()) return result::invalid_handle;
  for (const auto &[name, v] : (*it)->variables)
    if (v.where == space::global || v.where == space::constant)
      gpu().memory.remove(static_cast<std::uint64_t>(v.offset));
  delete *it;
  modules().erase(it);
  return result::success;
}
result cuModuleGetFunction(void **out, void *module, const char *name) {
  const call here(__func__);
  auto *m = static_cast<loaded_module *>(module);
  auto &f = m->functions[name];
  if (!f) {
    const entry *found = nullptr;
    for (const auto &e : m->text.entries)
      if (e->name == name) found = e.get();
    if (!found) return result::not_found;
    try {
      auto made = std::make_unique<loaded_function>();
      decoder(made->k, *found, m->variables).run();
      f = std::move(made);
    } catch (const std::exception &e) {
      return gpu().refuse(result::invalid_ptx, e.what());
    }
  }
  *out = f.get();
  return result::success;
}
result cuModuleGetGlobal_v2(device_pointer *p, std::size_t *bytes, void *module, const char *name) {
  auto *m = static_cast<loaded_module *>(module);
  const auto it = m->variables.find(name);
  if (it == m->variables.end()) return result::not_found;
  if (p) *p = static_cast<device_pointer>(it->second.offset);
  if (bytes) *bytes = static_cast<std::size_t>(it->second.bytes);
  return result::success;
}
result cuFuncSetAttribute(void *f, int what, int v) {
  constexpr int dynamic_shared_memory = 8;
  if (what == dynamic_shared_memory)
    static_cast<loaded_function *>(f)->dynamic_allowed = static_cast<std::uint32_t>(v);
  return v <= static_cast<int>(most_shared_bytes) ? result::success : result::invalid_value;
}
result cuFuncGetAttribute(int *v, int what, void *f) {
  const auto *x = static_cast<loaded_function *>(f);
  *v = what == 0   ? 1024
       : what == 1 ? static_cast<int>(x->k.shared_bytes)
       : what == 3 ? static_cast<int>(x->k.local_bytes)
       : what == 8 ? static_cast<int>(x->dynamic_allowed)
                   : 0;
  return result::success;
}

}  // extern "C"
#pragma GCC visibility pop
