#include <qkv/tensor.hpp>

#include "axes.hpp"

namespace my {

long use() {
#ifdef WRONG
  const extents sizes(extent<batch>(2));
#else
  const extents sizes(extent<batch>(2), extent<seq>(10));
#endif
  // next line: extents: no size for kv
  const tensor<batch, heads, kv, d_k> K(sizes);
  return K.elements();
}

}  // namespace my
