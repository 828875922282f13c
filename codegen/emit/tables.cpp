// SPDX-License-Identifier: BSL-1.0
#include "codegen/emit/tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "codegen/emit/c_words.hpp"
#include "codegen/emit/objects.hpp"
#include "codegen/emit/processor_checks.hpp"
#include "codegen/machines/halide_target.hpp"
#include "codegen/program/sizes.hpp"

namespace qkv::codegen {
namespace {

// As a caller in C sees it; the comment above it names every argument.
std::string declaration_of(const program &p) {
  std::vector<std::string> parameters;
  const auto add = [&](node_id n) {
    const std::string &name = p[n].name;
    parameters.push_back("const qkv_tensor *" +
                         (is_word_of_c(name) ? " /* " + name + " */" : name));
  };
  for (node_id n : p.arguments) add(n);
  for (node_id n : p.outputs) add(n);
  return fmt::format("int qkv_{}({})", p.name, fmt::join(parameters, ", "));
}

std::string comment_of(const program &p) {
  const auto one = [&](node_id n) {
    std::vector<std::string> axes;
    for (axis_id a : p[n].shape)
      axes.push_back(p.axes[a].size < 0 ? p.axes[a].name
                                        : fmt::format("{}={}", p.axes[a].name, p.axes[a].size));
    const char *role = p[n].kind == op::param ? "param" : p[n].kind == op::input ? "in" : "out";
    return fmt::format(" *   {:5} {}[{}] {}\n", role, p[n].name, fmt::join(axes, ", "),
                       name_of(p[n].type));
  };
  std::string text = fmt::format("/* {}\n", p.name);
  for (node_id n : p.arguments) text += one(n);
  for (node_id n : p.outputs) text += one(n);
  return text +
         " * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.\n"
         " * Outputs stay as they were if a check fails. */\n";
}

std::string list_of(const std::string &name, const std::vector<axis_id> &axes) {
  if (axes.empty()) return "";
  return fmt::format("static const int32_t {}[] = {{{}}};\n", name, fmt::join(axes, ", "));
}

std::string reference_to(const std::string &name, const std::vector<axis_id> &axes) {
  return axes.empty() ? "0" : name;
}

std::vector<std::int32_t> positions(const program &p, node_id n, const std::vector<axis_id> &axes) {
  std::vector<std::int32_t> at;
  const auto &shape = p[n].shape;
  for (axis_id a : axes)
    at.push_back(
        static_cast<std::int32_t>(std::find(shape.begin(), shape.end(), a) - shape.begin()));
  return at;
}

// Compiled code takes inputs, sizes, last positions, outputs; the runtime gives inputs, outputs,
// sizes.
std::string in_order(const program &p) {
  const std::size_t in = p.arguments.size(), out = p.outputs.size(),
                    sizes = run_time_axes(p).size();
  std::string order = "a[0]", last;
  for (std::size_t k = 0; k < in; ++k) order += fmt::format(", a[{}]", 1 + k);
  for (std::size_t k = 0; k < sizes; ++k) order += fmt::format(", a[{}]", 1 + in + out + k);
  for (std::size_t k = 0; k < sizes; ++k) {
    order += fmt::format(", &last[{}]", k);
    last += fmt::format("{}last_position(a[{}])", k ? ", " : "", 1 + in + out + k);
  }
  for (std::size_t k = 0; k < out; ++k) order += fmt::format(", a[{}]", 1 + in + k);
  std::string text =
      fmt::format("static int in_order_{}(int (*code)(void **), void **a) {{\n", p.name);
  if (sizes) text += fmt::format("  int32_t last[] = {{{}}};\n", last);
  return text + fmt::format("  void *b[] = {{{}}};\n  return code(b);\n}}\n", order);
}

const char *kind_of(const condition &c) {
  return c.what == condition::sum       ? "QKV_SUM"
         : c.what == condition::product ? "QKV_PRODUCT"
                                        : "QKV_SAME";
}

std::string axes_of(const program &p) {
  std::string text = fmt::format("static const qkv_axis axes_{}[] = {{\n", p.name);
  for (const axis &a : p.axes)
    text += fmt::format("    {{\"{}\", {}, {}}},\n", a.name, a.size, a.root);
  if (p.axes.empty()) text += "    {\"\", 1, 0},\n";
  return text + "};\n";
}

std::string arguments_of(const program &p) {
  std::string lists, arguments;
  const auto put = [&](node_id n, const char *role) {
    const std::string axes = fmt::format("axes_of_{}__{}", p.name, p[n].name);
    lists += list_of(axes, p[n].shape);
    arguments +=
        fmt::format("    {{\"{}\", {}, {}, {}, {}}},\n", p[n].name, role,
                    static_cast<int>(p[n].type), p[n].shape.size(), reference_to(axes, p[n].shape));
  };
  for (node_id n : p.arguments) put(n, p[n].kind == op::param ? "QKV_PARAM" : "QKV_IN");
  for (node_id n : p.outputs) put(n, "QKV_OUT");
  return lists +
         fmt::format("static const qkv_argument arguments_{}[] = {{\n{}}};\n", p.name, arguments);
}

std::string conditions_of(const program &p) {
  if (p.conditions.empty()) return "";
  std::string text = fmt::format("static const qkv_condition conditions_{}[] = {{\n", p.name);
  for (const condition &c : p.conditions)
    text += fmt::format("    {{{}, {}, {}, {}, \"{}\"}},\n", kind_of(c), c.a, c.b, c.c, c.text);
  return text + "};\n";
}

// The axes of each param that is packed, as lists of their positions in its shape.
std::string axes_of_packs(const machine_plan &planned) {
  const program &p = planned.made.p;
  std::string text;
  for (const pack &x : planned.packs) {
    const std::string base = fmt::format("pack_{}__{}", p.name, p[x.param].name);
    text += list_of(base + "_outer", positions(p, x.param, x.outer)) +
            list_of(base + "_rows", positions(p, x.param, x.rows)) +
            list_of(base + "_columns", positions(p, x.param, x.columns));
  }
  return text;
}

std::string packs_on(const machine_plan &planned, const std::string &name) {
  const program &p = planned.made.p;
  std::string rows;
  for (const pack &x : planned.packs) {
    const std::string base = fmt::format("pack_{}__{}", p.name, p[x.param].name);
    const auto outer = positions(p, x.param, x.outer), in = positions(p, x.param, x.rows),
               columns = positions(p, x.param, x.columns);
    const auto at = std::find(p.arguments.begin(), p.arguments.end(), x.param);
    rows +=
        fmt::format("    {{{}, {}, {}, {}, {}, {}, {}, {}}},\n", at - p.arguments.begin(), x.panel,
                    outer.size(), in.size(), columns.size(), reference_to(base + "_outer", outer),
                    reference_to(base + "_rows", in), reference_to(base + "_columns", columns));
  }
  return fmt::format("static const qkv_pack {}[] = {{\n{}}};\n", name, rows);
}

std::string entry(const program &p, const machine &m) {
  return fmt::format(
      "extern int {0}_argv(void **);\n"
      "static int enter_{0}(void **a) {{ return in_order_{1}({0}_argv, a); }}\n",
      symbol_of(p, m), p.name);
}

// ---- kernels that run by chunks -----------------------------------------------------------------

std::string lists_of_part(const kernel_part &part, const std::string &name) {
  std::string values;
  for (const part_argument &a : part.arguments)
    values += fmt::format("{{{}, {}}}, ", a.value, a.is_later ? 1 : 0);
  return fmt::format("static const qkv_chunk_value values_{}[] = {{{}}};\n", name, values) +
         list_of("sizes_" + name, run_time_axes(part.p));
}

std::string part_row(const kernel_part &part, const std::string &symbol) {
  if (part.p.outputs.empty()) return "    {0, 0, 0, 0, 0},\n";
  const std::vector<axis_id> sizes = run_time_axes(part.p);
  return fmt::format("    {{enter_{}, {}, values_{}, {}, {}}},\n", symbol, part.arguments.size(),
                     part.p.name, sizes.size(), reference_to("sizes_" + part.p.name, sizes));
}

// Wiring that variants share: what each part reads and writes, and the temporaries.
std::string wiring_of(const plan &made) {
  const program &p = made.p;
  const chunks &c = *made.by_chunks;
  std::string text, rows;
  for (std::size_t k = 0; k < c.parts.size(); ++k)
    if (!c.parts[k].p.outputs.empty())
      text += in_order(made.parts[k].p) + lists_of_part(c.parts[k], c.parts[k].p.name);
  for (std::size_t k = 0; k < c.temporaries.size(); ++k) {
    const temporary &t = c.temporaries[k];
    const std::string axes = fmt::format("temporary_axes_{}_{}", p.name, k);
    text += list_of(axes, t.shape);
    rows += fmt::format("    {{{}, {}, {}, {}}},\n", static_cast<int>(t.type), t.shape.size(),
                        t.is_at_bounds ? 1 : 0, reference_to(axes, t.shape));
  }
  return text + list_of("outer_" + p.name, c.outer) +
         fmt::format("static const qkv_chunk_temporary temporaries_{}[] = {{\n{}}};\n", p.name,
                     rows);
}

std::string entry_by_chunks(const machine_plan &planned) {
  const plan &made = planned.made;
  const program &p = made.p;
  const chunks &c = *made.by_chunks;
  std::string text, parts;
  for (const machine_plan *part : compiled_in(planned)) text += entry(part->made.p, planned.m);
  for (const kernel_part &part : c.parts) parts += part_row(part, symbol_of(part.p, planned.m));
  const std::string symbol = symbol_of(p, planned.m);
  return text + fmt::format("static const qkv_chunk_part parts_{}[] = {{\n{}}};\n", symbol, parts) +
         fmt::format(
             "static const qkv_chunks chunks_{0} = {{\n"
             "    axes_{1}, {2}, arguments_{1}, {3}, temporaries_{1}, {4}, {5}, {6}, {7}, {8}, "
             "{9}, parts_{0}}};\n"
             "static int enter_{0}(void **a) {{ return qkv_run_chunks(a, &chunks_{0}); }}\n",
             symbol, p.name, p.axes.size(), p.arguments.size() + p.outputs.size(),
             c.temporaries.size(), c.along, positions_of_chunk, c.outer.size(),
             reference_to("outer_" + p.name, c.outer), c.has_last_state ? 1 : 0);
}

bool pack_alike(const machine_plan &a, const machine_plan &b) {
  return std::equal(a.packs.begin(), a.packs.end(), b.packs.begin(), b.packs.end(),
                    [](const pack &x, const pack &y) { return x.panel == y.panel; });
}

// Variants whose params are packed alike share a list.
std::string variants_of(const program &p, const std::vector<machine_plan> &planned) {
  std::string packs, rows;
  std::vector<std::pair<const machine_plan *, std::string>> lists;
  for (const machine_plan &one : planned) {
    auto list = std::find_if(lists.begin(), lists.end(),
                             [&](const auto &other) { return pack_alike(*other.first, one); });
    if (list == lists.end()) {
      std::string name = one.packs.empty() ? "0"
                         : packs.empty()   ? "packs_" + p.name
                                           : fmt::format("packs_{}__{}", p.name, one.m.c_name());
      if (!one.packs.empty())
        packs += (packs.empty() ? axes_of_packs(one) : "") + packs_on(one, name);
      list = lists.insert(lists.end(), {&one, std::move(name)});
    }
    rows += fmt::format("    {{\"{}\", \"{}\", {}, enter_{}, {}, {}}},\n", one.m.name, one.m.device,
                        name_of_processor_check(one.m), symbol_of(p, one.m), one.packs.size(),
                        list->second);
  }
  return packs + fmt::format("static const qkv_variant variants_{}[] = {{\n{}}};\n", p.name, rows);
}

std::string kernel_of(const plan &made, std::size_t variants) {
  const program &p = made.p;
  return fmt::format(
             "static const qkv_kernel kernel_{0} = {{\n"
             "    QKV_ABI, \"{0}\", UINT64_C({1}), {2}, {3}, {4}, {5},\n",
             p.name, made.fingerprint, p.axes.size(), p.arguments.size() + p.outputs.size(),
             p.conditions.size(), variants) +
         fmt::format("    axes_{0}, arguments_{0}, {1}, variants_{0}}};\n\n", p.name,
                     p.conditions.empty() ? "0" : "conditions_" + p.name);
}

// The kernel as a plain function of C.
std::string function_of(const program &p) {
  const std::size_t n = p.arguments.size() + p.outputs.size();
  std::vector<std::string> parameters, missing, values;
  for (std::size_t i = 0; i < n; ++i) {
    parameters.push_back(fmt::format("const qkv_tensor *a{}", i));
    missing.push_back(fmt::format("!a{}", i));
    values.push_back(fmt::format("*a{}", i));
  }
  return fmt::format(
      "int qkv_{0}({1}) {{\n"
      "  if ({2}) return qkv_call(&kernel_{0}, 0, 0, 0, 0);\n"
      "  const qkv_tensor a[] = {{{3}}};\n"
      "  return qkv_call(&kernel_{0}, a, {4}, 0, 0);\n}}\n\n",
      p.name, fmt::join(parameters, ", "), fmt::join(missing, " || "), fmt::join(values, ", "), n);
}

std::string table(const plan &made, const std::vector<machine_plan> &planned) {
  const program &p = made.p;
  std::string text, by_chunks;
  for (const machine_plan &one : planned) {
    if (one.parts.empty())
      text += (text.empty() ? in_order(p) : "") + entry(p, one.m);
    else
      by_chunks += (by_chunks.empty() ? wiring_of(made) : "") + entry_by_chunks(one);
  }
  text += axes_of(p) + arguments_of(p) + by_chunks + conditions_of(p);
  return text + variants_of(p, planned) + kernel_of(made, planned.size()) + function_of(p);
}

}  // namespace

std::string c_header(const std::string &library, const std::vector<program> &kernels) {
  std::string text = fmt::format(
      "/* {}: written by the code generator. */\n#ifndef QKV_LIBRARY_{}\n"
      "#define QKV_LIBRARY_{}\n#include <qkv/kernel.h>\n\n"
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
      library, library, library);
  for (const program &p : kernels) text += comment_of(p) + declaration_of(p) + ";\n\n";
  text += fmt::format(
      "/* The tables of all kernels above, {} of them. */\n"
      "extern const qkv_kernel *const qkv_library_{}[];\n",
      kernels.size(), library);
  return text + "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

std::string c_tables(const std::string &library,
                     const std::vector<std::vector<machine_plan>> &kernels) {
  std::string text = fmt::format(
      "/* {}: written by the code generator. */\n#include \"{}.kernels.h\"\n\n", library, library);
  text +=
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
      "static inline int32_t last_position(const void *size) {\n"
      "  const int32_t n = *(const int32_t *)size;\n"
      "  return n > 1 ? n - 1 : 0;\n}\n\n";
  std::vector<machine> all;
  for (const std::vector<machine_plan> &planned : kernels)
    for (const machine_plan &one : planned) {
      const auto is_it = [&](const machine &m) { return m.name == one.m.name; };
      if (std::none_of(all.begin(), all.end(), is_it)) all.push_back(one.m);
    }
  text += processor_checks(all) + "\n";
  std::vector<std::string> names;
  for (const std::vector<machine_plan> &planned : kernels) {
    const plan &made = planned.at(0).made;
    text += table(made, planned);
    names.push_back("&kernel_" + made.p.name);
  }
  text += fmt::format("const qkv_kernel *const qkv_library_{}[] = {{{}}};\n\n", library,
                      fmt::join(names, ", "));
  text += fmt::format(
      "static qkv_library library = {{\"{}\", qkv_library_{}, {}, 0, 0}};\n"
      "__attribute__((constructor(101))) static void loaded(void) {{ "
      "qkv_register_library(&library); }}\n"
      "__attribute__((destructor(101))) static void unloaded(void) {{ "
      "qkv_unregister_library(&library); }}\n\n"
      "#ifdef __cplusplus\n}}\n#endif\n",
      library, library, names.size());
  return text;
}

}  // namespace qkv::codegen
