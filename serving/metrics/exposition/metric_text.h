#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "serving/metrics/exposition/family.h"
#include "serving/metrics/exposition/time_histogram.h"

namespace het::metrics {

enum class TextFormat {
  OpenMetrics,  ///< 1.0.0
  Prometheus,   ///< the older text, 0.0.4
};

/// What answers of this format say of themselves.
std::string_view content_type(TextFormat format);

struct Label {
  std::string_view name;
  std::string_view value;  ///< any bytes
};
using Labels = std::initializer_list<Label>;

/// `{name="value",...}` without what a reader would stumble over: quotes, backslashes and ends of
/// lines are escaped, bytes that are no UTF-8 replaced, long values cut. Nothing for no labels.
std::string label_text(Labels labels);

/// Gathers values in any order and writes them family by family. Thread-bound.
class MetricText {
 public:
  explicit MetricText(TextFormat format);

  /// Of a counter, a gauge or an info, one for each set of labels.
  void add(std::string_view family, Labels labels, double value);
  void add(std::string_view family, Labels labels, const TimeHistogram& values);
  /// Everything, with the end that OpenMetrics asks for.
  std::string finish() const;

 private:
  std::string& lines_of(std::string_view family, const Family** known);

  TextFormat format_;
  std::vector<std::string> lines_;  ///< of each family
};

}  // namespace het::metrics
