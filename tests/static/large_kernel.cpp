// SPDX-License-Identifier: BSL-1.0
// More than 700 operations, none like another: sixteen transformer layers with parameters of their
// own.
#include <qkv/dsl.hpp>
namespace large {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 8> heads;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"d_model", 512> d_model;
inline constexpr axis<"d_k", 64> d_k;
inline constexpr axis<"hidden", 2048> hidden;
inline constexpr auto ln = [](auto x, auto g, auto b) {
  auto c = x - mean<d_model>(x);
  return c * rsqrt(mean<d_model>(c * c) + 1e-5f) * g + b;
};
inline constexpr auto big = kernel<"big">(
    [](in<"X", batch, seq, d_model> X, param<"g10", d_model> g10, param<"b10", d_model> b10,
       param<"g20", d_model> g20, param<"b20", d_model> b20, param<"Wq0", d_model, heads, d_k> Wq0,
       param<"Wk0", d_model, heads, d_k> Wk0, param<"Wv0", d_model, heads, d_k> Wv0,
       param<"Wo0", heads, d_k, d_model> Wo0, param<"bq0", heads, d_k> bq0,
       param<"bk0", heads, d_k> bk0, param<"bv0", heads, d_k> bv0, param<"bo0", d_model> bo0,
       param<"Wu0", d_model, hidden> Wu0, param<"bu0", hidden> bu0,
       param<"Wd0", hidden, d_model> Wd0, param<"bd0", d_model> bd0, param<"g11", d_model> g11,
       param<"b11", d_model> b11, param<"g21", d_model> g21, param<"b21", d_model> b21,
       param<"Wq1", d_model, heads, d_k> Wq1, param<"Wk1", d_model, heads, d_k> Wk1,
       param<"Wv1", d_model, heads, d_k> Wv1, param<"Wo1", heads, d_k, d_model> Wo1,
       param<"bq1", heads, d_k> bq1, param<"bk1", heads, d_k> bk1, param<"bv1", heads, d_k> bv1,
       param<"bo1", d_model> bo1, param<"Wu1", d_model, hidden> Wu1, param<"bu1", hidden> bu1,
       param<"Wd1", hidden, d_model> Wd1, param<"bd1", d_model> bd1, param<"g12", d_model> g12,
       param<"b12", d_model> b12, param<"g22", d_model> g22, param<"b22", d_model> b22,
       param<"Wq2", d_model, heads, d_k> Wq2, param<"Wk2", d_model, heads, d_k> Wk2,
       param<"Wv2", d_model, heads, d_k> Wv2, param<"Wo2", heads, d_k, d_model> Wo2,
       param<"bq2", heads, d_k> bq2, param<"bk2", heads, d_k> bk2, param<"bv2", heads, d_k> bv2,
       param<"bo2", d_model> bo2, param<"Wu2", d_model, hidden> Wu2, param<"bu2", hidden> bu2,
       param<"Wd2", hidden, d_model> Wd2, param<"bd2", d_model> bd2, param<"g13", d_model> g13,
       param<"b13", d_model> b13, param<"g23", d_model> g23, param<"b23", d_model> b23,
       param<"Wq3", d_model, heads, d_k> Wq3, param<"Wk3", d_model, heads, d_k> Wk3,
       param<"Wv3", d_model, heads, d_k> Wv3, param<"Wo3", heads, d_k, d_model> Wo3,
       param<"bq3", heads, d_k> bq3, param<"bk3", heads, d_k> bk3, param<"bv3", heads, d_k> bv3,
       param<"bo3", d_model> bo3, param<"Wu3", d_model, hidden> Wu3, param<"bu3", hidden> bu3,
       param<"Wd3", hidden, d_model> Wd3, param<"bd3", d_model> bd3, param<"g14", d_model> g14,
       param<"b14", d_model> b14, param<"g24", d_model> g24, param<"b24", d_model> b24,
       param<"Wq4", d_model, heads, d_k> Wq4, param<"Wk4", d_model, heads, d_k> Wk4,
       param<"Wv4", d_model, heads, d_k> Wv4, param<"Wo4", heads, d_k, d_model> Wo4,
       param<"bq4", heads, d_k> bq4, param<"bk4", heads, d_k> bk4, param<"bv4", heads, d_k> bv4,
       param<"bo4", d_model> bo4, param<"Wu4", d_model, hidden> Wu4, param<"bu4", hidden> bu4,
       param<"Wd4", hidden, d_model> Wd4, param<"bd4", d_model> bd4, param<"g15", d_model> g15,
       param<"b15", d_model> b15, param<"g25", d_model> g25, param<"b25", d_model> b25,
       param<"Wq5", d_model, heads, d_k> Wq5, param<"Wk5", d_model, heads, d_k> Wk5,
       param<"Wv5", d_model, heads, d_k> Wv5, param<"Wo5", heads, d_k, d_model> Wo5,
       param<"bq5", heads, d_k> bq5, param<"bk5", heads, d_k> bk5, param<"bv5", heads, d_k> bv5,
       param<"bo5", d_model> bo5, param<"Wu5", d_model, hidden> Wu5, param<"bu5", hidden> bu5,
       param<"Wd5", hidden, d_model> Wd5, param<"bd5", d_model> bd5, param<"g16", d_model> g16,
       param<"b16", d_model> b16, param<"g26", d_model> g26, param<"b26", d_model> b26,
       param<"Wq6", d_model, heads, d_k> Wq6, param<"Wk6", d_model, heads, d_k> Wk6,
       param<"Wv6", d_model, heads, d_k> Wv6, param<"Wo6", heads, d_k, d_model> Wo6,
       param<"bq6", heads, d_k> bq6, param<"bk6", heads, d_k> bk6, param<"bv6", heads, d_k> bv6,
       param<"bo6", d_model> bo6, param<"Wu6", d_model, hidden> Wu6, param<"bu6", hidden> bu6,
       param<"Wd6", hidden, d_model> Wd6, param<"bd6", d_model> bd6, param<"g17", d_model> g17,
       param<"b17", d_model> b17, param<"g27", d_model> g27, param<"b27", d_model> b27,
       param<"Wq7", d_model, heads, d_k> Wq7, param<"Wk7", d_model, heads, d_k> Wk7,
       param<"Wv7", d_model, heads, d_k> Wv7, param<"Wo7", heads, d_k, d_model> Wo7,
       param<"bq7", heads, d_k> bq7, param<"bk7", heads, d_k> bk7, param<"bv7", heads, d_k> bv7,
       param<"bo7", d_model> bo7, param<"Wu7", d_model, hidden> Wu7, param<"bu7", hidden> bu7,
       param<"Wd7", hidden, d_model> Wd7, param<"bd7", d_model> bd7, param<"g18", d_model> g18,
       param<"b18", d_model> b18, param<"g28", d_model> g28, param<"b28", d_model> b28,
       param<"Wq8", d_model, heads, d_k> Wq8, param<"Wk8", d_model, heads, d_k> Wk8,
       param<"Wv8", d_model, heads, d_k> Wv8, param<"Wo8", heads, d_k, d_model> Wo8,
       param<"bq8", heads, d_k> bq8, param<"bk8", heads, d_k> bk8, param<"bv8", heads, d_k> bv8,
       param<"bo8", d_model> bo8, param<"Wu8", d_model, hidden> Wu8, param<"bu8", hidden> bu8,
       param<"Wd8", hidden, d_model> Wd8, param<"bd8", d_model> bd8, param<"g19", d_model> g19,
       param<"b19", d_model> b19, param<"g29", d_model> g29, param<"b29", d_model> b29,
       param<"Wq9", d_model, heads, d_k> Wq9, param<"Wk9", d_model, heads, d_k> Wk9,
       param<"Wv9", d_model, heads, d_k> Wv9, param<"Wo9", heads, d_k, d_model> Wo9,
       param<"bq9", heads, d_k> bq9, param<"bk9", heads, d_k> bk9, param<"bv9", heads, d_k> bv9,
       param<"bo9", d_model> bo9, param<"Wu9", d_model, hidden> Wu9, param<"bu9", hidden> bu9,
       param<"Wd9", hidden, d_model> Wd9, param<"bd9", d_model> bd9, param<"g110", d_model> g110,
       param<"b110", d_model> b110, param<"g210", d_model> g210, param<"b210", d_model> b210,
       param<"Wq10", d_model, heads, d_k> Wq10, param<"Wk10", d_model, heads, d_k> Wk10,
       param<"Wv10", d_model, heads, d_k> Wv10, param<"Wo10", heads, d_k, d_model> Wo10,
       param<"bq10", heads, d_k> bq10, param<"bk10", heads, d_k> bk10,
       param<"bv10", heads, d_k> bv10, param<"bo10", d_model> bo10,
       param<"Wu10", d_model, hidden> Wu10, param<"bu10", hidden> bu10,
       param<"Wd10", hidden, d_model> Wd10, param<"bd10", d_model> bd10,
       param<"g111", d_model> g111, param<"b111", d_model> b111, param<"g211", d_model> g211,
       param<"b211", d_model> b211, param<"Wq11", d_model, heads, d_k> Wq11,
       param<"Wk11", d_model, heads, d_k> Wk11, param<"Wv11", d_model, heads, d_k> Wv11,
       param<"Wo11", heads, d_k, d_model> Wo11, param<"bq11", heads, d_k> bq11,
       param<"bk11", heads, d_k> bk11, param<"bv11", heads, d_k> bv11, param<"bo11", d_model> bo11,
       param<"Wu11", d_model, hidden> Wu11, param<"bu11", hidden> bu11,
       param<"Wd11", hidden, d_model> Wd11, param<"bd11", d_model> bd11,
       param<"g112", d_model> g112, param<"b112", d_model> b112, param<"g212", d_model> g212,
       param<"b212", d_model> b212, param<"Wq12", d_model, heads, d_k> Wq12,
       param<"Wk12", d_model, heads, d_k> Wk12, param<"Wv12", d_model, heads, d_k> Wv12,
       param<"Wo12", heads, d_k, d_model> Wo12, param<"bq12", heads, d_k> bq12,
       param<"bk12", heads, d_k> bk12, param<"bv12", heads, d_k> bv12, param<"bo12", d_model> bo12,
       param<"Wu12", d_model, hidden> Wu12, param<"bu12", hidden> bu12,
       param<"Wd12", hidden, d_model> Wd12, param<"bd12", d_model> bd12,
       param<"g113", d_model> g113, param<"b113", d_model> b113, param<"g213", d_model> g213,
       param<"b213", d_model> b213, param<"Wq13", d_model, heads, d_k> Wq13,
       param<"Wk13", d_model, heads, d_k> Wk13, param<"Wv13", d_model, heads, d_k> Wv13,
       param<"Wo13", heads, d_k, d_model> Wo13, param<"bq13", heads, d_k> bq13,
       param<"bk13", heads, d_k> bk13, param<"bv13", heads, d_k> bv13, param<"bo13", d_model> bo13,
       param<"Wu13", d_model, hidden> Wu13, param<"bu13", hidden> bu13,
       param<"Wd13", hidden, d_model> Wd13, param<"bd13", d_model> bd13,
       param<"g114", d_model> g114, param<"b114", d_model> b114, param<"g214", d_model> g214,
       param<"b214", d_model> b214, param<"Wq14", d_model, heads, d_k> Wq14,
       param<"Wk14", d_model, heads, d_k> Wk14, param<"Wv14", d_model, heads, d_k> Wv14,
       param<"Wo14", heads, d_k, d_model> Wo14, param<"bq14", heads, d_k> bq14,
       param<"bk14", heads, d_k> bk14, param<"bv14", heads, d_k> bv14, param<"bo14", d_model> bo14,
       param<"Wu14", d_model, hidden> Wu14, param<"bu14", hidden> bu14,
       param<"Wd14", hidden, d_model> Wd14, param<"bd14", d_model> bd14,
       param<"g115", d_model> g115, param<"b115", d_model> b115, param<"g215", d_model> g215,
       param<"b215", d_model> b215, param<"Wq15", d_model, heads, d_k> Wq15,
       param<"Wk15", d_model, heads, d_k> Wk15, param<"Wv15", d_model, heads, d_k> Wv15,
       param<"Wo15", heads, d_k, d_model> Wo15, param<"bq15", heads, d_k> bq15,
       param<"bk15", heads, d_k> bk15, param<"bv15", heads, d_k> bv15, param<"bo15", d_model> bo15,
       param<"Wu15", d_model, hidden> Wu15, param<"bu15", hidden> bu15,
       param<"Wd15", hidden, d_model> Wd15,
       param<"bd15", d_model> bd15) -> out<"Y", batch, seq, d_model> {
      auto x0 = X;
      auto n0 = ln(x0, g10, b10);
      auto m0 = rename<seq, kv>(n0);
      auto q0 = dot<d_model>(n0, Wq0) + bq0;
      auto k0 = dot<d_model>(m0, Wk0) + bk0;
      auto v0 = dot<d_model>(m0, Wv0) + bv0;
      auto s0 = mask(dot<d_k>(q0, k0) / sqrt(d_k), index(kv) <= index(seq));
      auto y0 = x0 + (dot<heads, d_k>(dot<kv>(softmax<kv>(s0), v0), Wo0) + bo0);
      auto x1 = y0 + (dot<hidden>(gelu(dot<d_model>(ln(y0, g20, b20), Wu0) + bu0), Wd0) + bd0);
      auto n1 = ln(x1, g11, b11);
      auto m1 = rename<seq, kv>(n1);
      auto q1 = dot<d_model>(n1, Wq1) + bq1;
      auto k1 = dot<d_model>(m1, Wk1) + bk1;
      auto v1 = dot<d_model>(m1, Wv1) + bv1;
      auto s1 = mask(dot<d_k>(q1, k1) / sqrt(d_k), index(kv) <= index(seq));
      auto y1 = x1 + (dot<heads, d_k>(dot<kv>(softmax<kv>(s1), v1), Wo1) + bo1);
      auto x2 = y1 + (dot<hidden>(gelu(dot<d_model>(ln(y1, g21, b21), Wu1) + bu1), Wd1) + bd1);
      auto n2 = ln(x2, g12, b12);
      auto m2 = rename<seq, kv>(n2);
      auto q2 = dot<d_model>(n2, Wq2) + bq2;
      auto k2 = dot<d_model>(m2, Wk2) + bk2;
      auto v2 = dot<d_model>(m2, Wv2) + bv2;
      auto s2 = mask(dot<d_k>(q2, k2) / sqrt(d_k), index(kv) <= index(seq));
      auto y2 = x2 + (dot<heads, d_k>(dot<kv>(softmax<kv>(s2), v2), Wo2) + bo2);
      auto x3 = y2 + (dot<hidden>(gelu(dot<d_model>(ln(y2, g22, b22), Wu2) + bu2), Wd2) + bd2);
      auto n3 = ln(x3, g13, b13);
      auto m3 = rename<seq, kv>(n3);
      auto q3 = dot<d_model>(n3, Wq3) + bq3;
      auto k3 = dot<d_model>(m3, Wk3) + bk3;
      auto v3 = dot<d_model>(m3, Wv3) + bv3;
      auto s3 = mask(dot<d_k>(q3, k3) / sqrt(d_k), index(kv) <= index(seq));
      auto y3 = x3 + (dot<heads, d_k>(dot<kv>(softmax<kv>(s3), v3), Wo3) + bo3);
      auto x4 = y3 + (dot<hidden>(gelu(dot<d_model>(ln(y3, g23, b23), Wu3) + bu3), Wd3) + bd3);
      auto n4 = ln(x4, g14, b14);
      auto m4 = rename<seq, kv>(n4);
      auto q4 = dot<d_model>(n4, Wq4) + bq4;
      auto k4 = dot<d_model>(m4, Wk4) + bk4;
      auto v4 = dot<d_model>(m4, Wv4) + bv4;
      auto s4 = mask(dot<d_k>(q4, k4) / sqrt(d_k), index(kv) <= index(seq));
      auto y4 = x4 + (dot<heads, d_k>(dot<kv>(softmax<kv>(s4), v4), Wo4) + bo4);
      auto x5 = y4 + (dot<hidden>(gelu(dot<d_model>(ln(y4, g24, b24), Wu4) + bu4), Wd4) + bd4);
      auto n5 = ln(x5, g15, b15);
      auto m5 = rename<seq, kv>(n5);
      auto q5 = dot<d_model>(n5, Wq5) + bq5;
      auto k5 = dot<d_model>(m5, Wk5) + bk5;
      auto v5 = dot<d_model>(m5, Wv5) + bv5;
      auto s5 = mask(dot<d_k>(q5, k5) / sqrt(d_k), index(kv) <= index(seq));
      auto y5 = x5 + (dot<heads, d_k>(dot<kv>(softmax<kv>(s5), v5), Wo5) + bo5);
      auto x6 = y5 + (dot<hidden>(gelu(dot<d_model>(ln(y5, g25, b25), Wu5) + bu5), Wd5) + bd5);
      auto n6 = ln(x6, g16, b16);
      auto m6 = rename<seq, kv>(n6);
      auto q6 = dot<d_model>(n6, Wq6) + bq6;
      auto k6 = dot<d_model>(m6, Wk6) + bk6;
      auto v6 = dot<d_model>(m6, Wv6) + bv6;
      auto s6 = mask(dot<d_k>(q6, k6) / sqrt(d_k), index(kv) <= index(seq));
      auto y6 = x6 + (dot<heads, d_k>(dot<kv>(softmax<kv>(s6), v6), Wo6) + bo6);
      auto x7 = y6 + (dot<hidden>(gelu(dot<d_model>(ln(y6, g26, b26), Wu6) + bu6), Wd6) + bd6);
      auto n7 = ln(x7, g17, b17);
      auto m7 = rename<seq, kv>(n7);
      auto q7 = dot<d_model>(n7, Wq7) + bq7;
      auto k7 = dot<d_model>(m7, Wk7) + bk7;
      auto v7 = dot<d_model>(m7, Wv7) + bv7;
      auto s7 = mask(dot<d_k>(q7, k7) / sqrt(d_k), index(kv) <= index(seq));
      auto y7 = x7 + (dot<heads, d_k>(dot<kv>(softmax<kv>(s7), v7), Wo7) + bo7);
      auto x8 = y7 + (dot<hidden>(gelu(dot<d_model>(ln(y7, g27, b27), Wu7) + bu7), Wd7) + bd7);
      auto n8 = ln(x8, g18, b18);
      auto m8 = rename<seq, kv>(n8);
      auto q8 = dot<d_model>(n8, Wq8) + bq8;
      auto k8 = dot<d_model>(m8, Wk8) + bk8;
      auto v8 = dot<d_model>(m8, Wv8) + bv8;
      auto s8 = mask(dot<d_k>(q8, k8) / sqrt(d_k), index(kv) <= index(seq));
      auto y8 = x8 + (dot<heads, d_k>(dot<kv>(softmax<kv>(s8), v8), Wo8) + bo8);
      auto x9 = y8 + (dot<hidden>(gelu(dot<d_model>(ln(y8, g28, b28), Wu8) + bu8), Wd8) + bd8);
      auto n9 = ln(x9, g19, b19);
      auto m9 = rename<seq, kv>(n9);
      auto q9 = dot<d_model>(n9, Wq9) + bq9;
      auto k9 = dot<d_model>(m9, Wk9) + bk9;
      auto v9 = dot<d_model>(m9, Wv9) + bv9;
      auto s9 = mask(dot<d_k>(q9, k9) / sqrt(d_k), index(kv) <= index(seq));
      auto y9 = x9 + (dot<heads, d_k>(dot<kv>(softmax<kv>(s9), v9), Wo9) + bo9);
      auto x10 = y9 + (dot<hidden>(gelu(dot<d_model>(ln(y9, g29, b29), Wu9) + bu9), Wd9) + bd9);
      auto n10 = ln(x10, g110, b110);
      auto m10 = rename<seq, kv>(n10);
      auto q10 = dot<d_model>(n10, Wq10) + bq10;
      auto k10 = dot<d_model>(m10, Wk10) + bk10;
      auto v10 = dot<d_model>(m10, Wv10) + bv10;
      auto s10 = mask(dot<d_k>(q10, k10) / sqrt(d_k), index(kv) <= index(seq));
      auto y10 = x10 + (dot<heads, d_k>(dot<kv>(softmax<kv>(s10), v10), Wo10) + bo10);
      auto x11 =
          y10 + (dot<hidden>(gelu(dot<d_model>(ln(y10, g210, b210), Wu10) + bu10), Wd10) + bd10);
      auto n11 = ln(x11, g111, b111);
      auto m11 = rename<seq, kv>(n11);
      auto q11 = dot<d_model>(n11, Wq11) + bq11;
      auto k11 = dot<d_model>(m11, Wk11) + bk11;
      auto v11 = dot<d_model>(m11, Wv11) + bv11;
      auto s11 = mask(dot<d_k>(q11, k11) / sqrt(d_k), index(kv) <= index(seq));
      auto y11 = x11 + (dot<heads, d_k>(dot<kv>(softmax<kv>(s11), v11), Wo11) + bo11);
      auto x12 =
          y11 + (dot<hidden>(gelu(dot<d_model>(ln(y11, g211, b211), Wu11) + bu11), Wd11) + bd11);
      auto n12 = ln(x12, g112, b112);
      auto m12 = rename<seq, kv>(n12);
      auto q12 = dot<d_model>(n12, Wq12) + bq12;
      auto k12 = dot<d_model>(m12, Wk12) + bk12;
      auto v12 = dot<d_model>(m12, Wv12) + bv12;
      auto s12 = mask(dot<d_k>(q12, k12) / sqrt(d_k), index(kv) <= index(seq));
      auto y12 = x12 + (dot<heads, d_k>(dot<kv>(softmax<kv>(s12), v12), Wo12) + bo12);
      auto x13 =
          y12 + (dot<hidden>(gelu(dot<d_model>(ln(y12, g212, b212), Wu12) + bu12), Wd12) + bd12);
      auto n13 = ln(x13, g113, b113);
      auto m13 = rename<seq, kv>(n13);
      auto q13 = dot<d_model>(n13, Wq13) + bq13;
      auto k13 = dot<d_model>(m13, Wk13) + bk13;
      auto v13 = dot<d_model>(m13, Wv13) + bv13;
      auto s13 = mask(dot<d_k>(q13, k13) / sqrt(d_k), index(kv) <= index(seq));
      auto y13 = x13 + (dot<heads, d_k>(dot<kv>(softmax<kv>(s13), v13), Wo13) + bo13);
      auto x14 =
          y13 + (dot<hidden>(gelu(dot<d_model>(ln(y13, g213, b213), Wu13) + bu13), Wd13) + bd13);
      auto n14 = ln(x14, g114, b114);
      auto m14 = rename<seq, kv>(n14);
      auto q14 = dot<d_model>(n14, Wq14) + bq14;
      auto k14 = dot<d_model>(m14, Wk14) + bk14;
      auto v14 = dot<d_model>(m14, Wv14) + bv14;
      auto s14 = mask(dot<d_k>(q14, k14) / sqrt(d_k), index(kv) <= index(seq));
      auto y14 = x14 + (dot<heads, d_k>(dot<kv>(softmax<kv>(s14), v14), Wo14) + bo14);
      auto x15 =
          y14 + (dot<hidden>(gelu(dot<d_model>(ln(y14, g214, b214), Wu14) + bu14), Wd14) + bd14);
      auto n15 = ln(x15, g115, b115);
      auto m15 = rename<seq, kv>(n15);
      auto q15 = dot<d_model>(n15, Wq15) + bq15;
      auto k15 = dot<d_model>(m15, Wk15) + bk15;
      auto v15 = dot<d_model>(m15, Wv15) + bv15;
      auto s15 = mask(dot<d_k>(q15, k15) / sqrt(d_k), index(kv) <= index(seq));
      auto y15 = x15 + (dot<heads, d_k>(dot<kv>(softmax<kv>(s15), v15), Wo15) + bo15);
      auto x16 =
          y15 + (dot<hidden>(gelu(dot<d_model>(ln(y15, g215, b215), Wu15) + bu15), Wd15) + bd15);
      return x16;
    });
static_assert(big.arguments.size() == 257);
static_assert(big.trace().size() - 257 > 700);
}  // namespace large
