#pragma once

#include <span>
#include <string>
#include <string_view>

namespace het::metrics {

enum class MetricKind { Counter, Gauge, Histogram, Info };

/// "counter", "gauge" ...
std::string_view to_string(MetricKind kind);

/// What is told under one name. `name` is without what a kind adds (_total, _info, _bucket); it
/// ends with the unit, where it has one.
struct Family {
  std::string_view name;
  MetricKind kind;
  std::string_view unit;
  std::string_view labels;  ///< with commas, for the table in docs/metrics.md
  std::string_view meaning;
  std::string_view origin;  ///< where the value comes from, for the same table
};

/// What a family's values are called in text: with the ending that its kind adds.
std::string sample_name(const Family& family);

/// All of them, in the order in which they are written. docs/metrics.md has the same.
std::span<const Family> families();
/// The one of this name, which exists.
const Family& family(std::string_view name);

}  // namespace het::metrics
