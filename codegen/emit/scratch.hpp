#pragma once
// Where archives are written before they go to their place. LLVM fills in each % in the path of an archive with a random
// digit, so that one cannot be written where a folder is called "50%".
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace qkv::codegen {

// A folder of its own among the temporary ones, removed with all that it holds. Throws std::runtime_error.
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

  // Puts a file into another folder under the same name; the one there is replaced in one step.
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
