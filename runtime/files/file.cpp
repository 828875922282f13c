// SPDX-License-Identifier: BSL-1.0
#include "files/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>

namespace qkv::detail {
namespace {

std::string folder_of(const std::string &path) { return path.substr(0, path.rfind('/') + 1); }

// The path of the file to which links lead; the file need not exist yet.
std::string behind_links(std::string path) {
  char target[PATH_MAX];
  for (int links = 0; links < 40; ++links) {  // as many as Linux follows
    const ssize_t n = readlink(path.c_str(), target, sizeof target);
    if (n <= 0 || n == sizeof target) break;
    const std::string next(target, static_cast<std::size_t>(n));
    path = next[0] == '/' ? next : folder_of(path) + next;
  }
  return path;
}

}  // namespace

new_file::new_file(const std::string &path) : path_(path) {
  struct stat there{};
  const bool exists = stat(path.c_str(), &there) == 0;
  if (exists && !S_ISREG(there.st_mode)) {
    number_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return;
  }
  path_ = behind_links(path);
  if (exists && access(path_.c_str(), W_OK) != 0) return;
  open_beside();
  if (!exists) return;
  if (number_ >= 0) {
    (void)fchmod(number_, there.st_mode & 07777);
  } else if (errno == EACCES || errno == EPERM) {
    temporary_.clear();
    number_ = open(path_.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  }
}

void new_file::open_beside() {
  static std::atomic<unsigned> count{0};
  do {
    temporary_ = fmt::format("{}.qkv-{}-{}", folder_of(path_), getpid(), ++count);
    number_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (number_ < 0 && errno == EEXIST);
}

new_file::~new_file() {
  if (number_ < 0) return;
  close(number_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

bool new_file::write(const void *from, std::size_t bytes) {
  if (number_ < 0) return false;
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = ::write(number_, static_cast<const char *>(from) + done, bytes - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

bool new_file::put_in_place() {
  if (number_ < 0) return false;
  const int number = number_;
  number_ = -1;
  // A full disk may be reported only here.
  bool done = close(number) == 0;
  if (temporary_.empty()) return done;
  if (done && std::rename(temporary_.c_str(), path_.c_str()) == 0) return true;
  done = done && overwrite();
  const int why = errno;
  unlink(temporary_.c_str());
  errno = why;
  return done;
}

// Files of others in folders like /tmp, and mounted files, may be written but not replaced. errno
// stays that of the failed replacement if the file cannot be opened.
bool new_file::overwrite() const {
  const int why = errno;
  const int from = open(temporary_.c_str(), O_RDONLY | O_CLOEXEC);
  const int to = open(path_.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  bool done = from >= 0 && to >= 0;
  if (!done) errno = why;
  for (ssize_t n = 1; done && n != 0;) {
    n = sendfile(to, from, nullptr, 1 << 30);
    done = n >= 0 || errno == EINTR;
  }
  const int why_not = errno;
  if (from >= 0) close(from);
  if (to >= 0 && close(to) != 0) return false;
  errno = why_not;
  return done;
}

}  // namespace qkv::detail
