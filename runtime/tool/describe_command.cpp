// SPDX-License-Identifier: BSL-1.0
// list, and describe K.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <qkv/registry.hpp>

#include <cerrno>
#include <cstring>
#include <qkv/core/dtype.hpp>

#include "files/file.hpp"
#include "tool/command_line.hpp"
#include "tool/commands.hpp"
#include "tool/json.hpp"

namespace qkv::tool {
namespace {

std::vector<std::string_view> machines_of(const qkv_kernel &k) {
  std::vector<std::string_view> all;
  for (int i = 0; i < k.n_variants; ++i) all.push_back(k.variants[i].machine);
  return all;
}

// Name, signature, arguments with their axes, machines.
json::object facts(const qkv_kernel &k) {
  std::vector<std::string> arguments;
  for (int i = 0; i < k.n_arguments; ++i) {
    const qkv_argument &a = k.arguments[i];
    std::string axes;
    for (int d = 0; d < a.rank; ++d)
      axes += (axes.empty() ? "" : ", ") + json::text(k.axes[a.axes[d]].name);
    json::object o;
    o.add("name", json::text(a.name))
        .add("role", json::text(a.role == QKV_OUT     ? "out"
                                : a.role == QKV_PARAM ? "param"
                                                      : "in"))
        .add("dtype", json::text(name_of(static_cast<dtype>(a.dtype))))
        .add("axes", "[" + axes + "]");
    arguments.push_back(o.text());
  }
  json::object o;
  o.add("kernel", json::text(k.name))
      .add("signature", json::text(signature_text(k)))
      .add("arguments", json::list(arguments, [](const std::string &a) { return a; }))
      .add("machines", json::list(machines_of(k), json::text));
  return o;
}

}  // namespace

void write_text(const std::string &path, const std::string &text) {
  detail::new_file file(path);
  if (!file.write(text.data(), text.size()) || !file.put_in_place())
    throw refusal(fmt::format("{}: {}", path, std::strerror(errno)));
}

void list(const request &r) {
  for (const qkv_kernel *k : kernels())
    if (r.json)
      fmt::print("{}\n", facts(*k).text());
    else
      fmt::print("{}   [{}]\n", signature_text(*k), fmt::join(machines_of(*k), " "));
}

namespace {

// The plan on the machine that was asked for; empty: none was.
std::string_view plan_on_machine(const request &r) {
  if (r.machine.empty()) return {};
  std::vector<std::string_view> known;
  for (const machine_sheet &s : r.machines) {
    if (s.kernel != r.kernel->name) continue;
    if (s.machine == r.machine) return s.text;
    known.push_back(s.machine);
  }
  if (known.empty())
    throw refusal(fmt::format("{}: this tool was built without plans on machines", r.kernel->name));
  throw refusal(unknown("machine", r.machine, known));
}

}  // namespace

void describe(const request &r) {
  if (r.shared_by.ranks > 0) return describe_ranks(r);
  const std::string_view on_machine = plan_on_machine(r);
  const kernel_sizes asked = r.sizes_asked();
  const sizes given = asked.by_name();
  const std::string sheet =
      r.spec && r.spec->describe ? r.spec->describe(given) : signature_text(*r.kernel);
  if (r.json) {
    json::object o = facts(*r.kernel);
    o.add("sizes", json::sizes(given));
    if (r.spec && r.spec->cost && asked.unknown() < 0) {
      const cost c = r.spec->cost(given);
      const auto both = [](const amount &a) {
        json::object parts;
        return parts.add("formula", json::text(a.formula))
            .add("value", json::number(a.value))
            .text();
      };
      o.add("flops_left_by_masks", json::number(c.flops_left_by_masks))
          .add("bytes_moved", json::number(c.bytes_moved))
          .add("flops", both(c.flops))
          .add("argument_bytes", both(c.argument_bytes))
          .add("intermediate_bytes", both(c.intermediate_bytes))
          .add("stored_bytes", both(c.stored_bytes))
          .add("peak_bytes", both(c.peak_bytes));
    }
    o.add("sheet", json::text(sheet));
    if (!on_machine.empty()) o.add("plan", json::text(on_machine));
    fmt::print("{}\n", o.text());
  } else {
    fmt::print("{}\n{}", sheet, on_machine);
  }
  if (r.svg.empty()) return;
  if (!r.spec || !r.spec->picture) throw refusal("this tool has no pictures");
  write_text(r.svg, r.spec->picture(given));
}

}  // namespace qkv::tool
