#pragma once
// The kernels of fake.hpp as the typed call sees them.
#include <qkv/call.hpp>

namespace spec {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;
inline constexpr axis<"seq"> seq;
inline constexpr axis<"kv"> kv;
inline constexpr axis<"d", 4> d;
inline constexpr axis<"k"> k;
inline constexpr axis<"n"> n;
inline constexpr axis<"m", 3> m;

struct argument {
  sv name;
  bool param;
  dtype type;
  axes shape;
};
struct output {
  sv name;
  dtype type;
  axes shape;
};
struct blend_t {
  static constexpr sv name = "blend";
  static constexpr argument arguments[] = {{"Q", false, f32, axes_of<batch, seq, d>()},
                                           {"K", false, f32, axes_of<batch, kv, d>()},
                                           {"V", false, f32, axes_of<batch, kv, d>()}};
  static constexpr output outputs[] = {{"O", f32, axes_of<batch, seq, d>()}};
};
inline constexpr blend_t blend;
struct project_t {
  static constexpr sv name = "project";
  static constexpr argument arguments[] = {{"X", false, f32, axes_of<seq, k>()},
                                           {"W", true, f32, axes_of<k, n, m>()}};
  static constexpr output outputs[] = {{"Y", f32, axes_of<seq, n, m>()}};
};
inline constexpr project_t project;
struct absent_t : blend_t {
  static constexpr sv name = "absent";
};
inline constexpr absent_t absent;
struct changed_t : blend_t {
  static constexpr output outputs[] = {{"O", f32, axes_of<batch, seq, m>()}};
};
inline constexpr changed_t changed;

}  // namespace spec
