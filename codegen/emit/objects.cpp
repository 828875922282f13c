#include "codegen/emit/objects.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "codegen/lower/pipeline.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace {

using Halide::OutputFileType;

// ar's script language merges archives without unpacking them.
void merge_archives(const std::vector<std::string> &parts, const std::string &whole) {
  const std::string script = whole + ".mri";
  std::ofstream file(script);
  file << "CREATE " << whole << ".new\n";
  for (const std::string &part : parts) file << "ADDLIB " << part << "\n";
  file << "SAVE\nEND\n";
  file.close();
  if (std::system(("ar -M < '" + script + "'").c_str()) != 0)
    throw std::runtime_error("ar could not merge the archives of " + whole);
  std::filesystem::remove(script);
  for (const std::string &part : parts) std::filesystem::remove(part);
  std::filesystem::rename(whole + ".new", whole);
}

}  // namespace

std::string symbol_of(const program &p, backend b) {
  return "qkv_code_" + p.name + "_" + name_of(b);
}

void write_objects(const program &original, const std::vector<target> &targets,
                   const std::string &dir, const object_options &options) {
  const program p = simplified(original);
  std::vector<std::string> parts;
  for (const target &t : targets) {
    const std::string base = dir + "/" + p.name + "." + name_of(t.where),
                      symbol = symbol_of(p, t.where);
    const auto lower = [&](const std::string &name, const Halide::Target &one) {
      compiled_form form = lower_pipeline(p, one);
      return form.pipeline.compile_to_module(form.arguments, name, one);
    };
    parts.push_back(base + ".a");
    Halide::compile_multitarget(
        symbol, {{OutputFileType::static_library, parts.back()}}, t.variants,
        t.variants.size() > 1 ? t.suffixes : std::vector<std::string>{}, lower);
    std::map<OutputFileType, std::string> extra;
    if (options.stmt) extra[OutputFileType::stmt] = base + ".stmt";
    if (options.assembly && t.where == backend::host) extra[OutputFileType::assembly] = base + ".s";
    if (options.assembly && t.where == backend::cuda)
      extra[OutputFileType::device_code] = base + ".ptx";
    if (!extra.empty()) lower(symbol, t.variants.front()).compile(extra);
  }
  merge_archives(parts, dir + "/" + p.name + ".a");
}

}  // namespace qkv::codegen
