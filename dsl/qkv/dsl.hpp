#pragma once
// The language: axes, expressions, kernels. A spec includes this header and nothing else.
#include <qkv/core/shape_error.hpp>  // first: compilers print the way to it with every error

#include <qkv/attention/causal.hpp>
#include <qkv/attention/layer_norm.hpp>
#include <qkv/attention/padding.hpp>
#include <qkv/attention/scaled_dot_product.hpp>
#include <qkv/core/kernel.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/broadcast.hpp>
#include <qkv/ops/cast.hpp>
#include <qkv/ops/concat.hpp>
#include <qkv/ops/cumsum.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/functions.hpp>
#include <qkv/ops/index.hpp>
#include <qkv/ops/let.hpp>
#include <qkv/ops/logic.hpp>
#include <qkv/ops/mask.hpp>
#include <qkv/ops/merge.hpp>
#include <qkv/ops/normalize.hpp>
#include <qkv/ops/plain.hpp>
#include <qkv/ops/reduce.hpp>
#include <qkv/ops/rename.hpp>
#include <qkv/ops/slice.hpp>
#include <qkv/ops/softmax.hpp>
#include <qkv/ops/split.hpp>
#include <qkv/ops/sqrt_size.hpp>
#include <qkv/ops/take.hpp>
#include <qkv/ops/where.hpp>
