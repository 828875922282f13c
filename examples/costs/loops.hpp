// SPDX-License-Identifier: BSL-1.0
#pragma once
// Each kernel against plain loops in double precision, for 128 tokens.

namespace costs {

inline constexpr double tolerance = 1e-5;  // the largest difference that is allowed

bool full_attention_is_right();
bool low_rank_is_right();
bool linear_is_right();
bool landmarks_is_right();
bool cached_is_right();
bool multi_query_is_right();

}  // namespace costs
