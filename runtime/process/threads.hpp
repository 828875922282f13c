// SPDX-License-Identifier: BSL-1.0
#pragma once
// The runtime's own threads; private to the runtime.
#include <qkv/threads.hpp>

namespace qkv::detail {

using task = void (*)(void *state, int i);

// Runs task(state, i) for each i in [0, n) on at most `limit` threads, the calling one among them,
// which also works. May be called from several threads at once and from inside a task.
void parallel_for(int n, int limit, task, void *state);

// Ends the idle threads; the next loop starts new ones.
void stop_threads() noexcept;

}  // namespace qkv::detail
