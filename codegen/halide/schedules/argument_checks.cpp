// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/argument_checks.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "codegen/halide/lower/error_of.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;

namespace {

constexpr std::array<std::string_view, 10> of_arguments = {
    "halide_error_buffer_argument_is_null",
    "halide_error_bad_type",
    "halide_error_bad_dimensions",
    "halide_error_access_out_of_bounds",
    "halide_error_buffer_extents_negative",
    "halide_error_constraints_make_required_region_smaller",
    "halide_error_constraint_violated",
    "halide_error_param_too_small_i64",
    "halide_error_host_is_null",
    "halide_error_device_dirty_with_no_device_support"};

// Also of what a kernel allocates.
constexpr std::array<std::string_view, 2> of_any_buffer = {
    "halide_error_buffer_allocation_too_large", "halide_error_buffer_extents_too_large"};

template <std::size_t n>
bool has(const std::array<std::string_view, n> &all, const std::string &name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

}  // namespace

without_argument_checks::without_argument_checks(std::set<std::string> arguments)
    : arguments_(std::move(arguments)) {}

hi::Stmt without_argument_checks::visit(const hi::AssertStmt *op) {
  const hi::Call *error = error_of(*op);
  return error && is_of_arguments(*error) ? hi::Evaluate::make(0) : hi::Stmt(op);
}

bool without_argument_checks::is_of_arguments(const hi::Call &error) const {
  if (has(of_arguments, error.name)) return true;
  if (!has(of_any_buffer, error.name) || error.args.empty()) return false;
  const auto *buffer = error.args[0].as<hi::StringImm>();
  return buffer && arguments_.contains(buffer->value);
}

}  // namespace qkv::codegen
