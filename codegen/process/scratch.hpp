// SPDX-License-Identifier: BSL-1.0
#pragma once
// A temporary folder: of archives before they move to their destination (LLVM replaces each % in
// the path of an archive by a random digit, so it cannot write one into a folder called "50%"), and
// of what other programs read and write.
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace qkv::codegen {

// A new temporary folder, removed with its contents. The constructor throws std::runtime_error.
class scratch {
 public:
  scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "qkv-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("cannot make a folder like " + name);
    folder = name;
  }
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  scratch(const scratch &) = delete;
  scratch &operator=(const scratch &) = delete;

  std::string path(const std::string &name) const { return (folder / name).string(); }

  // Copies a file into another folder under the same name; replaces the one there in one step.
  void publish(const std::string &name, const std::filesystem::path &to) const {
    const std::filesystem::path whole = to / name, part = to / (name + ".new");
    std::filesystem::copy_file(folder / name, part,
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::rename(part, whole);
  }

 private:
  std::filesystem::path folder;
};

}  // namespace qkv::codegen
