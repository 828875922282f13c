// SPDX-License-Identifier: BSL-1.0
#include "codegen/sheets/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace qkv::codegen {

formula::formula(double factor, std::vector<axis_id> axes) {
  std::sort(axes.begin(), axes.end());
  if (factor != 0) terms_[std::move(axes)] = factor;
}

formula &formula::operator+=(const formula &o) {
  for (const auto &[axes, factor] : o.terms_) terms_[axes] += factor;
  return *this;
}

formula formula::at(axis_id axis, double size) const {
  formula all;
  for (const auto &[axes, factor] : terms_) {
    std::vector<axis_id> others = axes;
    const auto times = static_cast<double>(std::erase(others, axis));
    all += formula(factor * std::pow(size, times), std::move(others));
  }
  return all;
}

std::string formula::text(const program &p) const {
  std::vector<std::pair<std::vector<axis_id>, double>> terms(terms_.begin(), terms_.end());
  std::sort(terms.begin(), terms.end(), [](const auto &a, const auto &b) {
    return a.first.size() != b.first.size() ? a.first.size() > b.first.size() : a.first < b.first;
  });
  std::string all;
  for (const auto &[axes, factor] : terms) {
    std::string term = factor == 1 && !axes.empty() ? "" : fmt::format("{:.15g}", factor);
    for (axis_id a : axes) term += (term.empty() ? "" : "*") + p.axes[a].name;
    all += (all.empty() ? "" : " + ") + term;
  }
  return all.empty() ? "0" : all;
}

std::optional<double> formula::value(const std::vector<std::int64_t> &size) const {
  double sum = 0;
  for (const auto &[axes, factor] : terms_) {
    double term = factor;
    for (axis_id a : axes) {
      if (size[a] < 0) return std::nullopt;
      term *= static_cast<double>(size[a]);
    }
    sum += term;
  }
  return sum;
}

std::string short_number(double x, std::string_view unit) {
  if (x < 1e4) return fmt::format("{:.4g}{}{}", x, unit.empty() ? "" : " ", unit);
  constexpr const char *prefixes[] = {"k", "M", "G", "T", "P"};
  int step = -1;
  while (x >= 999.5 && step < 4) x /= 1000, ++step;
  return fmt::format("{:.3g} {}{}", x, prefixes[step], unit);
}

}  // namespace qkv::codegen
