// SPDX-License-Identifier: BSL-1.0
#include "codegen/emit/machine_sheet.hpp"

#include <fmt/format.h>

#include "codegen/plan/on_machine/register_tile.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/text.hpp"

namespace qkv::codegen {
namespace {

class sheet {
 public:
  explicit sheet(const machine_plan &planned)
      : planned_(planned), p_(planned.made.p), m_(planned.m) {}

  std::string run() {
    line("on {}: tiles of rows x keys, registers of rows x columns", m_.name);
    if (!planned_.parts.empty()) by_chunks(*planned_.made.by_chunks);
    for (const machine_stage &s : planned_.list) {
      line("  {:<12} {}{}", name_of(s.what), label_of(p_, main_step_of(s.what)),
           s.with_next ? ", in the next launch" : "");
      if (s.by_loops != loops::none && is_for_loops(s.what)) by_loops(s.by_loops);
      if (s.by_loops == loops::required) continue;
      if (s.by_tensor_cores.index() > 0)
        std::visit([&](const auto &code) { tensor_cores(code); }, s.by_tensor_cores);
      else if (const auto *a = std::get_if<attention_stage>(&s.what))
        attention(*a, s.tiles);
      else if (std::holds_alternative<contraction_stage>(s.what))
        contraction();
    }
    return std::move(text_);
  }

 private:
  template <class... T>
  void line(fmt::format_string<T...> text, T &&...values) {
    text_ += fmt::format(text, std::forward<T>(values)...) + "\n";
  }

  void by_chunks(const chunks &c) {
    line("  by chunks of {} positions of {}{}", positions_of_chunk, p_.axes[c.along].name,
         c.outer.empty() ? "" : "; a task for each position of " + names_of(p_, c.outer));
  }

  void attention(const attention_stage &s, const std::vector<attention_tile> &tiles) {
    std::int64_t before = 0;
    for (const attention_tile &t : tiles) {
      line("    {:<18} {}", rows_of(t, before), tile_of(s, t));
      if (t.is_for_few_rows()) before = t.called.most;
    }
  }

  // ---- loops of C++ -----------------------------------------------------------------------------

  // Halide computes the other kinds, unless loops are required, which is an error then.
  static bool is_for_loops(const stage &s) {
    return std::holds_alternative<map_stage>(s) || std::holds_alternative<contraction_stage>(s);
  }

  void by_loops(loops chosen) {
    line("    by loops of C++{}", chosen == loops::preferred ? ", unless they have no text" : "");
  }

  // ---- tensor cores: the first tile that the GPU grants and that is for the call ----------------

  void tensor_cores(std::monostate) {}

  template <class Code>
  void tensor_cores(const Code &code) {
    for (const auto &t : code.tiles)
      line("    {:<18} {}, {} threads, {}", rows_of(t.most_rows), t.name(), t.threads(),
           t.target());
  }

  static std::string rows_of(int most) {
    return most == 0 ? "any rows" : fmt::format("up to {} rows", most);
  }

  // ---- Halide -----------------------------------------------------------------------------------

  // The calls that take a tile if none before it is for them.
  static std::string rows_of(const attention_tile &t, std::int64_t before) {
    if (!t.is_for_few_rows()) return before == 0 ? "any rows" : "more rows";
    const called_rows &rows = t.called;
    const std::int64_t least = std::max(rows.least, std::int64_t{1});
    if (rows.skips_some())
      return fmt::format("{}-{}, {}-{} rows", least, rows.skipped_least - 1, rows.skipped_most + 1,
                         rows.most);
    if (least == rows.most) return rows.most == 1 ? "1 row" : fmt::format("{} rows", least);
    return rows.least > 0 ? fmt::format("{} to {} rows", least, rows.most)
                          : fmt::format("up to {} rows", rows.most);
  }

  std::string tile_of(const attention_stage &s, const attention_tile &t) const {
    std::string text = fmt::format("tile {} x {}", t.rows, t.keys);
    if (!m_.is_host()) return text + fmt::format(", {} x {} threads", t.threads.x, t.threads.y);
    if (t.keys_in_lanes()) text += ", keys in lanes";
    if (t.feature_lanes > 1) text += fmt::format(", {} features", t.feature_lanes);
    if (t.bf16) text += t.in_matrix_tiles ? ", matrix tiles of bf16" : ", products of bf16";
    if (t.one_block) text += ", one block";
    if (t.is_for_few_rows() && !t.folded.empty())
      text += fmt::format(", with the rows of all {}", names_of(p_, t.folded));
    if (!t.is_for_few_rows() && t.per_task > 1) text += fmt::format(", {} a task", t.per_task);
    if (t.least_tasks > 1) text += fmt::format(", {} tasks or more", t.least_tasks);
    return t.in_matrix_tiles ? text : text + registers_of(s, t);
  }

  // Of the first sum that has columns.
  std::string registers_of(const attention_stage &s, const attention_tile &t) const {
    for (const weighted_sum &sum : s.sums) {
      if (sum.column == no_axis) continue;
      const std::int64_t columns = static_size(p_, sum.column);
      const int lanes = m_.cpu.lanes(8 * size_of(p_[sum.core].type));
      if (columns < 0) return "";
      const int n = static_cast<int>(columns);
      const register_tile r = register_tile_of(m_.cpu, t.padded(n), t.rows, lanes);
      return fmt::format(", registers {} x {}", r.rows, r.vectors * r.lanes);
    }
    return "";
  }

  void contraction() {
    if (m_.is_host())
      line("    {} rows share a sweep", m_.contraction_rows);
    else
      line("    {} x {} results a thread", m_.gpu.contraction_tile, m_.gpu.contraction_tile);
  }

  const machine_plan &planned_;
  const program &p_;
  const machine &m_;
  std::string text_;
};

}  // namespace

std::string sheet_of(const machine_plan &planned) { return sheet(planned).run(); }

std::string machine_sheets(const std::string &library,
                           const std::vector<std::vector<machine_plan>> &kernels) {
  std::string text = fmt::format(
      "// Written by the generator.\n#include <qkv/tool.hpp>\n\n"
      "std::vector<qkv::tool::machine_sheet> qkv_machines_{}() {{\n  return {{\n",
      library);
  for (const std::vector<machine_plan> &planned : kernels)
    for (const machine_plan &one : planned)
      text += fmt::format("      {{\"{}\", \"{}\", R\"sheet({})sheet\"}},\n", one.made.p.name,
                          one.m.name, sheet_of(one));
  return text + "  };\n}\n";
}

}  // namespace qkv::codegen
