#pragma once
// Files that appear whole or not at all; private to the runtime.
#include <cstddef>
#include <string>

namespace qkv::detail {

// Written beside the file of this path, in whose place it comes at the end; what is there stays as it was until then. A
// pipe or a device of this path is written to as it is.
class new_file {
 public:
  explicit new_file(const std::string &path);
  new_file(const new_file &) = delete;
  new_file &operator=(const new_file &) = delete;
  ~new_file();  // gives up, unless put_in_place() came before

  // Each is false when it fails, or something before it did; errno says why.
  bool write(const void *from, std::size_t bytes);
  bool put_in_place();

 private:
  void open_beside();

  std::string path_, temporary_;  // no temporary: written as it is
  int number_ = -1;
};

}  // namespace qkv::detail
