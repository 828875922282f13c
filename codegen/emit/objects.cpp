#include "codegen/emit/objects.hpp"

#include <algorithm>
#include <stdexcept>

#include "codegen/emit/apart.hpp"
#include "codegen/emit/archives.hpp"
#include "codegen/emit/device_memory.hpp"
#include "codegen/emit/shared_memory.hpp"
#include "codegen/halide/lower/refusal.hpp"
#include "codegen/halide/pipeline.hpp"

namespace qkv::codegen {

using Halide::OutputFileType;

namespace {

std::vector<Halide::Target> targets_in(const target &t) {
  std::vector<Halide::Target> all;
  for (const machine &m : t.variants) all.push_back(m.target);
  return all;
}

// Of the functions for each machine, where there are several.
std::vector<std::string> suffixes_of(const target &t) {
  std::vector<std::string> all;
  for (const machine &m : t.variants) {
    all.push_back(m.name);
    std::replace(all.back().begin(), all.back().end(), '-', '_');
  }
  return all.size() > 1 ? all : std::vector<std::string>();
}

const machine &machine_of(const target &t, const Halide::Target &one) {
  for (const machine &m : t.variants)
    if (m.target == one) return m;
  throw std::logic_error("no machine is " + one.to_string());
}

}  // namespace

std::string symbol_of(const program &p, backend b) {
  return "qkv_code_" + p.name + "_" + name_of(b);
}

void write_objects(const plan &made, const std::vector<target> &targets, const std::string &dir,
                   const std::string &stem, const object_options &options, const scratch &folder) {
  const program &p = made.p;
  std::vector<std::string> parts;
  for (const target &t : targets) {
    const std::string name = stem + "." + name_of(t.where), base = dir + "/" + name,
                      symbol = symbol_of(p, t.where);
    const auto lower = [&](const std::string &function, const Halide::Target &one) {
      compiled_form form = lower_pipeline(made, machine_of(t, one));
      Halide::Module m = with_counted_device_memory(
          with_shared_memory_apart(form.pipeline.compile_to_module(form.arguments, function, one)));
      // Else, Halide tells LLVM that no number is NaN or infinite where no operation is strict:
      // abs(where(flag, 0, -inf)) would be -inf.
      m.set_any_strict_float(true);
      return m;
    };
    parts.push_back(folder.path(name + ".a"));
    reached(p.name + " for " + name_of(t.where));
    try {
      Halide::compile_multitarget(symbol, {{OutputFileType::static_library, parts.back()}},
                                  targets_in(t), suffixes_of(t), lower);
    } catch (const Halide::Error &e) {  // not a std::exception
      throw std::runtime_error(refusal(p, -1, e));
    }
    std::map<OutputFileType, std::string> extra;
    if (options.stmt) extra[OutputFileType::stmt] = base + ".stmt";
    if (options.assembly && t.where == backend::host) extra[OutputFileType::assembly] = base + ".s";
    if (options.assembly && t.where == backend::cuda)
      extra[OutputFileType::device_code] = base + ".ptx";
    if (!extra.empty()) lower(symbol, t.variants.front().target).compile(extra);
  }
  merge_archives(parts, folder.path(stem + ".a"));
  folder.publish(stem + ".a", dir);
}

}  // namespace qkv::codegen
