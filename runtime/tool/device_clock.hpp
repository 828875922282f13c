// SPDX-License-Identifier: BSL-1.0
#pragma once
// The time of calls on a CUDA device, by events in the stream of the calls.
#include <qkv/options.hpp>

#include <functional>
#include <vector>

namespace qkv::tool {

// Seconds of each of n calls, after some to warm up, each of which is finished before the next one
// begins. Empty where the device is another one, or its driver has no events. The call gets the
// options with a stream, so that it need not wait.
std::vector<double> times_on_device(const qkv::options &how, int warm, int n,
                                    const std::function<void(const qkv::options &)> &call);

}  // namespace qkv::tool
