// SPDX-License-Identifier: BSL-1.0
#include "devices/devices.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "compiled/user_context.hpp"
#include "process/fork.hpp"
#include "status/fail.hpp"

namespace qkv::detail {
namespace {

// Each at the place of its number.
constinit auto devices_known = []<std::size_t... N>(std::index_sequence<N...>) {
  using known = std::atomic<const device_kind *>;
  return std::array<known, most_devices>{built_in[N]...};
}(std::make_index_sequence<most_devices>());

// The first device for which `is_it` is true.
template <class Predicate>
const device_kind *first_where(Predicate is_it) {
  for (const auto &kind : devices_known)
    if (const device_kind *k = kind; k && is_it(*k)) return k;
  return nullptr;
}

// Compiled code requests the development name of the driver, which machines that only run programs
// lack.
void *on_load_library(const char *name) {
  const device_kind *k =
      first_where([&](const device_kind &d) { return d.library && std::strstr(name, d.library); });
  return k ? k->driver() : halide_default_load_library(name);
}

handler<halide_load_library_t> load_library;

}  // namespace

void *first_of(std::initializer_list<const char *> libraries) {
  for (const char *name : libraries) {
    if (void *handle = dlopen(name, RTLD_LAZY)) return handle;
  }
  return nullptr;
}

const device_kind *set_device(int number, const device_kind *kind) noexcept {
  return devices_known[static_cast<std::size_t>(number)].exchange(kind);
}

const device_kind *kind_of(int number) noexcept {
  return number < 0 || number >= most_devices
             ? nullptr
             : devices_known[static_cast<std::size_t>(number)].load();
}

const device_kind *kind_of(const halide_device_interface_t *code) noexcept {
  return first_where([&](const device_kind &d) { return d.code && d.code() == code; });
}

const device_kind *kind_named(std::string_view name) noexcept {
  return first_where([&](const device_kind &d) { return name == d.name; });
}

const char *device_name(int number) noexcept {
  const device_kind *k = kind_of(number);
  return k ? k->name : "a device that does not exist";
}

std::string device_names() {
  std::string text, last;
  for (const auto &kind : devices_known) {
    const device_kind *k = kind;
    if (!k) continue;
    if (!last.empty()) text += (text.empty() ? "" : ", ") + last;
    last = k->name;
  }
  return text + " or " + last;
}

void take_over_devices() {
  if (halide_default_load_library)
    load_library.install(halide_set_custom_load_library, on_load_library);
  for (const auto &kind : devices_known)
    if (const device_kind *k = kind; k && k->take_over) k->take_over();
}

void give_back_devices() {
  load_library.give_back();
  for (const auto &kind : devices_known)
    if (const device_kind *k = kind; k && k->give_back) k->give_back();
}

status use_device(const char *caller, options &how) {
  if (status s = present(caller, how.on); !s) return s;
  const device_kind &k = *kind_of(how.on);
  if (k.enter) {
    if (status s = k.enter(caller, how); !s) return s;
  }
  take_over_halide();
  note_device_use();
  return {};
}

bool is_device_error(int code) {
  switch (code) {
    case halide_error_code_copy_to_host_failed:
    case halide_error_code_copy_to_device_failed:
    case halide_error_code_device_malloc_failed:
    case halide_error_code_device_sync_failed:
    case halide_error_code_device_free_failed:
    case halide_error_code_no_device_interface:
    case halide_error_code_symbol_not_found:
    case halide_error_code_device_run_failed:
    case halide_error_code_gpu_device_error:
    case halide_error_code_device_wrap_native_failed:
    case halide_error_code_device_detach_native_failed:
    case halide_error_code_device_buffer_copy_failed:
      return true;
    default:
      return false;
  }
}

status present(const char *caller, device d) {
  const device_kind *k = kind_of(d);
  if (!k)
    return fail(status_code::wrong_device, "{}: there is no device {}", caller,
                static_cast<int>(d));
  if (d == device::host) return {};
  if (!k->code())
    return fail(status_code::unsupported, "{}: nothing in this program was built for {}", caller,
                k->name);
  if (!k->driver())
    return fail(status_code::no_device, "{}: no {} driver on this machine", caller, k->name);
  if (devices_lost())
    return fail(status_code::device_failed,
                "{}: a process forked from one that used a device cannot use any", caller);
  return {};
}

}  // namespace qkv::detail
