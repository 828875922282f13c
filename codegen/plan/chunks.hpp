// SPDX-License-Identifier: BSL-1.0
#pragma once
// The gradient of a scan by chunks of its positions. Stored whole, the states before all positions
// and their adjoints are as large as a state times the positions. On CPUs, the states at the
// beginning of each chunk are stored, and from the last chunk to the first the states inside it are
// computed again, with the adjoints, and with all that is made of both. So a kernel is five
// programs, its parts; the runtime calls two of them for each chunk.
#include <optional>
#include <vector>

#include "codegen/plan/kernel_part.hpp"

namespace qkv::codegen {

struct temporary {
  dtype type = f32;
  std::vector<axis_id> shape;
  bool is_at_bounds = false;  // one of this shape at each bound between chunks
};

struct chunks {
  axis_id along = -1;
  std::vector<axis_id> outer;  // tensors of a chunk have one position along them
  std::vector<temporary> temporaries;
  bool has_last_state = false;  // the state after the last chunk is read, or results beside it
  // All that is computed before the states; the state after a chunk from that before it, called for
  // the first chunk to the last; all that is made of the forward scan's results; a chunk, for the
  // last to the first; all that is computed after.
  std::vector<kernel_part> parts;
};

inline constexpr int positions_of_chunk = 32;

// The division of a simplified program. It is empty if the program has not exactly two scans that
// are read at all positions of their states, the second from the end; if these states are vectors;
// or if a step joins positions of different chunks.
std::optional<chunks> chunks_of(const program &);

}  // namespace qkv::codegen
