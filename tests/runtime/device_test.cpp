// SPDX-License-Identifier: BSL-1.0
// A kind of device that only counts: one table of functions is all that the runtime needs.
#include <qkv/device.hpp>
#include <qkv/run.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "devices/devices.hpp"
#include "fake.hpp"
#include "memory/dense.hpp"
#include "tests/catch.hpp"

namespace {

using qkv::status_code;
using qkv::detail::device_kind;

struct counts {
  int allocated = 0, freed = 0, uploads = 0, downloads = 0, waits = 0, wrapped = 0, unwrapped = 0,
      trims = 0;
};
counts seen;
bool has_driver = true;

// Its memory is the host's, at other addresses.
char *memory_of(const halide_buffer_t &b) { return reinterpret_cast<char *>(b.device); }

int allocate(void *, halide_buffer_t *b, const halide_device_interface_t *code) {
  ++seen.allocated;
  b->device = reinterpret_cast<std::uint64_t>(std::malloc(b->size_in_bytes()));
  b->device_interface = code;
  return 0;
}
int release(void *, halide_buffer_t *b) {
  ++seen.freed;
  std::free(memory_of(*b));
  b->device = 0;
  b->device_interface = nullptr;
  return 0;
}
int wait(void *, halide_buffer_t *) {
  ++seen.waits;
  return 0;
}
int upload(void *, halide_buffer_t *b, const halide_device_interface_t *) {
  ++seen.uploads;
  std::memcpy(memory_of(*b), b->host, b->size_in_bytes());
  b->set_host_dirty(false);
  return 0;
}
int download(void *, halide_buffer_t *b) {
  ++seen.downloads;
  std::memcpy(b->host, memory_of(*b), b->size_in_bytes());
  b->set_device_dirty(false);
  return 0;
}
int wrap(void *, halide_buffer_t *b, std::uint64_t handle, const halide_device_interface_t *code) {
  ++seen.wrapped;
  b->device = handle;
  b->device_interface = code;
  return 0;
}
int unwrap(void *, halide_buffer_t *b) {
  ++seen.unwrapped;
  b->device = 0;
  b->device_interface = nullptr;
  return 0;
}

const halide_device_interface_t code_of_counter = [] {
  halide_device_interface_t code{};
  code.device_malloc = allocate;
  code.device_free = release;
  code.device_sync = wait;
  code.copy_to_device = upload;
  code.copy_to_host = download;
  code.wrap_native = wrap;
  code.detach_native = unwrap;
  return code;
}();

constexpr int number = 5;
constexpr auto counter = static_cast<qkv::device>(number);

const device_kind kind{
    .number = number,
    .name = "counter",
    .has_addresses = true,
    .library = "libcounter",
    .driver = [] { return has_driver ? static_cast<void *>(&seen) : nullptr; },
    .code = [] { return &code_of_counter; },
    .enter =
        [](const char *caller, qkv::options &how) {
          return how.device_stream ? qkv::status{status_code::unsupported,
                                                 std::string(caller) + ": a counter has no streams"}
                                   : qkv::status{};
        },
    .handle = [](void *, halide_buffer_t *b) { return static_cast<std::uintptr_t>(b->device); },
    .trim = [](const qkv::options &) { ++seen.trims; },
    .take_over = nullptr,
    .give_back = nullptr};

// Known while this object lives.
struct plugged_in {
  plugged_in() {
    qkv::detail::set_device(number, &kind);
    seen = {};
  }
  ~plugged_in() { qkv::detail::set_device(number, nullptr); }
};

int add_on_host(void **args) {
  const auto &x = fake::buffer(args, 0), &w = fake::buffer(args, 1), &y = fake::buffer(args, 2);
  for (int i = 0; i < y.dim[0].extent; ++i)
    fake::at<float>(y, {i}) = fake::at<float>(x, {i}) + fake::at<float>(w, {i});
  return 0;
}

int add_on_counter(void **args) {
  for (int i : {0, 1}) {
    halide_buffer_t &b = fake::buffer(args, i);
    if (b.host_dirty()) b.device_interface->copy_to_device(nullptr, &b, b.device_interface);
  }
  const auto elements = [&](int i) {
    return reinterpret_cast<float *>(memory_of(fake::buffer(args, i)));
  };
  halide_buffer_t &y = fake::buffer(args, 2);
  for (int i = 0; i < y.dim[0].extent; ++i) elements(2)[i] = elements(0)[i] + elements(1)[i];
  y.set_device_dirty();
  return 0;
}

// Y[n] = X[n] + W[n], where W is a param.
const qkv_kernel &add() {
  static fake::library l(
      "add", {{"n"}},
      {{"X", QKV_IN, QKV_F32, {0}}, {"W", QKV_PARAM, QKV_F32, {0}}, {"Y", QKV_OUT, QKV_F32, {0}}},
      add_on_host);
  static const bool once =
      (l.with(qkv_variant{"counter-1", "counter", nullptr, add_on_counter, 0, nullptr}), true);
  (void)once;
  return l.table;
}

// Y[m, n] = 2 X[m, n].
int twice_on_counter(void **args) {
  halide_buffer_t &x = fake::buffer(args, 0), &y = fake::buffer(args, 1);
  if (x.host_dirty()) x.device_interface->copy_to_device(nullptr, &x, x.device_interface);
  const auto element = [](const halide_buffer_t &b, int i, int j) -> float & {
    return reinterpret_cast<float *>(memory_of(b))[i * b.dim[1].stride + j];
  };
  for (int i = 0; i < y.dim[1].extent; ++i)
    for (int j = 0; j < y.dim[0].extent; ++j) element(y, i, j) = 2 * element(x, i, j);
  y.set_device_dirty();
  return 0;
}
const qkv_kernel &twice() {
  static fake::library l("twice", {{"m"}, {"n"}},
                         {{"X", QKV_IN, QKV_F32, {0, 1}}, {"Y", QKV_OUT, QKV_F32, {0, 1}}},
                         add_on_host);
  static const bool once =
      (l.with(qkv_variant{"counter-1", "counter", nullptr, twice_on_counter, 0, nullptr}), true);
  (void)once;
  return l.table;
}

struct arguments {
  std::vector<float> x{1, 2, 3}, w{10, 20, 30}, y{-7, -7, -7};
  std::vector<qkv_tensor> t{fake::tensor(x, {3}), fake::tensor(w, {3}), fake::tensor(y, {3})};
  bool right() const { return y == std::vector<float>{11, 22, 33}; }
  bool untouched() const { return y == std::vector<float>{-7, -7, -7}; }
};

qkv::device_memory on_counter(const std::vector<float> &x) {
  qkv::device_memory m;
  REQUIRE(qkv::device_memory::make({.on = counter}, 4, std::ssize(x), m).ok());
  REQUIRE(m.copy_from(x.data()).ok());
  return m;
}

qkv_tensor tensor_in(const qkv::device_memory &m) {
  qkv_tensor t = fake::tensor(m.handle(), {3});
  t.device = number;
  return t;
}

}  // namespace

TEST_CASE("a kind of device that is not there") {
  arguments a;
  qkv::status s = qkv::run(add(), a.t, {.on = counter});
  CHECK(s.code() == status_code::wrong_device);
  CHECK(s.text() == std::string("add: the call is to run on device 5, which does not exist"));
  a.t[0].device = number;
  CHECK(qkv::run(add(), a.t).text() == std::string("add: X is on device 5, which does not exist"));
  CHECK(qkv::available(counter).code() == status_code::wrong_device);
  CHECK(qkv::detail::device_names() == "host, cuda or opencl");
}

TEST_CASE("devices are listed by their numbers") {
  const std::vector<std::string> names = {"host", "cuda", "opencl"};
  for (int i = 0; i < 3; ++i) {
    const device_kind *kind = qkv::detail::kind_of(i);
    REQUIRE(kind);
    CHECK(kind->number == i);
    CHECK(kind->name == names[static_cast<std::size_t>(i)]);
    CHECK(qkv::detail::kind_named(kind->name) == kind);
  }
  CHECK(!qkv::detail::kind_of(3));
  CHECK(!qkv::detail::kind_of(-1));
  CHECK(!qkv::detail::kind_named("abacus"));
}

TEST_CASE("host tensors are copied to a device and back") {
  const plugged_in now;
  CHECK(qkv::detail::device_names() == "host, cuda, opencl or counter");
  REQUIRE(qkv::available(counter).ok());
  arguments a;
  qkv::device_pool &pool = qkv::pool_of(counter);
  pool.reset_peak();
  REQUIRE(qkv::run(add(), a.t, {.on = counter}).ok());
  CHECK(a.right());
  CHECK(seen.uploads == 2);
  CHECK(seen.downloads == 1);
  CHECK(seen.waits == 1);
  CHECK(seen.allocated == 3);
  CHECK(seen.freed == 3);
  CHECK(pool.peak() == 36);
  CHECK(pool.in_use() == 0);
  pool.trim();
  CHECK(seen.trims == 1);
  pool.limit(30);
  CHECK(qkv::run(add(), a.t, {.on = counter}).text() ==
        std::string("add: no memory on counter for Y (12 bytes)"));
  pool.limit(1000);
  CHECK(pool.in_use() == 0);
}

TEST_CASE("short rows with gaps are copied at once, and gaps stay as they are") {
  const plugged_in now;
  std::vector<float> x{1, 2, 100, 100, 3, 4}, y(8, -7);
  std::vector<qkv_tensor> t{fake::tensor(x, {2, 2}), fake::tensor(y, {2, 2})};
  t[0].stride[0] = 4;
  t[1].stride[0] = 5;
  qkv::device_pool &pool = qkv::pool_of(counter);
  pool.reset_peak();
  REQUIRE(qkv::run(twice(), t, {.on = counter}).ok());
  CHECK(y == std::vector<float>{2, 4, -7, -7, -7, 6, 8, -7});
  CHECK(seen.uploads == 1);
  CHECK(seen.downloads == 1);
  CHECK(pool.peak() == 2 * 4 * sizeof(float));  // without the gaps
}

TEST_CASE("which tensors are fragmented") {
  std::vector<float> x(24);
  const auto is_fragmented = [&x](std::initializer_list<std::int64_t> extents,
                                  std::initializer_list<std::int64_t> strides) {
    qkv_tensor t = fake::tensor(x, extents);
    std::copy(strides.begin(), strides.end(), t.stride);
    return qkv::detail::is_fragmented(t);
  };
  CHECK(!is_fragmented({2, 3, 4}, {12, 4, 1}));
  CHECK(!is_fragmented({2, 3, 4}, {4, 8, 1}));  // in another order
  CHECK(!is_fragmented({2, 1, 4}, {4, 99, 1}));
  CHECK(!is_fragmented({2, 0, 4}, {9, 5, 1}));
  CHECK(!is_fragmented({2, 3, 4}, {0, 5, 1}));
  CHECK(!is_fragmented({5, 3}, {1, 1}));  // windows
  CHECK(!is_fragmented({}, {}));
  CHECK(is_fragmented({2, 3, 4}, {15, 5, 1}));
  CHECK(is_fragmented({2, 3, 4}, {16, 4, 1}));
  CHECK(!is_fragmented({2, 1 << 15}, {1 << 16, 1}));  // the rows are long
}

TEST_CASE("tensors of a device are used where they are") {
  const plugged_in now;
  arguments a;
  const auto x = on_counter(a.x), w = on_counter(a.w), y = on_counter(a.y);
  const int uploads = seen.uploads;
  a.t = {tensor_in(x), tensor_in(w), tensor_in(y)};
  REQUIRE(qkv::run(add(), a.t).ok());
  CHECK(seen.uploads == uploads);
  CHECK(seen.downloads == 0);
  CHECK(seen.wrapped == 3);
  CHECK(seen.unwrapped == 3);
  REQUIRE(y.copy_to(a.y.data()).ok());
  CHECK(a.right());
  a.t[2] = a.t[0];
  CHECK(qkv::run(add(), a.t).text() == std::string("add: output Y overlaps input X"));
}

TEST_CASE("prepared params stay on their device") {
  const plugged_in now;
  arguments a;
  qkv::prepared there, here;
  REQUIRE(qkv::prepared::make(add(), {&a.t[1], 1}, there, {.on = counter}).ok());
  CHECK(seen.uploads == 1);
  const qkv_tensor rest[] = {a.t[0], a.t[2]};
  REQUIRE(there.run(rest).ok());  // the params decide where
  CHECK(a.right());
  CHECK(seen.uploads == 2);

  REQUIRE(qkv::prepared::make(add(), {&a.t[1], 1}, here).ok());
  std::fill(a.y.begin(), a.y.end(), -7.f);
  qkv::status s = here.run(rest, {.on = counter});
  CHECK(s.code() == status_code::wrong_device);
  CHECK(s.text() ==
        std::string("add: its params were prepared for host but the call runs on counter"));
  const auto x = on_counter(a.x);
  const qkv_tensor moved[] = {tensor_in(x), a.t[2]};
  CHECK(here.run(moved).text() == std::string(s.text()));
  CHECK(a.untouched());
  REQUIRE(here.run(rest).ok());
  CHECK(a.right());
}

TEST_CASE("requests that a device refuses") {
  const plugged_in now;
  arguments a;
  CHECK(qkv::run(add(), a.t, {.on = counter, .device_stream = &a}).text() ==
        std::string("add: a counter has no streams"));
  CHECK(qkv::run(fake::blend().table, {}, {.on = counter}).code() == status_code::wrong_count);
  has_driver = false;
  const qkv::status s = qkv::run(add(), a.t, {.on = counter});
  has_driver = true;
  CHECK(s.code() == status_code::no_device);
  CHECK(s.text() == std::string("add: no counter driver on this machine"));
  CHECK(a.untouched());
}

TEST_CASE("a param that a device's code reads packed is packed on the host") {
  const plugged_in now;
  static const std::int32_t columns[] = {0};
  static const qkv_pack packs[] = {{1, 4, 0, 0, 1, nullptr, nullptr, columns}};
  arguments a;
  qkv_variant variant = add().variants[1];
  variant.n_packs = 1;
  variant.packs = packs;
  variant.entry = [](void **args) {
    const halide_buffer_t &w = fake::buffer(args, 1);
    return w.dimensions == 3 && w.dim[0].extent == 4 && w.dim[1].extent == 1 ? add_on_counter(args)
                                                                             : -1;
  };
  qkv_kernel k = add();
  k.n_variants = 1;
  k.variants = &variant;
  REQUIRE(qkv::run(k, a.t, {.on = counter}).ok());
  CHECK(a.right());
  qkv::prepared p;
  REQUIRE(qkv::prepared::make(k, {&a.t[1], 1}, p, {.on = counter}).ok());
  std::fill(a.y.begin(), a.y.end(), -7.f);
  const qkv_tensor rest[] = {a.t[0], a.t[2]};
  REQUIRE(p.run(rest).ok());
  CHECK(a.right());
  const auto w = on_counter(a.w);
  a.t[1] = tensor_in(w);
  CHECK(qkv::run(k, a.t).text() ==
        std::string("add: W is on counter but must be packed on the host"));
}
