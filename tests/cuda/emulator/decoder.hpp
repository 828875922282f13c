// SPDX-License-Identifier: BSL-1.0
#pragma once
// From statements to instructions: registers become slots, names become addresses.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/cuda/emulator/kernel.hpp"

namespace qkv::ptx {

class decoder {
 public:
  decoder(kernel &k, const entry &e, const std::map<std::string, variable> &module_variables);
  void run();

  std::int32_t slot(const operand &, type as);                 // of a register or a constant
  void destinations(instruction &, const operand &, type as);  // a register or a list
  void sources(instruction &, const operand &, type as);
  void plain(instruction &, const statement &, type as);    // a destination, then sources
  void second_destination(instruction &, const operand &);  // q of p|q
  void address(instruction &, const operand &);  // the base as a source, the offset as imm
  bool is_wide(std::int32_t slot) const { return wide_.at(slot); }
  type type_of(const operand &) const;
  const entry &e;
  kernel &k;

  [[noreturn]] void refuse(const statement &, const std::string &why) const;

 private:
  std::int32_t fresh(bool wide);
  std::int32_t constant(std::uint64_t bits, bool wide);
  void place_variables();
  std::map<std::string, std::int32_t> registers_;
  std::map<std::int32_t, bool> wide_;
  std::map<std::pair<std::uint64_t, bool>, std::int32_t> constants_;
  std::map<std::string, variable> variables_;
};

// Each decodes the instructions of one file. True when the statement is one of them.
bool decode_move(decoder &, const statement &, instruction &);
bool decode_conversion(decoder &, const statement &, instruction &);
bool decode_comparison(decoder &, const statement &, instruction &);
bool decode_bits(decoder &, const statement &, instruction &);
bool decode_half(decoder &, const statement &, instruction &);
bool decode_float(decoder &, const statement &, instruction &);
bool decode_integer(decoder &, const statement &, instruction &);
bool decode_load_store(decoder &, const statement &, instruction &);
bool decode_address(decoder &, const statement &, instruction &);
bool decode_atomic(decoder &, const statement &, instruction &);
bool decode_async_copy(decoder &, const statement &, instruction &);
bool decode_branch(decoder &, const statement &, instruction &);
bool decode_barrier(decoder &, const statement &, instruction &);
bool decode_exchange(decoder &, const statement &, instruction &);
bool decode_matrix(decoder &, const statement &, instruction &);
bool decode_mbarrier(decoder &, const statement &, instruction &);
bool decode_copy_engine(decoder &, const statement &, instruction &);
bool decode_warpgroup(decoder &, const statement &, instruction &);

type last_type(const statement &);  // of its modifiers
std::vector<type> types_of(const statement &);
space space_of(const statement &);  // generic when no modifier names one

}  // namespace qkv::ptx
