// SPDX-License-Identifier: BSL-1.0
#pragma once
// The language: axes, expressions, kernels. A spec includes this header and nothing else.
// Compilers print the chain of includes with every error inside a header: headers that errors
// mention come first.
#include <qkv/core/shape_error.hpp>

#include <qkv/core/expr.hpp>

#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/broadcast.hpp>
#include <qkv/ops/cast.hpp>
#include <qkv/ops/concat.hpp>
#include <qkv/ops/cumsum.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/filled.hpp>
#include <qkv/ops/functions.hpp>
#include <qkv/ops/has.hpp>
#include <qkv/ops/index.hpp>
#include <qkv/ops/let.hpp>
#include <qkv/ops/logic.hpp>
#include <qkv/ops/mask.hpp>
#include <qkv/ops/merge.hpp>
#include <qkv/ops/normalize.hpp>
#include <qkv/ops/plain.hpp>
#include <qkv/ops/reduce.hpp>
#include <qkv/ops/rename.hpp>
#include <qkv/ops/reveal.hpp>
#include <qkv/ops/scan.hpp>
#include <qkv/ops/slice.hpp>
#include <qkv/ops/softmax.hpp>
#include <qkv/ops/split.hpp>
#include <qkv/ops/sqrt_size.hpp>
#include <qkv/ops/take.hpp>
#include <qkv/ops/uniform.hpp>
#include <qkv/ops/where.hpp>

#include <qkv/attention/alibi.hpp>
#include <qkv/attention/attention_pooling.hpp>
#include <qkv/attention/bahdanau.hpp>
#include <qkv/attention/cached_causal.hpp>
#include <qkv/attention/causal.hpp>
#include <qkv/attention/differential.hpp>
#include <qkv/attention/dilated.hpp>
#include <qkv/attention/document.hpp>
#include <qkv/attention/dropout.hpp>
#include <qkv/attention/global_window.hpp>
#include <qkv/attention/grouped_query.hpp>
#include <qkv/attention/latent_attention.hpp>
#include <qkv/attention/layer_norm.hpp>
#include <qkv/attention/linear_attention.hpp>
#include <qkv/attention/luong.hpp>
#include <qkv/attention/multi_head.hpp>
#include <qkv/attention/nystrom.hpp>
#include <qkv/attention/padding.hpp>
#include <qkv/attention/prefix.hpp>
#include <qkv/attention/project.hpp>
#include <qkv/attention/qk_norm.hpp>
#include <qkv/attention/recurrent_attention.hpp>
#include <qkv/attention/relative_bias.hpp>
#include <qkv/attention/rms_norm.hpp>
#include <qkv/attention/rope.hpp>
#include <qkv/attention/scaled_dot_product.hpp>
#include <qkv/attention/sigmoid_attention.hpp>
#include <qkv/attention/sink.hpp>
#include <qkv/attention/softcap.hpp>
#include <qkv/attention/t5_bias.hpp>
#include <qkv/attention/talking_heads.hpp>

#include <qkv/core/formula.hpp>
#include <qkv/core/gradient.hpp>
#include <qkv/core/kernel.hpp>
#include <qkv/core/no_functions.hpp>
#include <qkv/core/one_result.hpp>
