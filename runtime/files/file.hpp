// SPDX-License-Identifier: BSL-1.0
#pragma once
// Files that are written completely or not at all; private to the runtime.
#include <cstddef>
#include <string>

namespace qkv::detail {

// Writes beside the file of this path and replaces it at the end; until then the old file stays as
// it is. Follows links, also to files that do not exist yet. Pipes, devices and files whose folder
// permits no new one are written directly; files that cannot be replaced are overwritten at the
// end.
class new_file {
 public:
  explicit new_file(const std::string &path);
  new_file(const new_file &) = delete;
  new_file &operator=(const new_file &) = delete;
  ~new_file();  // discards the file unless put_in_place() was called

  // Each returns false if it fails or an earlier one did; errno holds the reason.
  bool write(const void *from, std::size_t bytes);
  bool put_in_place();

 private:
  void open_beside();
  bool overwrite() const;

  std::string path_, temporary_;  // temporary_ is empty for direct writing
  int number_ = -1;
};

}  // namespace qkv::detail
