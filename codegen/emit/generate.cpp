// SPDX-License-Identifier: BSL-1.0
#include <qkv/generate.hpp>

#include <Halide.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "codegen/emit/apart.hpp"
#include "codegen/emit/machine_sheet.hpp"
#include "codegen/emit/objects.hpp"
#include "codegen/emit/source_line.hpp"
#include "codegen/emit/tables.hpp"
#include "codegen/machines/machine_text.hpp"
#include "codegen/machines/machines.hpp"
#include "codegen/program/slips.hpp"
#include "codegen/sheets/describe.hpp"

#ifndef QKV_CODEGEN_VERSION
#define QKV_CODEGEN_VERSION \
  "unversioned"  // the build passes a hash of the code generator's sources
#endif

namespace qkv::codegen {
namespace {

struct command_line {
  std::string command, kernel;
  std::map<std::string, std::string> options;
};

const std::set<std::string> &options_with_value() {
  static const std::set<std::string> all = {"--out",    "--targets", "--name",
                                            "--spec",   "--machine", "--cuda-compiler",
                                            "--writer", "--compiler"};
  return all;
}

command_line parse(int argc, char **argv) {
  command_line line;
  if (argc > 1) line.command = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const auto refuse = [&](const std::string &why) { throw std::runtime_error(word + why); };
    if (word == "--stmt" || word == "--assembly") {
      line.options[word] = "yes";
    } else if (options_with_value().count(word)) {
      if (i + 1 == argc) refuse(": a value is missing");
      if (!line.options.emplace(word, argv[++i]).second) refuse(" is given twice");
    } else if (word.starts_with("--")) {
      refuse(fmt::format(" is not an option; known: --stmt --assembly {}",
                         fmt::join(options_with_value(), " ")));
    } else {
      if (!line.kernel.empty()) refuse(": the kernel is already " + line.kernel);
      line.kernel = word;
    }
  }
  return line;
}

std::string option(const command_line &line, const std::string &name) {
  auto it = line.options.find(name);
  if (it == line.options.end()) throw std::runtime_error(line.command + " needs " + name);
  return it->second;
}
std::string option(const command_line &line, const std::string &name,
                   const std::string &otherwise) {
  const auto it = line.options.find(name);
  return it == line.options.end() ? otherwise : it->second;
}

std::string read(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The name becomes a part of names in C.
void check_name(const std::string &option, const std::string &name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; };
  if (name.empty() || !std::ranges::all_of(name, fits))
    throw std::runtime_error(option +
                             ": the name of the file must consist of letters, digits, - and _");
}

std::string text_of_file(const std::string &option, const std::string &path) {
  if (!std::filesystem::exists(path)) throw std::runtime_error(option + ": there is no such file");
  if (!std::filesystem::is_regular_file(path))
    throw std::runtime_error(option + ": that is not a file");
  if (!std::ifstream(path)) throw std::runtime_error(option + ": the file cannot be read");
  return read(path);
}

// The built-in machines, and the one that --machine FILE describes in place of one of its name.
std::vector<machine> machines_for(const command_line &line) {
  std::vector<machine> known = machines();
  const auto file = line.options.find("--machine");
  if (file == line.options.end()) return known;
  const std::string name = std::filesystem::path(file->second).stem().string(),
                    given_as = "--machine " + file->second;
  check_name(given_as, name);
  machine given = parse_machine(name, text_of_file(given_as, file->second), text_of_machine);
  std::erase_if(known, [&](const machine &m) { return m.name == given.name; });
  for (const machine &m : known)
    if (m.c_name() == given.c_name())
      throw std::runtime_error(
          fmt::format("{}: {} and {} have the same name in C", given_as, name, m.name));
  known.push_back(std::move(given));
  return known;
}

std::vector<machine> targets_for(const command_line &line) {
  const std::string targets = option(line, "--targets");
  const std::vector<machine> wanted = targets_of(targets, machines_for(line));
  const std::string file = option(line, "--machine", "");
  const std::string given = std::filesystem::path(file).stem().string();
  const auto is_given = [&](const machine &m) { return m.name == given; };
  if (!file.empty() && std::none_of(wanted.begin(), wanted.end(), is_given))
    throw std::runtime_error(
        fmt::format("--machine {}: {} is none of the targets {}", file, given, targets));
  return wanted;
}

// The options that the objects of a kernel depend on, with their values. The folder of the results
// is not one: it holds the stamp. Nor is the spec, of which only errors speak.
std::string options_of(const command_line &line) {
  std::string text;
  for (const auto &[name, value] : line.options)
    if (name == "--machine")
      text += fmt::format("{}={:x} ", name, std::hash<std::string>{}(read(value)));
    else if (name != "--out" && name != "--spec")
      text += fmt::format("{}={} ", name, value);
  return text;
}

// --writer plain: loops of C++ compute all stages that they can; plain:2,5: exactly these, counted
// from 1 as in the sheet. Halide computes the others.
plain_choice plain_stages(const command_line &line, std::size_t stages) {
  const auto given = line.options.find("--writer");
  if (given == line.options.end()) return {};
  const std::string &writer = given->second;
  if (writer == "plain") return {true, {}};
  const auto refuse = [&](const std::string &why) {
    throw std::runtime_error(fmt::format("--writer {}: {}", writer, why));
  };
  const std::string plain = "plain:";
  if (!writer.starts_with(plain)) refuse("expected plain, or plain:2,3 for these stages");
  plain_choice wanted;
  std::istringstream list(writer.substr(plain.size()));
  for (std::string word; std::getline(list, word, ',');) {
    std::size_t n = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc() || end != word.data() + word.size()) refuse(word + " is not a number");
    if (n == 0 || n > stages)
      refuse(fmt::format("there is no stage {}; the kernel has {}", n, stages));
    wanted.stages.insert(n - 1);
  }
  if (wanted.stages.empty()) refuse("expected plain, or plain:2,3 for these stages");
  return wanted;
}

other_writers writers_for(const command_line &line, const plan &made) {
  return {!option(line, "--cuda-compiler", "").empty(), plain_stages(line, made.cut.list.size())};
}

// Its lines are those of a compiler, with file and line first, as editors read them.
struct wrong_spec : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A file that already has this text keeps its date, so that nobody builds again for it.
void write(const std::string &path, const std::string &text) {
  if (std::filesystem::exists(path) && read(path) == text) return;
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

std::string folder_of(const command_line &line) {
  const std::string dir = option(line, "--out");
  if (!std::filesystem::is_directory(dir))
    throw std::runtime_error("--out " + dir + ": there is no such folder");
  return dir;
}

void kernel(const command_line &line, const std::vector<traceable> &kernels,
            const scratch &folder) {
  const std::string dir = folder_of(line);
  const std::vector<machine> wanted = targets_for(line);
  const auto named = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const traceable &t) { return t.identifier == line.kernel; });
  if (named == kernels.end()) throw std::runtime_error("there is no kernel " + line.kernel);
  const program p = named->trace();
  // In what people write: a derived kernel may add a term twice.
  const program written = named->source ? named->source() : p;
  if (const std::vector<slip> slips = slips_of(written); !slips.empty()) {
    std::vector<std::string> errors;
    for (const slip &s : slips) {
      const std::string place = place_of(written, s.at, option(line, "--spec", ""));
      errors.push_back((place.empty() ? "qkv: " : place) + s.text);
    }
    throw wrong_spec(fmt::format("{}", fmt::join(errors, "\n")));
  }
  const std::string base = dir + "/" + line.kernel, stamp = base + ".stamp";
  const std::string now =
      fmt::format("{:x} {} {}\n", fingerprint(p), QKV_CODEGEN_VERSION, options_of(line));
  if (std::filesystem::exists(base + ".a") && read(stamp) == now) return;
  if (p.outputs.empty()) {  // of a machine that computes nothing before keys come
    write(base + ".a", "!<arch>\n");
    write(base + ".sheet.txt", p.name + "\n  nothing to compute\n");
    write(stamp, now);
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  const plan made = plan_of(p);
  const std::vector<machine_plan> planned = plans_on(made, wanted, writers_for(line, made));
  const std::string printed =
      write_objects(planned, dir, line.kernel,
                    {line.options.count("--stmt") > 0, line.options.count("--assembly") > 0,
                     option(line, "--cuda-compiler", ""), option(line, "--compiler", "c++")},
                    folder);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fmt::print("qkv: {} for {}: {:.1f} s, {} KB\n", p.name, option(line, "--targets"), seconds,
             std::filesystem::file_size(base + ".a") / 1024);
  std::string sheet = describe(p, made) + "\nmachines\n";
  for (const machine_plan &one : planned) sheet += sheet_of(one);
  if (!printed.empty()) sheet += "\nprinted code\n" + printed;
  write(base + ".sheet.txt", sheet);
  write(stamp, now);
}

void library(const command_line &line, const std::vector<traceable> &kernels) {
  const std::string dir = folder_of(line), name = option(line, "--name");
  std::vector<program> programs;
  std::vector<plan> plans;
  std::map<std::string, std::string> identifiers;  // by the names of kernels
  for (const traceable &t : kernels) {
    program p = t.trace();
    if (p.outputs.empty()) continue;
    programs.push_back(std::move(p));
    const auto [other, is_new] = identifiers.emplace(programs.back().name, t.identifier);
    if (!is_new)
      throw std::runtime_error(fmt::format("{}: {} and {} are two kernels of one name, {}", name,
                                           other->second, t.identifier, other->first));
    plans.push_back(plan_of(programs.back()));
  }
  const std::vector<machine> wanted = targets_for(line);
  std::vector<std::vector<machine_plan>> planned;
  for (const plan &made : plans) planned.push_back(plans_on(made, wanted, writers_for(line, made)));
  write(dir + "/" + name + ".kernels.h", c_header(name, programs));
  write(dir + "/" + name + "_kernels.c", c_tables(name, planned));
  write(dir + "/" + name + "_machines.cpp", machine_sheets(name, planned));
}

int obey(int argc, char **argv, const std::vector<traceable> &kernels, const scratch &folder) {
  command_line line;
  try {
    line = parse(argc, argv);
    reached(line.kernel.empty() ? line.command : line.kernel);
    if (line.command == "list") {
      for (const traceable &t : kernels) fmt::print("{}\n", t.identifier);
    } else if (line.command == "kernel") {
      kernel(line, kernels, folder);
    } else if (line.command == "library") {
      library(line, kernels);
    } else {
      fmt::print(stderr,
                 "usage: {} list | kernel NAME --out DIR --targets LIST [--spec FILE] [--stmt] "
                 "[--assembly] [OPTIONS] | library --name LIB --out DIR --targets LIST [OPTIONS]\n"
                 "OPTIONS: [--machine FILE] [--cuda-compiler PATH] [--writer plain[:2,3] "
                 "[--compiler PATH]]\n",
                 argv[0]);
      return 2;
    }
    return 0;
  } catch (const Halide::Error &e) {  // not a std::exception
    fmt::print(stderr, "qkv: {}: {}\n", line.kernel, e.what());
  } catch (const wrong_spec &e) {
    fmt::print(stderr, "{}\n", e.what());
  } catch (const std::exception &e) {
    fmt::print(stderr, "qkv: {}\n", e.what());
  }
  return 1;
}

}  // namespace

int generate(int argc, char **argv, const std::vector<traceable> &kernels) {
  try {
    const scratch folder;  // of this process: a compiler that crashes leaves nothing behind
    return apart([&] { return obey(argc, argv, kernels, folder); });
  } catch (const std::exception &e) {
    fmt::print(stderr, "qkv: {}\n", e.what());
    return 1;
  }
}

}  // namespace qkv::codegen
