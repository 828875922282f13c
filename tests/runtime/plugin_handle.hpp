// SPDX-License-Identifier: BSL-1.0
#pragma once
// A library of tests/runtime/plugins, loaded for the lifetime of this object.
#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "tests/catch.hpp"

class plugged_in {
 public:
  explicit plugged_in(const char *name)
      : handle_(dlopen((std::string(QKV_PLUGINS) + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL)) {
    INFO((handle_ ? "" : dlerror()));
    REQUIRE(handle_);
  }
  ~plugged_in() { CHECK(dlclose(handle_) == 0); }
  plugged_in(const plugged_in &) = delete;
  plugged_in &operator=(const plugged_in &) = delete;

  template <class Function>
  Function *function(const char *name) const {
    auto *f = reinterpret_cast<Function *>(dlsym(handle_, name));
    REQUIRE(f);
    return f;
  }

 private:
  void *handle_;
};

inline bool is_loaded(const char *name) {
  void *const handle =
      dlopen((std::string(QKV_PLUGINS) + "/" + name).c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (handle) dlclose(handle);
  return handle;
}

inline std::ptrdiff_t threads_of_process() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return std::distance(begin(all), end(all));
}
