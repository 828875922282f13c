// SPDX-License-Identifier: BSL-1.0
#include "codegen/machines/machine_text.hpp"

#include <Halide.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "codegen/machines/attention_lines.hpp"
#include "codegen/machines/machine_line.hpp"
#include "codegen/machines/tensor_lines.hpp"

namespace qkv::codegen {
namespace {

constexpr std::string_view common = "-no_runtime-user_context-no_bounds_query";

class reader : public machine_line {
 public:
  reader(const std::string &name, const machine_texts &others)
      : machine_line(name), others_(others) {
    m_.name = name;
  }

  machine run(std::string_view text) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) read(line);
    no_line();
    for (const std::string_view key : required())
      if (!is_given(key)) fail("{} is missing", key);
    check(missing_tiles(m_));
    check(missing_matrix_unit(m_));
    if (m_.of_bf16.products > 0 &&
        !Halide::Target(m_.target).has_feature(Halide::Target::AVX512_Zen4))
      fail("bf16_products: halide does not name avx512_zen4, which multiplies bf16");
    for (const attention_shape &s : m_.attention)
      if (m_.of_bf16.products > 0 && s.keys % m_.of_bf16.products != 0)
        fail("bf16_products: {} keys of an attention are not a multiple of {}", s.keys,
             m_.of_bf16.products);
    return std::move(m_);
  }

 private:
  void check(const std::string &wrong) const {
    if (!wrong.empty()) fail("{}", wrong);
  }

  void read(const std::string &line) {
    const std::string key = begin(line);
    if (key.empty()) return;
    const auto known = keys().find(key);
    if (known == keys().end()) fail("{} is not a key; known: {}", key, names());
    if (!has_more()) fail("{} has no value", key);
    const auto list = lists().find(key);
    if (!seen_.insert(known->first).second && list == lists().end()) fail("{} is given twice", key);
    if (inherited_.erase(known->first) && list != lists().end()) list->second(m_);
    const key_kind kind = known->second.kind;
    if (kind != of_all && !is_given("device")) fail("device must come before {}", key);
    const bool fits = kind == of_all || (kind == of_cpus) == m_.is_host();
    if (!fits || (kind == of_cuda && m_.device != "cuda"))
      fail("{} is a key of {} alone: device is {}", key,
           kind == of_cpus   ? "CPUs"
           : kind == of_cuda ? "cuda"
                             : "GPUs",
           m_.device);
    known->second.read(*this);
    if (has_more()) fail("after the value of {}, {} is not expected", key, next());
  }

  // A key of this file, or of the one that it is like.
  bool is_given(std::string_view key) const { return seen_.count(key) || inherited_.count(key); }

  static bool is_like_another(std::string_view text) {
    machine_line first("");
    std::istringstream lines{std::string(text)};
    std::string key;
    for (std::string line; key.empty() && std::getline(lines, line);) key = first.begin(line);
    return key == "like";
  }

  // like x86-64-v4: lines of this file replace those of that one. What tells the two apart (halide,
  // part_of, preference) is not taken over, nor are tiles where the registers are others.
  void like() {
    const std::string other = next();
    if (seen_.size() > 1) fail("like must be the first line");
    const std::string_view text = others_ ? others_(other) : std::string_view();
    if (text.empty()) fail("{} is not a machine that another can be like", other);
    const machine_texts none;
    if (is_like_another(text))
      fail("{} is like another machine itself: name one that is not", other);
    reader base(other, none);
    machine m = base.run(text);
    m.name = std::move(m_.name);
    m.like = other;
    m.part_of.clear();
    m.preference = machine().preference;
    m_ = std::move(m);
    inherited_ = std::move(base.seen_);
    for (const char *own : {"halide", "part_of", "preference"}) inherited_.erase(own);
  }

  // Lines of this file that were checked with the value that a key had before.
  void comes_before(std::initializer_list<std::string_view> keys) const {
    for (const std::string_view key : keys)
      if (seen_.count(key)) fail("{} must come after this line", key);
  }

  void register_bits() {
    comes_before({"attention", "matrix_attention", "both_ways", "both_ways_in_window", "panels"});
    const int bits = m_.cpu.register_bits = number();
    if (bits != 128 && bits != 256 && bits != 512)
      fail("{} bits: registers of 128, 256 or 512 are expected", bits);
    if (inherited_.erase("attention")) m_.attention.clear();
    if (inherited_.erase("both_ways")) m_.cpu.both_ways.usual = {};
    if (inherited_.erase("both_ways_in_window")) m_.cpu.both_ways.in_window = {};
  }

  void sum_registers() {
    comes_before({"score_registers", "contraction_vectors"});
    m_.cpu.sum_registers = number();
    if (!is_given("registers")) fail("registers must come first");
    if (m_.cpu.registers - 2 < m_.cpu.sum_registers)
      fail("{} registers do not fit beside two operands: registers is {}", m_.cpu.sum_registers,
           m_.cpu.registers);
    inherited_.erase("score_registers");
    inherited_.erase("contraction_vectors");
  }

  void registers() {
    comes_before({"sum_registers", "weight_keys"});
    m_.cpu.registers = number();
    inherited_.erase("sum_registers");
  }

  void device() {
    if (seen_.count("like")) fail("device is that of the machine that this one is like");
    m_.device = next();
    const std::string with_it = "x86-64-linux-" + m_.device;
    if (m_.is_host()) return;
    if (!Halide::Target::validate_target_string(with_it) ||
        !Halide::Target(with_it).has_gpu_feature())
      fail("{} is neither host nor a device that Halide knows, as cuda and opencl are", m_.device);
  }

  void halide() {
    const std::string text = next();
    if (!Halide::Target::validate_target_string(text)) fail("Halide does not know {}", text);
    const Halide::Target target(text + std::string(common));
    const bool is_known =
        (target.arch == Halide::Target::X86 || target.arch == Halide::Target::ARM) &&
        target.bits == 64 &&
        (target.os == Halide::Target::Linux || target.os == Halide::Target::OSX);
    if (!is_known) fail("{}: kernels are for 64-bit x86 and ARM, under Linux and macOS", text);
    m_.target = target.to_string();
    if (!is_given("device")) fail("device must come before halide");
    const bool fits =
        m_.is_host() ? !target.has_gpu_feature() : m_.target.find("-" + m_.device) != text.npos;
    if (!fits) fail("{} is not a target with device = {}", text, m_.device);
  }

  // rows 2 to 16 tile 16 x 256 per_task 1
  void matrix_attention() {
    attention_shape s = shape_for_rows();
    per_task(s);
    check(misfit_in_matrix(s));
    check(misplaced(m_.of_bf16.matrix_attention, s));
    m_.of_bf16.matrix_attention.push_back(s);
  }

  // rows any tile 32 x 128
  attention_shape shape_for_rows() {
    attention_shape s;
    word("rows");
    if (takes("none")) {
      s.rows_of_query = attention_shape::none;
    } else if (!takes("any")) {
      s.rows_of_query = number();
      if (takes("to")) {
        s.least_rows = s.rows_of_query;
        s.rows_of_query = number();
        if (s.rows_of_query < s.least_rows)
          fail("there are no rows from {} to {}", s.least_rows, s.rows_of_query);
      }
    }
    tile(s.rows, s.keys);
    return s;
  }

  void tile(int &rows, int &keys) {
    two_numbers("tile", rows, keys);
    if (std::int64_t{rows} * keys > largest)
      fail("a tile of {} x {} has more than {} pairs", rows, keys, largest);
  }

  void per_task(attention_shape &s) {
    word("per_task");
    s.per_task = number();
    if (std::int64_t{s.rows} * s.per_task > largest)
      fail("{} tiles of {} rows have more than {} rows", s.per_task, s.rows, largest);
  }

  // rows any tile 32 x 128 per_task 16
  void attention() {
    attention_shape s = shape_for_rows();
    if (m_.is_host()) {
      per_task(s);
      if (!is_given("register_bits")) fail("register_bits must come before attention");
      if (takes("score_keys")) s.score_keys = number();
      if (takes("one_block"))
        s.one_block = true;
      else if (has_more())
        word("keys_in_lanes"), s.keys_in_lanes = true;
      s.keys_in_lanes ? fills(s.keys, "keys") : fills(s.rows, "rows");
      check(misplaced(m_.attention, s));
      check(oversized(s));
    } else {
      two_numbers("threads", s.threads_x, s.threads_y);
      if (s.rows % s.threads_y != 0 || s.keys % s.threads_x != 0)
        fail("a tile of {} x {} cannot be divided among {} x {} threads", s.rows, s.keys,
             s.threads_x, s.threads_y);
      fit_into_block(std::int64_t{s.threads_x} * s.threads_y);
    }
    m_.attention.push_back(s);
  }

  void fit_into_block(std::int64_t threads) const { check(excess_threads(threads)); }

  // tile 64 x 64 tasks 8
  void both_ways(both_ways_shape &s) {
    if (!is_given("register_bits")) fail("register_bits must come before both_ways");
    tile(s.rows, s.keys);
    word("tasks");
    s.tasks = number();
    if (s.rows % rows_of_partials != 0)
      fail("{} rows are not a multiple of {}", s.rows, rows_of_partials);
  }

  void contraction_rows() {
    m_.contraction_rows = number();
    inherited_.erase("contraction_tile");
  }

  // Threads divide the rows and a panel of columns.
  void contraction_tile_of_thread() {
    const int n = m_.gpu.contraction_tile = number();
    for (const char *before : {"contraction_rows", "panels"})
      if (!is_given(before)) fail("{} must come first", before);
    for (const int columns : widths_of_panels()) {
      if (m_.contraction_rows % n != 0 || columns % n != 0)
        fail("{} x {} results of a thread do not divide {} rows and {} columns", n, n,
             m_.contraction_rows, columns);
      fit_into_block(std::int64_t{m_.contraction_rows / n} * (columns / n));
    }
  }

  // 64 48 32 up_to 16 32 else 48
  void panels() {
    panel_widths &w = m_.panels = {};
    inherited_.erase("contraction_tile");
    if (m_.is_host() && !is_given("register_bits")) fail("register_bits must come before panels");
    std::vector<int> *list = &w.dividing;
    while (!takes("else"))
      if (takes("up_to"))
        list = &w.holding;
      else
        list->push_back(number());
    w.otherwise = number();
    for (const int columns : widths_of_panels())
      if (m_.is_host()) fills(columns, "columns");
  }

  std::vector<int> widths_of_panels() const {
    std::vector<int> all = m_.panels.dividing;
    all.insert(all.end(), m_.panels.holding.begin(), m_.panels.holding.end());
    all.push_back(m_.panels.otherwise);
    return all;
  }

  // 4 3 2 1
  void contraction_vectors() {
    m_.cpu.contraction_vectors.clear();
    while (has_more()) {
      m_.cpu.contraction_vectors.push_back(number());
      fit(m_.cpu.contraction_vectors.back(), "vectors", "sum_registers", m_.cpu.sum_registers);
    }
  }

  void fills(int n, const char *what) const {
    if (const int lanes = m_.cpu.lanes(32); n % lanes != 0)
      fail("{} {} do not fill registers of {} numbers", n, what, lanes);
  }

  // mma sm_80 features 128 tile 64 x 64 warps 4
  void tensor_pair_sums() {
    const tensor_tile t = read_tensor_tile(*this, {64, 128});
    if (t.most_rows > 0) fail("sums over pairs have no tiles for few rows");
    m_.tensor_pair_sums.push_back(t);
  }

  // mma sm_80 features 64 tile 128 x 64 warps 4, or, for few rows, tile 16 x 64 warps 1 rows 16
  // blocks 396
  void tensor() { m_.tensor.push_back(read_tensor_tile(*this, {128})); }

  void weight_keys() { fit(m_.cpu.weight_keys = number(), "keys", "registers", m_.cpu.registers); }

  void score_registers() {
    fit(m_.cpu.score_registers = number(), "registers", "sum_registers", m_.cpu.sum_registers);
  }

  // So many of something into the value of another key.
  void fit(int n, const char *what, const char *key, int most) const {
    if (!is_given(key)) fail("{} must come first", key);
    if (n > most) fail("{} {} do not fit: {} is {}", n, what, key, most);
  }

  // Lanes are folded by halves.
  void features() {
    const int n = m_.cpu.features.vectors = number();
    if ((n & (n - 1)) != 0) fail("{} vectors cannot be halved down to one", n);
  }

  // A block has so many rows on a GPU, each of them as many threads as a row has partial sums.
  void map_rows() {
    if (!is_given("device")) fail("device must come before map_rows");
    const int n = number();
    if (!m_.is_host()) fit_into_block(std::int64_t{n} * reduction_lanes);
    (m_.is_host() ? m_.cpu.map_rows : m_.gpu.map_rows) = n;
  }

  void load_width() {
    const int n = m_.gpu.load_width = number();
    if (n != 1 && n != 2 && n != 4) fail("{} numbers of one load: 1, 2 or 4 are expected", n);
  }

  void bf16_products() {
    m_.of_bf16.products = number();
    if (m_.of_bf16.products != 2) fail("{} at a time: 2 are expected", m_.of_bf16.products);
  }

  enum key_kind : unsigned char { of_all, of_cpus, of_gpus, of_cuda };
  struct key_of {
    key_kind kind;
    std::function<void(reader &)> read;
  };
  using keys_of = std::map<std::string_view, key_of>;
  // The members that lead to the number: m.*first.*second = ..
  template <auto... Members>
  static void set(reader &r) {
    (r.m_.*....*Members) = r.number();
  }
  template <int gpu_tiles::*Field>
  static void set_threads(reader &r) {
    r.fit_into_block(r.m_.gpu.*Field = r.number());
  }
  static const keys_of &keys() {
    static const keys_of all = {
        {"like", {of_all, [](reader &r) { r.like(); }}},
        {"device", {of_all, [](reader &r) { r.device(); }}},
        {"halide", {of_all, [](reader &r) { r.halide(); }}},
        {"part_of", {of_all, [](reader &r) { r.m_.part_of = r.next(); }}},
        {"preference", {of_all, set<&machine::preference>}},
        {"register_bits", {of_cpus, [](reader &r) { r.register_bits(); }}},
        {"registers", {of_cpus, [](reader &r) { r.registers(); }}},
        {"sum_registers", {of_cpus, [](reader &r) { r.sum_registers(); }}},
        {"shared_bytes", {of_gpus, set<&machine::gpu, &gpu_tiles::shared_bytes>}},
        {"columns_per_thread", {of_gpus, set<&machine::gpu, &gpu_tiles::columns_per_thread>}},
        {"attention", {of_all, [](reader &r) { r.attention(); }}},
        {"matrix_attention", {of_cpus, [](reader &r) { r.matrix_attention(); }}},
        {"both_ways", {of_cpus, [](reader &r) { r.both_ways(r.m_.cpu.both_ways.usual); }}},
        {"both_ways_in_window",
         {of_cpus, [](reader &r) { r.both_ways(r.m_.cpu.both_ways.in_window); }}},
        {"tensor", {of_cuda, [](reader &r) { r.tensor(); }}},
        {"tensor_pair_sums", {of_cuda, [](reader &r) { r.tensor_pair_sums(); }}},
        {"tensor_contraction",
         {of_cuda, [](reader &r) { r.m_.tensor_contraction.push_back(read_contraction_tile(r)); }}},
        {"score_registers", {of_cpus, [](reader &r) { r.score_registers(); }}},
        {"score_keys", {of_cpus, set<&machine::cpu, &cpu_tiles::score_keys>}},
        {"weight_keys", {of_cpus, [](reader &r) { r.weight_keys(); }}},
        {"feature_vectors", {of_cpus, [](reader &r) { r.features(); }}},
        {"feature_steps",
         {of_cpus, set<&machine::cpu, &cpu_tiles::features, &feature_loops::steps>}},
        {"unrolled_features",
         {of_cpus, set<&machine::cpu, &cpu_tiles::features, &feature_loops::unrolled>}},
        {"bf16_products", {of_cpus, [](reader &r) { r.bf16_products(); }}},
        {"prefetched_bytes",
         {of_cpus, [](reader &r) { r.m_.cpu.prefetched_bytes = r.number(0, 1 << 30); }}},
        {"value_columns", {of_cpus, set<&machine::cpu, &cpu_tiles::values, &value_rows::columns>}},
        {"value_padding", {of_cpus, set<&machine::cpu, &cpu_tiles::values, &value_rows::padding>}},
        {"value_bytes", {of_cpus, set<&machine::cpu, &cpu_tiles::values, &value_rows::bytes>}},
        {"map_rows", {of_all, [](reader &r) { r.map_rows(); }}},
        {"map_vectors", {of_cpus, set<&machine::cpu, &cpu_tiles::map_vectors>}},
        {"contraction_rows", {of_all, [](reader &r) { r.contraction_rows(); }}},
        {"panels", {of_all, [](reader &r) { r.panels(); }}},
        {"contraction_vectors", {of_cpus, [](reader &r) { r.contraction_vectors(); }}},
        {"contraction_tile", {of_gpus, [](reader &r) { r.contraction_tile_of_thread(); }}},
        {"load_width", {of_gpus, [](reader &r) { r.load_width(); }}},
        {"split_keys", {of_cuda, set<&machine::gpu, &gpu_tiles::split_keys>}},
        {"threads_of_short_work", {of_gpus, set_threads<&gpu_tiles::threads_of_short_work>}},
        {"threads_of_long_work", {of_gpus, set_threads<&gpu_tiles::threads_of_long_work>}},
    };
    return all;
  }

  // Keys of several lines, which are one list: how to empty it.
  using lists_of = std::map<std::string_view, std::function<void(machine &)>>;
  static const lists_of &lists() {
    static const lists_of all = {
        {"attention", [](machine &m) { m.attention.clear(); }},
        {"matrix_attention", [](machine &m) { m.of_bf16.matrix_attention.clear(); }},
        {"tensor", [](machine &m) { m.tensor.clear(); }},
        {"tensor_pair_sums", [](machine &m) { m.tensor_pair_sums.clear(); }},
        {"tensor_contraction", [](machine &m) { m.tensor_contraction.clear(); }},
    };
    return all;
  }

  static std::string names() {
    std::string text;
    for (const auto &[name, read] : keys()) text += (text.empty() ? "" : " ") + std::string(name);
    return text;
  }

  std::vector<std::string_view> required() const {
    std::vector<std::string_view> all = {"device", "halide",           "attention",
                                         "panels", "contraction_rows", "map_rows"};
    const std::vector<std::string_view> more =
        m_.is_host() ? std::vector<std::string_view>{"register_bits",   "registers",
                                                     "sum_registers",   "score_registers",
                                                     "score_keys",      "weight_keys",
                                                     "feature_vectors", "unrolled_features",
                                                     "map_vectors",     "contraction_vectors",
                                                     "value_bytes",     "both_ways"}
                     : std::vector<std::string_view>{
                           "shared_bytes", "columns_per_thread",    "contraction_tile",
                           "load_width",   "threads_of_short_work", "threads_of_long_work"};
    all.insert(all.end(), more.begin(), more.end());
    if (!m_.tensor.empty()) all.push_back("split_keys");
    return all;
  }

  const machine_texts &others_;
  machine m_;
  std::set<std::string_view> seen_, inherited_;
};

}  // namespace

machine parse_machine(const std::string &name, std::string_view text, const machine_texts &others) {
  return reader(name, others).run(text);
}

}  // namespace qkv::codegen
