#include "file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>

namespace qkv::detail {

new_file::new_file(const std::string &path) : path_(path) {
  struct stat there{};
  const bool exists = stat(path.c_str(), &there) == 0;
  if (exists && !S_ISREG(there.st_mode)) {
    number_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return;
  }
  if (!exists) {
    open_beside();
    return;
  }
  if (access(path.c_str(), W_OK) != 0) return;
  char real[PATH_MAX];  // replaces the target of a link, not the link
  if (realpath(path.c_str(), real)) path_ = real;
  open_beside();
  if (number_ >= 0) (void)fchmod(number_, there.st_mode & 07777);
}

void new_file::open_beside() {
  static std::atomic<unsigned> count{0};
  const std::size_t slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path_.substr(0, slash + 1);
  do {
    temporary_ = fmt::format("{}.qkv-{}-{}", folder, getpid(), ++count);
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
  done = done && std::rename(temporary_.c_str(), path_.c_str()) == 0;
  if (done) return true;
  const int why = errno;
  unlink(temporary_.c_str());
  errno = why;
  return false;
}

}  // namespace qkv::detail
