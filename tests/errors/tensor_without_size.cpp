#include <qkv/tensor.hpp>

#include "axes.hpp"

namespace my {

long use() {
#ifdef WRONG
  const extents sizes(extent<batch>(2));
#else
  const extents sizes(extent<batch>(2), extent<seq>(10));
#endif
  const tensor<batch, heads, kv, d_k> K(sizes);  // <-- extents: no size for kv
  return K.elements();
}

}  // namespace my
