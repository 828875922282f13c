// SPDX-License-Identifier: BSL-1.0
#pragma once
// Calls in a child of fork(): no lock is held there, and loops start threads of their own; private
// to the runtime.

namespace qkv::detail {

// From now on, fork() waits until no other thread is inside the runtime's bookkeeping. Called when
// this code is loaded, and wherever its first lock may be taken: a constructor of the program may
// run earlier, and there may have been no memory. Cheap after the first call.
void guard_forks() noexcept;

// True if this process was forked from one that had used a device: drivers do not survive that.
bool devices_lost() noexcept;
void note_device_use() noexcept;

// Each part locks before a fork and unlocks after it, in the parent and in the child.
void lock_registry() noexcept;
void unlock_registry() noexcept;
void lock_halide() noexcept;
void unlock_halide() noexcept;
void lock_workspaces() noexcept;
void unlock_workspaces() noexcept;
void lock_threads() noexcept;
void unlock_threads() noexcept;
void forget_threads() noexcept;  // in the child, where only the forking thread exists

}  // namespace qkv::detail
