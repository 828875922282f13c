#include "tests/fuzz/compiled.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <qkv/registry.hpp>
#include <stdexcept>

#include "codegen/emit/objects.hpp"
#include "codegen/emit/tables.hpp"

namespace qkv::fuzz {

std::string host_targets(bool best) {
  return best && __builtin_cpu_supports("avx512bw") ? "x86-64-v4" : "x86-64-v3";
}

namespace {

void write(const std::string &path, const std::string &text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace

const qkv_kernel &compiled(const codegen::program &p, const std::string &list,
                           const std::string &folder) {
  const auto targets = codegen::targets_of(list);
  codegen::write_objects(p, targets, folder, {});
  const std::string library = "lib" + p.name, base = folder + "/" + library;
  write(base + ".kernels.h", codegen::c_header(library, {p}));
  write(base + ".c", codegen::c_tables(library, {p}, targets));
  const std::string link = fmt::format(
      "{} -shared -fPIC -O0 -w -I{}/runtime -o {}.so {}.c -Wl,--whole-archive {}/{}.a "
      "-Wl,--no-whole-archive",
      QKV_C_COMPILER, QKV_ROOT, base, base, folder, p.name);
  if (std::system(link.c_str()) != 0) throw std::runtime_error("the linker failed: " + link);
  if (!dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL))
    throw std::runtime_error(std::string("cannot load: ") + dlerror());
  const auto found = kernels(p.name);
  if (found.empty()) throw std::runtime_error(p.name + " was not registered");
  return *found.back();
}

}  // namespace qkv::fuzz
