// SPDX-License-Identifier: BSL-1.0
// loader PLUGIN: loads the library, calls its kernel and unloads it, twice.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char **argv) {
  for (int times = 0; times < 2; ++times) {
    void *plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!plugin) {
      std::printf("%s\n", argc == 2 ? dlerror() : "usage: loader PLUGIN");
      return 1;
    }
    using function = int(float *, float *, long);
    auto *doubled = reinterpret_cast<function *>(dlsym(plugin, "doubled"));
    float values[] = {1, 2, 3, 4, 5, 6, 7, 8}, twice[8] = {};
    if (!doubled || doubled(values, twice, 2) != 0) return 2;
    for (int i = 0; i < 8; ++i)
      if (twice[i] != 2 * values[i]) return 3;
    if (dlclose(plugin) != 0) return 4;
  }
  return 0;
}
