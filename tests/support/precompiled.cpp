// SPDX-License-Identifier: BSL-1.0
// CMake precompiles headers only for a library with a source that includes them.
