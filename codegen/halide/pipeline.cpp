#include "codegen/halide/pipeline.hpp"

#include <stdexcept>

#include "codegen/halide/lower/context.hpp"
#include "codegen/halide/lower/limits.hpp"
#include "codegen/halide/lower/refusal.hpp"
#include "codegen/halide/schedules/gpu.hpp"
#include "codegen/halide/schedules/reversed_loads.hpp"
#include "codegen/halide/schedules/schedules.hpp"
#include "codegen/halide/schedules/tuning.hpp"
#include "codegen/halide/schedules/tuning_gpu.hpp"
#include "codegen/program/sizes.hpp"
#include "codegen/stages/stages.hpp"

namespace qkv::codegen {
namespace {

void refuse_f64(const program &p, const Halide::Target &t) {
  for (const node &n : p.nodes)
    if (n.type == f64)
      throw std::runtime_error(p.name + ": " +
                               (n.name.empty() ? std::string(name_of(n.kind)) : n.name) +
                               " is f64, which no kernel takes on " +
                               (t.has_feature(Halide::Target::OpenCL) ? "opencl" : "cuda") +
                               "; the CPU's do: TARGETS host");
}

bool is_output(const program &p, node_id n) { return p[n].kind == op::output; }

}  // namespace

compiled_form lower_pipeline(const program &p, const Halide::Target &t) {
  require_sizes(p);
  const bool on_gpu = t.has_gpu_feature();
  if (on_gpu) refuse_f64(p, t);
  const stages cut = cut_into_stages(p);
  // On devices, params are read where they lie: device memory is never packed.
  context c(p, cut, on_gpu ? std::vector<pack>() : packs_of(p, cut));
  limits fits(c);
  fits.computed();
  std::map<node_id, Halide::Func> outputs;
  const auto keep = [&](node_id root, Halide::Func f) {
    if (is_output(p, root)) {
      outputs.emplace(root, f);
      return;
    }
    // A step is stored whole, whatever part of it a slice reads: tiles start at 0, as the panels of
    // packed params do. Like an argument, it has at least one element: drivers reject empty
    // allocations and launches.
    const std::vector<axis_id> order = storage_order(p, cut, root);
    fits.stored(root, order);
    for (std::size_t d = 0; d < order.size(); ++d)
      f.bound(f.args()[d], 0, c.extent(order[order.size() - 1 - d]));
  };
  const auto lower = [&](const stage &s) {
    std::vector<bool> is_result;
    for (node_id root : s.roots) is_result.push_back(is_output(p, root));
    switch (s.kind) {
      case stage_kind::attention: {
        const std::int64_t rows = s.row == no_axis ? 1 : p.axes[p.axes[s.row].root].size;
        const std::int64_t columns = s.column == no_axis ? 1 : p.axes[p.axes[s.column].root].size;
        attention_funcs f = lower_attention(
            c, s, on_gpu ? gpu_attention_tile(p, s) : attention_tile_for(t, rows, columns));
        if (on_gpu)
          schedule_attention_gpu(f);
        else
          schedule_attention_cpu(f, t, is_result);
        if (f.copies.empty()) keep(s.roots[0], f.out);
        for (std::size_t k = 0; k < f.copies.size(); ++k) keep(s.roots[k], f.copies[k]);
        break;
      }
      case stage_kind::contraction: {
        contraction_funcs f = lower_contraction(c, s);
        if (on_gpu)
          schedule_contraction_gpu(f);
        else
          schedule_contraction_cpu(f, t, is_result[0]);
        keep(s.roots[0], f.out);
        break;
      }
      case stage_kind::scan: {
        scan_funcs f = lower_scan(c, s);
        const std::string name = "scan<" + p.axes[p[s.carried].over[0]].name + ">";
        fits.stored(name + " with its states and results", p[s.carried].type, f.blocks, f.columns);
        for (const auto &axes : f.folds) fits.counted("a fold of " + name, axes);
        if (on_gpu)
          schedule_scan_gpu(f);
        else
          schedule_scan_cpu(f, t, is_result);
        for (std::size_t k = 0; k < s.roots.size(); ++k) keep(s.roots[k], f.outputs[k].out);
        break;
      }
      case stage_kind::map: {
        map_funcs f = lower_map(c, s);
        if (on_gpu)
          schedule_map_gpu(f);
        else
          schedule_map_cpu(f, t, is_result[0]);
        keep(s.roots[0], f.out);
        break;
      }
    }
  };
  for (const stage &s : cut.list) {
    try {
      lower(s);
    } catch (const Halide::Error &e) {
      throw std::runtime_error(refusal(p, s.core < 0 ? s.roots[0] : s.core, e));
    }
  }
  std::vector<Halide::Func> results;
  for (node_id n : p.outputs) {
    Halide::Func f = outputs.at(n);
    const auto &shape = p[n].shape;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      auto dim = f.output_buffer().dim(static_cast<int>(d));
      dim.set_bounds(0, c.extent(shape[shape.size() - 1 - d]));
      if (d == 0) dim.set_stride(1);
    }
    results.push_back(f);
  }
  compiled_form form{Halide::Pipeline(results), c.arguments()};
  fits.add_to(form.pipeline);
  form.pipeline.add_custom_lowering_pass(new reversed_loads);
  if (on_gpu) gpu::add_passes(form.pipeline, t);
  return form;
}

}  // namespace qkv::codegen
