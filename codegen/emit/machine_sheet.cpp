// SPDX-License-Identifier: BSL-1.0
#include "codegen/emit/machine_sheet.hpp"

#include <fmt/format.h>

#include "codegen/halide/lower/math.hpp"
#include "codegen/halide/schedules/register_tile.hpp"
#include "codegen/halide/schedules/tuning.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/text.hpp"

namespace qkv::codegen {
namespace {

class sheet {
 public:
  sheet(const machine &m, const plan &made) : m_(m), made_(made) {}

  std::string run() {
    line("on {}: tiles of rows x keys, registers of rows x columns", m_.name);
    for (const stage &s : made_.cut.list) {
      line("  {:<12} {}", name_of(s), label_of(made_.p, main_step_of(s)));
      if (const auto *a = std::get_if<attention_stage>(&s)) attention(*a);
      if (std::holds_alternative<contraction_stage>(s)) contraction();
    }
    return std::move(text_);
  }

 private:
  template <class... T>
  void line(fmt::format_string<T...> text, T &&...values) {
    text_ += fmt::format(text, std::forward<T>(values)...) + "\n";
  }

  void attention(const attention_stage &s) {
    // A GPU takes the walks of a gradient one after the other.
    if (!m_.is_host() && s.keeps_sums()) {
      for (const attention_stage &walk : walks_of(s)) attention(walk);
      return;
    }
    std::int64_t before = 0;
    for (const attention_tile &t : attention_tiles_for(m_, made_, s)) {
      line("    {:<18} {}", rows_of(t, before), tile_of(s, t));
      if (t.is_for_few_rows()) before = t.called.most;
    }
  }

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
    if (t.is_for_few_rows() && !t.folded.empty())
      text += fmt::format(", with the rows of all {}", names_of(made_.p, t.folded));
    if (!t.is_for_few_rows() && t.per_task > 1) text += fmt::format(", {} a task", t.per_task);
    if (t.least_tasks > 1) text += fmt::format(", {} tasks or more", t.least_tasks);
    return text + registers_of(s, t);
  }

  // Of the first sum that has columns.
  std::string registers_of(const attention_stage &s, const attention_tile &t) const {
    for (const weighted_sum &sum : s.sums) {
      if (sum.column == no_axis) continue;
      const std::int64_t columns = made_.p.axes[made_.p.axes[sum.column].root].size;
      const int lanes = m_.cpu.lanes(halide_type(made_.p[sum.core].type).bits());
      if (columns < 0) return "";
      const int n = static_cast<int>(columns);
      const register_tile r =
          register_tile_of(m_.cpu, t.padded(n), t.rows, lanes, value_reads_of(t));
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

  const machine &m_;
  const plan &made_;
  std::string text_;
};

}  // namespace

std::string sheet_on(const machine &m, const plan &made) { return sheet(m, made).run(); }

std::string machine_sheets(const std::string &library, const std::vector<plan> &plans,
                           const std::vector<machine> &machines) {
  std::string text = fmt::format(
      "// Written by the generator.\n#include <qkv/tool.hpp>\n\n"
      "std::vector<qkv::tool::machine_sheet> qkv_machines_{}() {{\n  return {{\n",
      library);
  for (const plan &made : plans)
    for (const machine &m : machines)
      text += fmt::format("      {{\"{}\", \"{}\", R\"sheet({})sheet\"}},\n", made.p.name, m.name,
                          sheet_on(m, made));
  return text + "  };\n}\n";
}

}  // namespace qkv::codegen
