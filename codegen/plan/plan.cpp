// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/plan.hpp"

#include "codegen/plan/storage.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {

namespace {

plan plan_of_whole(const program &written) {
  plan made{fingerprint(written), simplified(written), {}, {}, {}, {}, {}};
  made.cut = cut_into_stages(made.p);
  made.order.resize(made.p.nodes.size());
  for (const stage &s : made.cut.list)
    for (node_id root : roots_of(s)) made.order[root] = storage_order(made.p, made.cut, root);
  for (const stage &s : made.cut.list)
    if (const auto *a = std::get_if<attention_stage>(&s); a && !a->by_pair().empty())
      for (node_id n : a->products) made.order[n] = made.p[n].shape;
  made.packs = packs_of(made.p, made.cut);
  return made;
}

}  // namespace

plan plan_of(const program &written) {
  plan made = plan_of_whole(written);
  made.by_chunks = chunks_of(made.p);
  if (made.by_chunks)
    for (const kernel_part &part : made.by_chunks->parts)
      made.parts.push_back(plan_of_whole(part.p));
  return made;
}

}  // namespace qkv::codegen
