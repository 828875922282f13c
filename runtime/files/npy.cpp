// SPDX-License-Identifier: BSL-1.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <qkv/npy.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>

#include "files/file.hpp"
#include "status/fail.hpp"

namespace qkv {
namespace {

using detail::fail;
using std::string_view;

constexpr string_view magic = "\x93NUMPY";
constexpr std::size_t longest_header =
    65536;  // NumPy itself refuses longer ones unless the caller trusts the file
constexpr std::size_t most_axes = 32;  // as in NumPy
constexpr struct {
  string_view text;
  npy_type type;
} known[] = {{"<f4", npy_type::f32}, {"<f8", npy_type::f64}, {"<i4", npy_type::i32},
             {"<i8", npy_type::i64}, {"|b1", npy_type::b8},  {"<u2", npy_type::u16},
             {"<f2", npy_type::f16}};

// Reads exactly the literals that NumPy writes:
// {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class header_reader {
 public:
  explicit header_reader(string_view text) : rest_(text) {}

  // Describes an error in the header; empty if there is none.
  std::string read(npy_array &a) {
    bool descr = false, order = false, shape = false, fortran = false;
    if (!take('{')) return "the header is not a dictionary";
    while (!take('}')) {
      string_view key;
      if (!quoted(key) || !take(':')) return "the header is not a dictionary of names";
      bool &seen = key == "descr" ? descr : key == "fortran_order" ? order : shape;
      if (key != "descr" && key != "fortran_order" && key != "shape")
        return fmt::format("unknown entry '{}'", clean(key));
      if (seen) return fmt::format("entry '{}' occurs twice", key);
      seen = true;
      if (key == "descr") {
        if (std::string wrong = type(a.type); !wrong.empty()) return wrong;
      } else if (key == "shape") {
        if (!tuple(a.shape)) return "its shape is not a tuple of sizes";
      } else if (!boolean(fortran)) {
        return "fortran_order is neither True nor False";
      }
      if (!take(',') && !peek('}')) return "the header is not a dictionary";
    }
    skip();
    if (!rest_.empty()) return "the header goes on after its end";
    if (!descr || !order || !shape) return "the header lacks descr, fortran_order or shape";
    if (fortran && a.shape.size() > 1)
      return "it is in Fortran order; save np.ascontiguousarray(x)";
    return {};
  }

 private:
  void skip() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }
  bool peek(char c) {
    skip();
    return !rest_.empty() && rest_[0] == c;
  }
  bool take(char c) {
    if (!peek(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool word(string_view w) {
    skip();
    if (rest_.substr(0, w.size()) != w) return false;
    rest_.remove_prefix(w.size());
    return true;
  }
  bool boolean(bool &b) {
    b = word("True");
    return b || word("False");
  }
  bool quoted(string_view &text) {
    if (!take('\'')) return false;
    const std::size_t end = rest_.find('\'');
    if (end == string_view::npos) return false;
    text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text.find('\\') == string_view::npos;
  }
  static std::string clean(string_view text) {  // for messages: short and printable
    std::string s(text.substr(0, 40));
    std::replace_if(s.begin(), s.end(), [](char c) { return c < 32 || c > 126; }, '?');
    return s;
  }
  std::string type(npy_type &t) {
    string_view text;
    if (!quoted(text)) return "its elements are structures";
    for (const auto &k : known) {
      if (k.text == text) {
        t = k.type;
        return {};
      }
    }
    if (!text.empty() && text[0] == '>')
      return fmt::format("its elements are big-endian ({})", clean(text));
    return fmt::format("its elements are '{}'; known are <f2 <f4 <f8 <i4 <i8 |b1 <u2", clean(text));
  }
  bool number(std::int64_t &n) {
    skip();
    n = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, rest_[digits] - '0', &n))
        return false;
    }
    rest_.remove_prefix(digits);
    return digits > 0;
  }
  bool tuple(std::vector<std::int64_t> &shape) {
    shape.clear();
    if (!take('(')) return false;
    while (!take(')')) {
      std::int64_t n = 0;
      if (!number(n) || shape.size() == most_axes) return false;
      shape.push_back(n);
      if (!take(',') && !(peek(')') && shape.size() > 1)) return false;
    }
    return true;
  }

  string_view rest_;
};

class file {
 public:
  // O_NONBLOCK: opening a pipe without a writer must not block.
  explicit file(const char *path) : number_(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}
  file(const file &) = delete;
  file &operator=(const file &) = delete;
  ~file() {
    if (number_ >= 0) close(number_);
  }
  explicit operator bool() const { return number_ >= 0; }
  // Its size, or -1 when it is a directory, a pipe or a device.
  std::int64_t size() const {
    struct stat s{};
    return fstat(number_, &s) == 0 && S_ISREG(s.st_mode) ? s.st_size : -1;
  }
  bool read(void *to, std::size_t n) {
    for (std::size_t done = 0; done < n;) {
      const ssize_t k = ::read(number_, static_cast<char *>(to) + done, n - done);
      if (k < 0 && errno == EINTR) continue;
      if (k <= 0) return false;
      done += static_cast<std::size_t>(k);
    }
    return true;
  }

 private:
  int number_;
};

// The number of bytes, or -1 when it does not fit.
std::int64_t bytes_of(npy_type t, std::span<const std::int64_t> shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t n = size_of(t);
  for (std::int64_t e : shape) {
    if (e < 0 || __builtin_mul_overflow(n, e, &n)) return -1;
  }
  return n;
}

}  // namespace

std::int64_t npy_array::elements() const {
  return static_cast<std::int64_t>(data.size()) / size_of(type);
}

int size_of(npy_type t) {
  constexpr int bytes[] = {4, 8, 4, 8, 1, 2, 2};
  return bytes[static_cast<int>(t)];
}

const char *name_of(npy_type t) {
  constexpr const char *names[] = {"f32", "f64", "i32", "i64", "bool", "u16", "f16"};
  return names[static_cast<int>(t)];
}

status read_npy(const std::string &path, npy_array &result) noexcept try {
  const auto bad = [&](string_view why) {
    return fail(status_code::bad_file, "{}: {}", path, why);
  };
  file f(path.c_str());
  if (!f) return bad(std::strerror(errno));
  const std::int64_t size = f.size();
  if (size < 0) return bad("not a file");
  unsigned char head[12];
  if (size < 12 || !f.read(head, 10) || std::memcmp(head, magic.data(), magic.size()) != 0)
    return bad("not a .npy file");
  if (head[6] < 1 || head[6] > 3)
    return bad(fmt::format("version {} of .npy is not known", head[6]));
  std::size_t length = head[8] | head[9] << 8;
  std::int64_t at = 10;
  if (head[6] > 1) {
    if (!f.read(head + 10, 2)) return bad("the header is cut off");
    length |= static_cast<std::size_t>(head[10]) << 16 | static_cast<std::size_t>(head[11]) << 24;
    at = 12;
  }
  if (length > longest_header)
    return bad(fmt::format("its header of {} bytes is too long", length));
  if (static_cast<std::int64_t>(length) > size - at) return bad("the header is cut off");
  std::string text(length, ' ');
  if (!f.read(text.data(), length)) return bad("the header cannot be read");
  at += static_cast<std::int64_t>(length);
  npy_array a;
  if (const std::string wrong = header_reader(text).read(a); !wrong.empty()) return bad(wrong);
  const std::int64_t bytes = bytes_of(a.type, a.shape);
  if (bytes < 0) return bad("its shape is too large");
  if (bytes != size - at)
    return bad(fmt::format("its shape needs {} bytes but {} follow the header", bytes, size - at));
  a.data.resize(static_cast<std::size_t>(bytes));
  if (!f.read(a.data.data(), a.data.size())) return bad("the data cannot be read");
  result = std::move(a);
  return {};
} catch (const std::bad_alloc &) {
  return fail(status_code::out_of_memory, "{}: no memory to read it", path);
} catch (...) {
  return fail(status_code::bad_file, "{}: cannot be read", path);
}

status write_npy(const std::string &path, npy_type type, std::span<const std::int64_t> shape,
                 const void *data) noexcept try {
  const auto bad = [&](string_view why) {
    return fail(status_code::bad_file, "{}: {}", path, why);
  };
  if (static_cast<std::size_t>(type) >= std::size(known)) return bad("no such type");
  const std::int64_t bytes = bytes_of(type, shape);
  if (bytes < 0 || shape.size() > most_axes) return bad("the shape is too large");
  string_view descr;
  for (const auto &k : known) {
    if (k.type == type) descr = k.text;
  }
  std::string head = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                 descr, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  head.resize((10 + head.size() + 1 + 63) / 64 * 64 - 11, ' ');  // data begin at a multiple of 64
  head += '\n';
  std::string start(magic);
  start += {'\1', '\0', static_cast<char>(head.size() & 255), static_cast<char>(head.size() >> 8)};
  start += head;
  if (bytes > 0 && !data) return fail(status_code::null_data, "{}: there are no data for it", path);
  detail::new_file f(path);
  if (!f.write(start.data(), start.size()) || !f.write(data, static_cast<std::size_t>(bytes)) ||
      !f.put_in_place())
    return bad(std::strerror(errno));
  return {};
} catch (const std::bad_alloc &) {
  return fail(status_code::out_of_memory, "{}: no memory to write it", path);
} catch (...) {
  return fail(status_code::bad_file, "{}: cannot be written", path);
}

}  // namespace qkv
