#include "codegen/emit/archives.hpp"

#include <Halide.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace qkv::codegen {
namespace {

[[noreturn]] void not_an_archive(const std::string &path) {
  throw std::runtime_error(path + " is not an archive of objects");
}

std::string contents_of(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t number(const std::string &digits, const std::string &path) {
  std::size_t n = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), n).ec != std::errc())
    not_an_archive(path);
  return n;
}

// Writes the members of an archive beside it and appends their paths to `members`.
// The format that GNU ar and LLVM write: "!<arch>\n", then for each member a header of 60 bytes
// (the name in the first 16, the size in the 10 from the 49th on) and the contents, padded to an
// even length. "/" is the symbol table. "//" holds the names longer than 15 bytes, each terminated
// by "/\n"; members refer to them by "/offset".
void unpack(const std::string &path, std::vector<std::string> &members) {
  const std::string archive = contents_of(path);
  if (archive.rfind("!<arch>\n", 0) != 0) not_an_archive(path);
  std::string long_names;
  for (std::size_t at = 8; at + 60 <= archive.size();) {
    const std::string name = archive.substr(at, 16);
    const std::size_t size = number(archive.substr(at + 48, 10), path);
    at += 60;
    if (size > archive.size() - at) not_an_archive(path);
    const std::string content = archive.substr(at, size);
    at += size + size % 2;
    if (name.rfind("//", 0) == 0) {
      long_names = content;
    } else if (name.rfind("/ ", 0) != 0) {
      const std::size_t from = name[0] == '/' ? number(name.substr(1), path) : 0;
      const std::string &names = name[0] == '/' ? long_names : name;
      if (from > names.size()) not_an_archive(path);
      std::string member = names.substr(from, names.find('/', from) - from);
      members.push_back(std::filesystem::path(path).replace_filename(member).string());
      std::ofstream file(members.back(), std::ios::binary);
      file << content;
      if (!file.flush()) throw std::runtime_error("cannot write " + members.back());
    }
  }
}

}  // namespace

void merge_archives(const std::vector<std::string> &parts, const std::string &whole) {
  std::vector<std::string> members;
  for (const std::string &part : parts) unpack(part, members);
  Halide::create_static_library(members, Halide::get_host_target(), whole);
}

}  // namespace qkv::codegen
