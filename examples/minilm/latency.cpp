#include "latency.hpp"

#include <algorithm>
#include <chrono>

namespace minilm {

double median_latency(const encoder &model, const padded &p, double seconds) {
  using clock = std::chrono::steady_clock;
  using milliseconds = std::chrono::duration<double, std::milli>;
  model.encode(p);
  std::vector<double> each;
  const auto begin = clock::now();
  for (auto last = begin; each.size() < 3 || milliseconds(last - begin).count() < seconds * 1e3;) {
    model.encode(p);
    const auto now = clock::now();
    each.push_back(milliseconds(now - last).count());
    last = now;
  }
  const auto middle = each.begin() + static_cast<std::ptrdiff_t>(each.size() / 2);
  std::ranges::nth_element(each, middle);
  return *middle;
}

}  // namespace minilm
