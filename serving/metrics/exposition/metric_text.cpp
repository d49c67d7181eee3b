#include "serving/metrics/exposition/metric_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace het::metrics {
namespace {

/// Of a label's value; the rest is cut off.
constexpr size_t kMostBytesOfLabel = 512;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Bytes of the character of UTF-8 that `text` begins with; 0: it is none.
size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) -> uint8_t {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0};
  };
  const auto follows = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    // Neither longer than it has to be nor half of a pair.
    const uint8_t low = first == 0xE0 ? 0xA0 : 0x80;
    const uint8_t high = first == 0xED ? 0x9F : 0xBF;
    return byte(1) >= low && byte(1) <= high && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const uint8_t low = first == 0xF0 ? 0x90 : 0x80;
    const uint8_t high = first == 0xF4 ? 0x8F : 0xBF;
    return byte(1) >= low && byte(1) <= high && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

void append_value(std::string& text, std::string_view value) {
  size_t taken = 0;
  while (!value.empty() && taken < kMostBytesOfLabel) {
    const size_t length = character_length(value);
    const char first = value.front();
    if (length == 0) {
      text += kReplacement;
    } else if (first == '"' || first == '\\') {
      text += '\\';
      text += first;
    } else if (first == '\n') {
      text += "\\n";
    } else {
      text += value.substr(0, length);
    }
    const size_t step = length == 0 ? 1 : length;
    value.remove_prefix(step);
    taken += step;
  }
}

/// As Go writes it, which is what OpenMetrics asks for: 1.0, 0.25, 1e-05.
std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.1f}", value);
  return fmt::format("{}", value);
}

/// A value; whole numbers without a point, which is shorter.
std::string sample_text(double value) {
  if (value == std::floor(value) && std::abs(value) < 9e15) return fmt::format("{:.0f}", value);
  return number_text(value);
}

}  // namespace

std::string_view content_type(TextFormat format) {
  return format == TextFormat::OpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

std::string label_text(Labels labels) {
  if (labels.size() == 0) return "";
  std::string text = "{";
  for (const Label& label : labels) {
    if (text.size() > 1) text += ',';
    text += label.name;
    text += "=\"";
    append_value(text, label.value);
    text += '"';
  }
  return text + '}';
}

MetricText::MetricText(TextFormat format) : format_(format), lines_(families().size()) {}

std::string& MetricText::lines_of(std::string_view name, const Family** known) {
  *known = &family(name);
  return lines_[static_cast<size_t>(*known - families().data())];
}

void MetricText::add(std::string_view name, Labels labels, double value) {
  const Family* known = nullptr;
  std::string& lines = lines_of(name, &known);
  fmt::format_to(std::back_inserter(lines), "{}{} {}\n", sample_name(*known), label_text(labels),
                 sample_text(value));
}

void MetricText::add(std::string_view name, Labels labels, const TimeHistogram& values) {
  const Family* known = nullptr;
  std::string& lines = lines_of(name, &known);
  const std::string own = label_text(labels);
  const std::string before = own.empty() ? "{" : own.substr(0, own.size() - 1) + ",";
  uint64_t below = 0;
  for (size_t i = 0; i < values.counts.size(); ++i) {
    below += values.counts[i];
    const bool is_last = i == kHistogramBounds.size();
    const std::string bound = is_last ? "+Inf" : number_text(kHistogramBounds[i]);
    fmt::format_to(std::back_inserter(lines), "{}_bucket{}le=\"{}\"}} {}\n", known->name, before,
                   bound, below);
  }
  fmt::format_to(std::back_inserter(lines), "{0}_count{1} {2}\n{0}_sum{1} {3}\n", known->name, own,
                 below, number_text(values.sum));
}

std::string MetricText::finish() const {
  std::string text;
  const bool is_open = format_ == TextFormat::OpenMetrics;
  for (size_t i = 0; i < lines_.size(); ++i) {
    if (lines_[i].empty()) continue;
    const Family& known = families()[i];
    // The older text has no info, and names counters with their ending.
    const bool is_info = known.kind == MetricKind::Info;
    const std::string name = is_open ? std::string(known.name) : sample_name(known);
    const std::string_view kind = is_info && !is_open ? "gauge" : to_string(known.kind);
    fmt::format_to(std::back_inserter(text), "# HELP {} {}\n# TYPE {} {}\n", name, known.meaning,
                   name, kind);
    if (is_open && !known.unit.empty()) {
      fmt::format_to(std::back_inserter(text), "# UNIT {} {}\n", name, known.unit);
    }
    text += lines_[i];
  }
  if (is_open) text += "# EOF\n";
  return text;
}

}  // namespace het::metrics
