#include "codegen/emit/objects.hpp"

#include <map>
#include <stdexcept>

#include "codegen/emit/apart.hpp"
#include "codegen/emit/device_memory.hpp"
#include "codegen/emit/shared_memory.hpp"
#include "codegen/halide/lower/refusal.hpp"
#include "codegen/halide/pipeline.hpp"

namespace qkv::codegen {

using Halide::OutputFileType;

namespace {

Halide::Module module_for(const plan &made, const machine &m) {
  compiled_form form = lower_pipeline(made, m);
  // Metadata would describe the arguments once more: the tables do.
  Halide::Module module =
      with_counted_device_memory(with_shared_memory_apart(form.pipeline.compile_to_module(
          form.arguments, symbol_of(made.p, m), m.target, Halide::LinkageType::ExternalPlusArgv)));
  // Else, Halide tells LLVM that no number is NaN or infinite where no operation is strict:
  // abs(where(flag, 0, -inf)) would be -inf.
  module.set_any_strict_float(true);
  return module;
}

std::map<OutputFileType, std::string> outputs(const machine &m, const std::string &object,
                                              const std::string &base,
                                              const object_options &options) {
  std::map<OutputFileType, std::string> all = {{OutputFileType::object, object}};
  if (options.stmt) all[OutputFileType::stmt] = base + ".stmt";
  if (options.assembly && m.is_host()) all[OutputFileType::assembly] = base + ".s";
  if (options.assembly && m.target.has_feature(Halide::Target::CUDA))
    all[OutputFileType::device_code] = base + ".ptx";
  return all;
}

}  // namespace

std::string symbol_of(const program &p, const machine &m) {
  return "qkv_code_" + p.name + "_" + m.c_name();
}

void write_objects(const plan &made, const std::vector<machine> &machines, const std::string &dir,
                   const std::string &stem, const object_options &options, const scratch &folder) {
  std::vector<std::string> objects;
  for (const machine &m : machines) {
    const std::string name = stem + "." + m.name;
    objects.push_back(folder.path(name + ".o"));
    reached(made.p.name + " for " + m.name);
    try {
      module_for(made, m).compile(outputs(m, objects.back(), dir + "/" + name, options));
    } catch (const Halide::Error &e) {  // not a std::exception
      throw std::runtime_error(refusal(made.p, -1, e));
    }
  }
  Halide::create_static_library(objects, machines[0].target, folder.path(stem + ".a"));
  folder.publish(stem + ".a", dir);
}

}  // namespace qkv::codegen
