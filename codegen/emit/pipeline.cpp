// SPDX-License-Identifier: BSL-1.0
#include "codegen/emit/pipeline.hpp"

#include <fmt/format.h>

#include <set>
#include <stdexcept>
#include <utility>

#include "codegen/cuda/attention.hpp"
#include "codegen/cuda/contraction.hpp"
#include "codegen/cuda/pair_sums.hpp"
#include "codegen/cuda/placeholder.hpp"
#include "codegen/halide/lower/context.hpp"
#include "codegen/halide/lower/expression_text.hpp"
#include "codegen/halide/lower/limits.hpp"
#include "codegen/halide/lower/pair_stores.hpp"
#include "codegen/halide/lower/refusal.hpp"
#include "codegen/halide/lower/skip_bodies.hpp"
#include "codegen/halide/schedules/argument_checks.hpp"
#include "codegen/halide/schedules/fixed_loads.hpp"
#include "codegen/halide/schedules/gpu.hpp"
#include "codegen/halide/schedules/guarded_ends.hpp"
#include "codegen/halide/schedules/in_one_task.hpp"
#include "codegen/halide/schedules/interleaved_halves.hpp"
#include "codegen/halide/schedules/matrix_tiles.hpp"
#include "codegen/halide/schedules/one_by_one.hpp"
#include "codegen/halide/schedules/pairs_ahead.hpp"
#include "codegen/halide/schedules/prefetched_rows.hpp"
#include "codegen/halide/schedules/rows_ahead.hpp"
#include "codegen/halide/schedules/schedules.hpp"
#include "codegen/halide/schedules/sixteen_bits.hpp"
#include "codegen/halide/schedules/strict_reductions.hpp"
#include "codegen/halide/schedules/transposed_stores.hpp"
#include "codegen/machines/halide_target.hpp"
#include "codegen/plain/loops.hpp"
#include "codegen/program/text.hpp"

namespace qkv::codegen {
namespace {

void refuse_f64(const program &p, const std::string &device) {
  for (const node &n : p.nodes)
    if (n.type == f64)
      throw std::runtime_error(
          p.name + ": " + (n.name.empty() ? std::string(name_of(n.kind)) : n.name) +
          " is f64, which no kernel takes on " + device + "; the CPU's do: TARGETS host");
}

std::set<std::string> buffers_of(const compiled_form &form) {
  std::set<std::string> names;
  for (const Halide::Argument &a : form.arguments)
    if (a.is_buffer()) names.insert(a.name);
  for (const Halide::Func &f : form.pipeline.outputs()) names.insert(f.name());
  return names;
}

// The stages of a kernel, written one after the other.
class writer {
 public:
  writer(const machine_plan &planned, const std::string &loops_prefix)
      : planned_(planned),
        p_(planned.made.p),
        m_(planned.m),
        on_gpu_(!m_.is_host()),
        loops_prefix_(loops_prefix),
        c_(planned.made, planned.packs),
        limits_(c_) {
    limits_.computed();
  }

  compiled_form run() {
    for (std::size_t k = 0; k < planned_.list.size(); ++k) {
      const machine_stage &s = planned_.list[k];
      try {
        if (s.by_loops != loops::none && write_loops(s, k)) continue;
        if (std::visit([&](const auto &code) { return print(s.what, code); }, s.by_tensor_cores))
          continue;
        std::visit([&](const auto &one) { write(one, s); }, s.what);
      } catch (const Halide::Error &e) {
        throw std::runtime_error(refusal(p_, main_step_of(s.what), e));
      }
    }
    compiled_form form{Halide::Pipeline(results()), c_.arguments(), printed_, loops_};
    limits_.add_to(form.pipeline);
    form.pipeline.add_custom_lowering_pass(new without_argument_checks(buffers_of(form)));
    c_.late.add_to(form.pipeline);
    if (planned_.is_in_task) form.pipeline.add_custom_lowering_pass(new in_one_task);
    if (!on_gpu_) add_host_passes(form.pipeline);
    if (!printed_.empty()) form.pipeline.add_custom_lowering_pass(new launch_printed(printed_));
    form.pipeline.add_custom_lowering_pass(new skip_bodies);
    form.pipeline.add_custom_lowering_pass(new fixed_loads);
    form.pipeline.add_custom_lowering_pass(new strict_reductions(m_.of_bf16.products > 0));
    if (on_gpu_) gpu::add_passes(form.pipeline, m_);
    return form;
  }

 private:
  void add_host_passes(Halide::Pipeline &p) const {
    p.add_custom_lowering_pass(new stores_beside(p.outputs()));
    p.add_custom_lowering_pass(new statistics_one_by_one);
    p.add_custom_lowering_pass(new guarded_ends(m_));
    p.add_custom_lowering_pass(new matrix_tiles);
    p.add_custom_lowering_pass(new transposed_stores);
    p.add_custom_lowering_pass(new interleaved_halves);
    p.add_custom_lowering_pass(new prefetched_rows);
    if (m_.cpu.prefetched_bytes > 0) {
      p.add_custom_lowering_pass(new rows_ahead(m_.cpu.prefetched_bytes));
      p.add_custom_lowering_pass(new pairs_ahead(m_.cpu.prefetched_bytes));
    }
    if (lacks_f16(halide_target(m_))) p.add_custom_lowering_pass(new sixteen_bits(true));
  }

  bool is_output(node_id n) const { return p_[n].kind == op::output; }

  std::vector<bool> are_outputs(const std::vector<node_id> &roots) const {
    std::vector<bool> are;
    for (node_id root : roots) are.push_back(is_output(root));
    return are;
  }

  // True where loops compute the stage.
  bool write_loops(const machine_stage &s, std::size_t position) {
    const node_id root = roots_of(s.what)[0];
    try {
      const plain_loops made =
          print_loops(c_, s.what, fmt::format("{}_{}", loops_prefix_, position));
      loops_.push_back({root, made.text, ""});
      keep(root, made.out);
      return true;
    } catch (const no_text &e) {
      if (s.by_loops == loops::required)
        throw std::runtime_error(fmt::format("{}: stage {}, {}: {}", p_.name, position + 1,
                                             label_of(p_, main_step_of(s.what)), e.what()));
      loops_.push_back({root, "", e.what()});
      return false;
    }
  }

  // ---- tensor cores: true where the stage has a text in CUDA ------------------------------------

  bool print(const stage &, std::monostate) { return false; }

  template <class Code>
  bool print(const stage &s, const Code &code) {
    const auto made = print_stage(c_, s, code, static_cast<int>(printed_.size()));
    if (!made) return false;
    printed_.push_back(made->kernel);
    for (const auto &[root, f] : made->roots) keep(root, f);
    return true;
  }

  // ---- Halide -----------------------------------------------------------------------------------

  void write(const attention_stage &s, const machine_stage &on_machine) {
    const std::vector<node_id> roots = roots_of(s);
    std::vector<attention_funcs> forms = lower_attention(c_, s, on_machine.tiles);
    if (on_gpu_)
      schedule_attention_gpu(forms[0], m_);
    else
      schedule_attention_cpu(forms, m_, are_outputs(roots));
    attention_result &result = forms[0].result;
    if (result.copies.empty()) keep(roots[0], result.out);
    for (std::size_t k = 0; k < result.copies.size(); ++k) keep(roots[k], result.copies[k]);
    for (std::size_t k = 0; k < result.at_pairs.size(); ++k)
      keep(s.at_pairs[k].root, result.at_pairs[k]);
  }

  void write(const contraction_stage &s, const machine_stage &on_machine) {
    contraction_funcs f = lower_contraction(c_, s, on_machine.panel);
    if (on_gpu_)
      schedule_contraction_gpu(f, m_);
    else
      schedule_contraction_cpu(f, m_, is_output(s.root));
    if (!on_gpu_ && f.left.defined())
      limits_.stored("rows of " + label_of(p_, s.left), p_[s.core].type,
                     std::vector(rows_of_tile(f, m_), p_[s.core].over), {});
    keep(s.root, f.out);
  }

  void write(const scan_stage &s, const machine_stage &) {
    scan_funcs f = lower_scan(c_, s);
    const node &state = p_[s.carried];
    const std::string name = "scan<" + p_.axes[state.over[0]].name + ">";
    limits_.stored(name + " with its states and results", state.type, f.blocks, f.columns);
    for (const auto &axes : f.folds) limits_.counted("a fold of " + name, axes);
    if (on_gpu_)
      schedule_scan_gpu(f);
    else
      schedule_scan_cpu(f, m_, are_outputs(s.roots));
    for (std::size_t k = 0; k < s.roots.size(); ++k) keep(s.roots[k], f.outputs[k].out);
  }

  void write(const map_stage &s, const machine_stage &on_machine) {
    map_funcs f = lower_map(c_, s);
    if (!on_gpu_) {
      schedule_map_cpu(f, m_, is_output(s.root));
      return keep(s.root, f.out);
    }
    launch_.push_back(std::move(f));
    launch_roots_.push_back(s.root);
    if (!on_machine.with_next) write_launch();
  }

  // Of maps that share a launch, the last one alone is stored; others get a launch each.
  void write_launch() {
    const std::vector<map_funcs> all = std::exchange(launch_, {});
    const std::vector<node_id> roots = std::exchange(launch_roots_, {});
    if (std::vector<map_funcs> together = all; schedule_rows_gpu(together, m_))
      return keep(roots.back(), together.back().out);
    for (std::size_t k = 0; k < all.size(); ++k) {
      std::vector<map_funcs> one = {all[k]};
      if (!schedule_rows_gpu(one, m_)) schedule_map_gpu(one[0]);
      keep(roots[k], one[0].out);
    }
  }

  void keep(node_id root, Halide::Func f) {
    if (is_output(root)) {
      outputs_.emplace(root, f);
      return;
    }
    // A step is stored whole, whatever part of it a slice reads: tiles start at 0, as the panels of
    // packed params do. Drivers reject empty allocations and launches.
    const std::vector<axis_id> &order = c_.order(root);
    limits_.stored(root, order);
    c_.bound_whole(f, order);
  }

  // In the order of the signature, with the bounds of their buffers.
  std::vector<Halide::Func> results() const {
    std::vector<Halide::Func> all;
    for (node_id n : p_.outputs) {
      Halide::Func f = outputs_.at(n);
      const auto &shape = p_[n].shape;
      for (std::size_t d = 0; d < shape.size(); ++d) {
        auto dim = f.output_buffer().dim(static_cast<int>(d));
        dim.set_bounds(0, c_.extent(shape[shape.size() - 1 - d]));
        if (d == 0) dim.set_stride(1);
      }
      all.push_back(f);
    }
    return all;
  }

  const machine_plan &planned_;
  const program &p_;
  const machine &m_;
  const bool on_gpu_;
  const std::string &loops_prefix_;
  printed_kernels printed_;
  std::vector<stage_by_loops> loops_;
  context c_;
  limits limits_;
  std::map<node_id, Halide::Func> outputs_;
  std::vector<map_funcs> launch_;  // maps whose launch has not ended
  std::vector<node_id> launch_roots_;
};

}  // namespace

compiled_form lower_pipeline(const machine_plan &planned, const std::string &loops_prefix) {
  const program &p = planned.made.p;
  if (!planned.m.is_host()) refuse_f64(p, planned.m.device);
  return writer(planned, loops_prefix).run();
}

}  // namespace qkv::codegen
