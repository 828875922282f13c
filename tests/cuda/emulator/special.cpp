// SPDX-License-Identifier: BSL-1.0
// Special registers: indices, sizes, and masks of lanes.
#include "tests/cuda/emulator/special.hpp"

#include <string>

#include "tests/cuda/emulator/lanes.hpp"

namespace qkv::ptx {

void special_registers(warp &w) {
  const block &b = *w.in;
  const grid &g = b.g;
  for (const auto &[name, slot] : b.k->special)
    for (int l = 0; l < lanes_of_warp; ++l) {
      const auto thread = static_cast<std::uint32_t>(w.id * lanes_of_warp + l);
      const std::uint32_t t[3] = {thread % g.threads[0], thread / g.threads[0] % g.threads[1],
                                  thread / g.threads[0] / g.threads[1]};
      const auto axis = static_cast<std::size_t>(name.back() - 'x');
      std::uint32_t v = 0;
      if (name.rfind("%tid.", 0) == 0)
        v = t[axis];
      else if (name.rfind("%ntid.", 0) == 0)
        v = g.threads[axis];
      else if (name.rfind("%ctaid.", 0) == 0)
        v = b.index[axis];
      else if (name.rfind("%nctaid.", 0) == 0)
        v = g.blocks[axis];
      else if (name == "%laneid")
        v = static_cast<std::uint32_t>(l);
      else if (name == "%warpid")
        v = static_cast<std::uint32_t>(w.id);
      else if (name == "%nwarpid")
        v = static_cast<std::uint32_t>(b.warps.size());
      else if (name == "%lanemask_lt")
        v = (1u << l) - 1;
      else if (name == "%lanemask_le")
        v = l == 31 ? ~0u : (2u << l) - 1;
      else if (name == "%lanemask_eq")
        v = 1u << l;
      else if (name == "%lanemask_ge")
        v = ~((1u << l) - 1);
      else if (name == "%lanemask_gt")
        v = l == 31 ? 0 : ~((2u << l) - 1);
      else if (name.rfind("%clusterid.", 0) == 0)
        v = b.index[axis];
      else if (name.rfind("%nclusterid.", 0) == 0)
        v = g.blocks[axis];
      else if (name.rfind("%cluster_nctaid.", 0) == 0 || name == "%cluster_nctarank")
        v = 1;
      else if (name.rfind("%cluster_ctaid.", 0) == 0 || name == "%cluster_ctarank")
        v = 0;
      else if (name == "%smid")
        v = 0;
      else if (name == "%nsmid")
        v = 1;
      else if (name == "%dynamic_smem_size")
        v = g.dynamic_shared;
      else if (name == "%total_smem_size")
        v = b.shared_size;
      else if (name.rfind("%clock", 0) == 0 || name == "%globaltimer")
        v = 0;
      else
        throw error(b.k->name + ": " + name + " is not supported");
      if (name == "%clock64" || name == "%globaltimer")
        reg<std::uint64_t>(w, slot)[l] = v;
      else
        reg<std::uint32_t>(w, slot)[l] = v;
    }
}

}  // namespace qkv::ptx
