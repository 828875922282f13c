// SPDX-License-Identifier: BSL-1.0
#pragma once
// Losses over steps as a picture.
#include <string>
#include <vector>

namespace my {

struct losses {
  int step;
  double train, held_back;
};

// A whole SVG file: both losses over linear axes. Needs two points or more.
std::string loss_curve(const std::string &title, const std::vector<losses> &);

}  // namespace my
