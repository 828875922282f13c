// SPDX-License-Identifier: BSL-1.0
#include "codegen/emit/objects.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <stdexcept>

#include "codegen/emit/apart.hpp"
#include "codegen/emit/device_memory.hpp"
#include "codegen/emit/pipeline.hpp"
#include "codegen/emit/printed.hpp"
#include "codegen/emit/shared_memory.hpp"
#include "codegen/halide/lower/refusal.hpp"
#include "codegen/machines/halide_target.hpp"
#include "codegen/plain/compile.hpp"
#include "codegen/program/text.hpp"

namespace qkv::codegen {

using Halide::OutputFileType;

namespace {

struct made_module {
  Halide::Module code;
  printed_kernels printed;
  std::vector<stage_by_loops> loops;
};

// `base`: of the names of files that the options ask for.
made_module module_for(const machine_plan &planned, const object_options &options,
                       const std::string &base, const scratch &folder) {
  const program &p = planned.made.p;
  const machine &m = planned.m;
  compiled_form form = lower_pipeline(planned, "qkv_loops_" + p.name + "_" + m.c_name());
  // Metadata would describe the arguments once more: the tables do.
  Halide::Module module = with_counted_device_memory(with_shared_memory_apart(
      form.pipeline.compile_to_module(form.arguments, symbol_of(p, m), halide_target(m),
                                      Halide::LinkageType::ExternalPlusArgv)));
  module = with_printed_kernels(
      module, form.printed, {symbol_of(p, m), options.cuda_compiler, options.assembly ? base : ""},
      folder);
  // Else, Halide tells LLVM that no number is NaN or infinite where no operation is strict:
  // abs(where(flag, 0, -inf)) would be -inf.
  module.set_any_strict_float(true);
  return {module, form.printed, form.loops};
}

std::string line_about(const printed_kernel &k, const machine &m) {
  std::vector<std::string> codes;
  for (const printed_code &x : k.codes) codes.push_back(fmt::format("{} on {}", x.what, x.target));
  return fmt::format("{}: {} by {}\n", m.name, k.what, fmt::join(codes, ", "));
}

std::map<OutputFileType, std::string> outputs(const machine &m, const std::string &object,
                                              const std::string &base,
                                              const object_options &options) {
  std::map<OutputFileType, std::string> all = {{OutputFileType::object, object}};
  if (options.stmt) all[OutputFileType::stmt] = base + ".stmt";
  if (options.assembly && m.is_host()) all[OutputFileType::assembly] = base + ".s";
  if (options.assembly && m.device == "cuda") all[OutputFileType::device_code] = base + ".ptx";
  return all;
}

}  // namespace

std::vector<const machine_plan *> compiled_in(const machine_plan &planned) {
  std::vector<const machine_plan *> all;
  for (const machine_plan &part : planned.parts)
    if (!part.made.p.outputs.empty()) all.push_back(&part);
  return planned.parts.empty() ? std::vector{&planned} : all;
}

std::string symbol_of(const program &p, const machine &m) {
  return "qkv_code_" + p.name + "_" + m.c_name();
}

std::string write_objects(const std::vector<machine_plan> &all, const std::string &dir,
                          const std::string &stem, const object_options &options,
                          const scratch &folder) {
  std::vector<std::string> objects;
  std::string printed;
  std::vector<const machine_plan *> compiled;
  for (const machine_plan &planned : all)
    for (const machine_plan *one : compiled_in(planned)) compiled.push_back(one);
  for (const machine_plan *one : compiled) {
    const machine_plan &planned = *one;
    const program &p = planned.made.p;
    const machine &m = planned.m;
    const std::string whole = all[0].made.p.name;
    const std::string name = stem + p.name.substr(whole.size()) + "." + m.name;
    objects.push_back(folder.path(name + ".o"));
    reached(p.name + " for " + m.name);
    try {
      const std::string base = dir + "/" + name;
      made_module module = module_for(planned, options, base, folder);
      for (const auto &k : module.printed) printed += line_about(*k, m);
      std::vector<std::string> loops;
      for (const stage_by_loops &one : module.loops) {
        if (!one.text.empty()) loops.push_back(one.text);
        printed += fmt::format("{}: {} by {}\n", m.name, label_of(p, one.root),
                               one.text.empty() ? "Halide: " + one.otherwise : "loops");
      }
      module.code.compile(outputs(m, objects.back(), base, options));
      if (!loops.empty())
        objects.push_back(compile_loops(
            loops,
            {options.compiler, halide_target(m), options.assembly ? base + ".loops.cpp" : ""}, name,
            folder));
    } catch (const Halide::Error &e) {  // not a std::exception
      throw std::runtime_error(refusal(p, -1, e));
    }
  }
  Halide::create_static_library(objects, halide_target(all[0].m), folder.path(stem + ".a"));
  folder.publish(stem + ".a", dir);
  return printed;
}

}  // namespace qkv::codegen
