// SPDX-License-Identifier: BSL-1.0
// Files that NumPy wrote are read, files that nobody should trust are refused with a reason.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <qkv/npy.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "in_child.hpp"
#include "tests/catch.hpp"

namespace {

// A folder that goes away with the test.
struct folder {
  std::string path = "/tmp/qkv-npy-XXXXXX";
  folder() { REQUIRE(mkdtemp(path.data())); }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string file(const std::string &bytes) const {
    const std::string name = path + "/a.npy";
    FILE *f = std::fopen(name.c_str(), "wb");
    std::fwrite(bytes.data(), 1, bytes.size(), f);
    std::fclose(f);
    return name;
  }
};

std::string npy(const std::string &header, const std::string &data = "", char version = 1) {
  std::string s = std::string("\x93NUMPY") + version + '\0' +
                  static_cast<char>(header.size() & 255) + static_cast<char>(header.size() >> 8);
  if (version > 1) s += std::string(2, '\0');
  return s + header + data;
}

std::string header(const std::string &descr, const std::string &shape,
                   const char *fortran = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

// The reason without the path, or the shape of what was read.
std::string read(const std::string &bytes) {
  const folder f;
  const std::string name = f.file(bytes);
  qkv::npy_array a;
  const qkv::status s = qkv::read_npy(name, a);
  if (!s.ok()) {
    CHECK(s.code() == qkv::status_code::bad_file);
    REQUIRE(std::strncmp(s.text(), name.c_str(), name.size()) == 0);
    return s.text() + name.size() + 2;
  }
  std::string text = qkv::name_of(a.type);
  for (std::int64_t e : a.shape) (text += ' ') += std::to_string(e);
  return text;
}

const std::string four(4, 'x');

}  // namespace

TEST_CASE("what is written is read") {
  const folder f;
  const float data[] = {1, 2, 3, 4, 5, 6};
  for (const std::vector<std::int64_t> &shape : {std::vector<std::int64_t>{2, 3}, {6}, {1, 1, 6}}) {
    REQUIRE(qkv::write_npy(f.path + "/b.npy", qkv::npy_type::f32, shape, data).ok());
    qkv::npy_array a;
    REQUIRE(qkv::read_npy(f.path + "/b.npy", a).ok());
    CHECK(a.shape == shape);
    CHECK(a.elements() == 6);
    CHECK(std::memcmp(a.data.data(), data, sizeof data) == 0);
  }
}

TEST_CASE("kinds of .npy files") {
  CHECK(read(npy(header("'<f4'", "(1,)"), four)) == "f32 1");
  CHECK(read(npy(header("'<f4'", "()"), four)) == "f32");
  CHECK(read(npy(header("'<f8'", "(1, 1)"), four + four)) == "f64 1 1");
  CHECK(read(npy(header("'<i4'", "(1,)"), four, 2)) == "i32 1");
  CHECK(read(npy(header("'<i8'", "(1,)"), four + four, 3)) == "i64 1");
  CHECK(read(npy(header("'|b1'", "(2, 2)"), four)) == "bool 2 2");
  CHECK(read(npy(header("'<u2'", "(2,)"), four)) == "u16 2");
  CHECK(read(npy(header("'<f2'", "(2,)"), four)) == "f16 2");
  CHECK(read(npy(header("'<f4'", "(0,)"))) == "f32 0");
  CHECK(read(npy(header("'<f4'", "(0, 9223372036854775807, 9223372036854775807)"))) ==
        "f32 0 9223372036854775807 9223372036854775807");
  CHECK(read(npy(header("'<f4'", "(1,)", "True"), four)) == "f32 1");
}

TEST_CASE("files that are not .npy") {
  CHECK(read("") == "not a .npy file");
  CHECK(read("\x93NUMPX\1\0\0\0\0\0") == "not a .npy file");
  CHECK(read(std::string("\x93NUMPY\1\0\xff\xff{}", 12)) == "the header is cut off");
  CHECK(read(npy("", "xx", 4)) == "version 4 of .npy is not known");
  CHECK(read(npy("", "xx")) == "the header is not a dictionary");
  std::string huge = npy("", std::string(100000, ' '), 2);
  huge[9] = huge[10] = 1;
  CHECK(read(huge) == "its header of 65792 bytes is too long");
}

TEST_CASE("headers that lie or run code") {
  CHECK(read(npy("__import__('os').system('true')")) == "the header is not a dictionary");
  CHECK(read(npy("{'descr': open('/etc/passwd')}")) == "its elements are structures");
  CHECK(read(npy("{'descr': '<f4'")) == "the header is not a dictionary");
  CHECK(read(npy("{'descr': '<f4', }")) == "the header lacks descr, fortran_order or shape");
  CHECK(read(npy("{'descr': '<f4', 'descr': '<f4', }")) == "entry 'descr' occurs twice");
  CHECK(read(npy("{'a\tb': 1}")) == "unknown entry 'a?b'");
  CHECK(read(npy("{" + std::string(5000, '{') + "}")) == "the header is not a dictionary of names");
  CHECK(read(npy(header("'<f4'", "(1,)") + "; import os", four)) ==
        "the header goes on after its end");
  CHECK(read(npy(header("'>f4'", "(1,)"), four)) == "its elements are big-endian (>f4)");
  CHECK(read(npy(header("'|V2'", "(2,)"), four)) ==
        "its elements are '|V2'; known are <f2 <f4 <f8 <i4 <i8 |b1 <u2");
  CHECK(read(npy(header("'|O'", "(1,)"), four)) ==
        "its elements are '|O'; known are <f2 <f4 <f8 <i4 <i8 |b1 <u2");
  CHECK(read(npy(header("[('a', '<f4')]", "(1,)"), four)) == "its elements are structures");
  CHECK(read(npy(header("'<f4'", "(1,)", "None"), four)) ==
        "fortran_order is neither True nor False");
}

TEST_CASE("shapes that lie") {
  CHECK(read(npy(header("'<f4'", "(1, 1)", "True"), four)) ==
        "it is in Fortran order; save np.ascontiguousarray(x)");
  CHECK(read(npy(header("'<f4'", "(-1,)"), four)) == "its shape is not a tuple of sizes");
  CHECK(read(npy(header("'<f4'", "(1)"), four)) == "its shape is not a tuple of sizes");
  CHECK(read(npy(header("'<f4'", "(1.5,)"), four)) == "its shape is not a tuple of sizes");
  CHECK(read(npy(header("'<f4'", "(99999999999999999999,)"), four)) ==
        "its shape is not a tuple of sizes");
  CHECK(read(npy(header("'<f4'", "(4294967296, 4294967296)"), four)) == "its shape is too large");
  CHECK(read(npy(header("'<f4'", "(2305843009213693952,)"), four)) == "its shape is too large");
  CHECK(read(npy(header("'<f4'", "(1000000000000,)"), four)) ==
        "its shape needs 4000000000000 bytes but 4 follow the header");
  CHECK(read(npy(header("'<f4'", "(1,)"), four + "x")) ==
        "its shape needs 4 bytes but 5 follow the header");
}

TEST_CASE("things that are not files") {
  const folder f;
  qkv::npy_array a;
  CHECK(qkv::read_npy(f.path + "/none.npy", a).text() ==
        f.path + "/none.npy: No such file or directory");
  CHECK(qkv::read_npy(f.path, a).text() == f.path + ": not a file");
  const std::string pipe = f.path + "/pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(qkv::read_npy(pipe, a).text() == pipe + ": not a file");
  const std::int64_t shape[] = {1};
  CHECK(qkv::write_npy(f.path + "/no/such.npy", qkv::npy_type::f32, shape, &shape).text() ==
        f.path + "/no/such.npy: No such file or directory");
}

TEST_CASE("a file is replaced whole or not at all") {
  const folder f;
  const std::string path = f.path + "/a.npy", link = f.path + "/link.npy";
  const std::int64_t shape[] = {100};
  const std::vector<float> old(100, 1), young(100, 2);
  const auto write = [&](const std::string &to, const std::vector<float> &x) {
    return qkv::write_npy(to, qkv::npy_type::f32, shape, x.data());
  };
  const auto holds = [&](const std::vector<float> &x) {
    qkv::npy_array a;
    return qkv::read_npy(path, a).ok() && a.data.size() == 400 &&
           std::memcmp(a.data.data(), x.data(), 400) == 0;
  };
  const auto files = [&] { return std::distance(std::filesystem::directory_iterator(f.path), {}); };
  REQUIRE(write(path, old).ok());
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  // The disk is full after a few bytes.
  CHECK(in_child([&] {
          std::signal(SIGXFSZ, SIG_IGN);
          const rlimit little{100, 100};
          setrlimit(RLIMIT_FSIZE, &little);
          const qkv::status s = write(path, young);
          return s.code() == qkv::status_code::bad_file && s.text() == path + ": File too large";
        }) == "");
  CHECK(holds(old));
  CHECK(files() == 1);
  REQUIRE(symlink("a.npy", link.c_str()) == 0);
  REQUIRE(write(link, young).ok());
  CHECK(holds(young));
  CHECK(std::filesystem::is_symlink(link));
  CHECK(files() == 2);
  struct stat s{};
  REQUIRE(stat(path.c_str(), &s) == 0);
  CHECK((s.st_mode & 0777) == 0640);
  CHECK(write("/dev/full", old).text() == std::string("/dev/full: No space left on device"));
  CHECK(std::filesystem::is_character_file("/dev/full"));
  CHECK(write("/dev/null", old).ok());
  CHECK(write(f.path, old).code() == qkv::status_code::bad_file);
}

TEST_CASE("a link to a file that does not exist yet") {
  const folder f;
  const std::string first = f.path + "/first.npy", second = f.path + "/second.npy";
  REQUIRE(symlink("second.npy", first.c_str()) == 0);
  REQUIRE(symlink((f.path + "/file.npy").c_str(), second.c_str()) == 0);
  const std::int64_t shape[] = {1};
  const float x = 1;
  REQUIRE(qkv::write_npy(first, qkv::npy_type::f32, shape, &x).ok());
  CHECK(std::filesystem::is_symlink(first));
  CHECK(std::filesystem::is_symlink(second));
  CHECK(std::filesystem::file_size(f.path + "/file.npy") == 132);
}

TEST_CASE("a file that may be written but not replaced") {
  const folder f;
  const std::string path = f.path + "/a.npy";
  const std::int64_t shape[] = {100}, longer[] = {200};
  const std::vector<float> old(200, 1), young(100, 2);
  const auto files = [&] { return std::distance(std::filesystem::directory_iterator(f.path), {}); };
  // A folder that is read-only, and one in which only its owner may replace the files of others.
  for (const mode_t mode : {0555, 01777}) {
    if (mode == 01777 && geteuid() != 0) continue;  // needs a second user
    REQUIRE(qkv::write_npy(path, qkv::npy_type::f32, longer, old.data()).ok());
    REQUIRE(chmod(path.c_str(), 0666) == 0);
    REQUIRE(chmod(f.path.c_str(), mode) == 0);
    CHECK(in_child([&] {
            if (geteuid() == 0 && setuid(65534) != 0) return false;
            return qkv::write_npy(path, qkv::npy_type::f32, shape, young.data()).ok();
          }) == "");
    REQUIRE(chmod(f.path.c_str(), 0700) == 0);
    qkv::npy_array a;
    REQUIRE(qkv::read_npy(path, a).ok());
    CHECK(a.data.size() == 400);
    CHECK(std::memcmp(a.data.data(), young.data(), 400) == 0);
    CHECK(files() == 1);
  }
}

TEST_CASE("arrays that cannot be written") {
  const folder f;
  const std::string path = f.path + "/a.npy";
  const std::int64_t shape[] = {2}, negative[] = {-1}, huge[] = {1LL << 62, 1LL << 62};
  const std::vector<std::int64_t> many(20000, 1);
  float x[2] = {};
  const auto code = [&](qkv::npy_type t, std::span<const std::int64_t> s, const void *data) {
    return qkv::write_npy(path, t, s, data).code();
  };
  CHECK(code(qkv::npy_type::f32, shape, nullptr) == qkv::status_code::null_data);
  CHECK(code(qkv::npy_type::f32, negative, x) == qkv::status_code::bad_file);
  CHECK(code(qkv::npy_type::f32, huge, x) == qkv::status_code::bad_file);
  CHECK(code(qkv::npy_type::f32, many, x) == qkv::status_code::bad_file);
  CHECK(code(static_cast<qkv::npy_type>(99), shape, x) == qkv::status_code::bad_file);
  CHECK(qkv::write_npy("", qkv::npy_type::f32, shape, x).code() == qkv::status_code::bad_file);
  CHECK(!std::filesystem::exists(path));
}
