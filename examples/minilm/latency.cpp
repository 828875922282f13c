#include "latency.hpp"

#include <algorithm>
#include <chrono>

namespace minilm {

std::vector<double> latencies(const encoder &model, const padded &p, int calls) {
  using clock = std::chrono::steady_clock;
  std::vector<double> each;
  for (auto last = clock::now(); calls-- > 0;) {
    model.encode(p);
    const auto now = clock::now();
    each.push_back(std::chrono::duration<double, std::milli>(now - last).count());
    last = now;
  }
  return each;
}

double median_latency(const encoder &model, const padded &p, double seconds) {
  const double first = latencies(model, p, 2).back();
  auto each = latencies(model, p, std::clamp(static_cast<int>(seconds * 1e3 / first), 3, 1000));
  const auto middle = each.begin() + static_cast<std::ptrdiff_t>(each.size() / 2);
  std::ranges::nth_element(each, middle);
  return *middle;
}

}  // namespace minilm
