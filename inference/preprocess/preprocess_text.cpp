#include "inference/preprocess/preprocess_text.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace het {
namespace {

using nlohmann::json;

constexpr size_t kMaxTextBytes = 4096;
constexpr uint64_t kMaxBorder = 65536;

constexpr std::array<std::pair<ResizeMode, std::string_view>, 4> kResizeModes{{
    {ResizeMode::Stretch, "stretch"},
    {ResizeMode::LetterboxCentre, "letterbox-centre"},
    {ResizeMode::LetterboxTopLeft, "letterbox-top-left"},
    {ResizeMode::CentralCrop, "central-crop"},
}};
constexpr std::array<std::pair<ColorOrder, std::string_view>, 3> kColorOrders{{
    {ColorOrder::BGR, "BGR"},
    {ColorOrder::RGB, "RGB"},
    {ColorOrder::Gray, "GRAY"},
}};
constexpr std::array<std::pair<Layout, std::string_view>, 2> kLayouts{{
    {Layout::NCHW, "NCHW"},
    {Layout::NHWC, "NHWC"},
}};

template <class T, size_t N>
std::string name_of(const std::array<std::pair<T, std::string_view>, N>& names, T value) {
  for (const auto& [candidate, name] : names) {
    if (candidate == value) return std::string(name);
  }
  return {};
}

/// Reads fields of one object; the first failure is kept.
class Fields {
 public:
  explicit Fields(const json& object) : object_(object) {}

  template <class T, size_t N>
  void choice(const char* key, const std::array<std::pair<T, std::string_view>, N>& names,
              T& value) {
    const auto field = object_.find(key);
    if (field != object_.end() && field->is_string()) {
      for (const auto& [candidate, name] : names) {
        if (field->get_ref<const std::string&>() != name) continue;
        value = candidate;
        return;
      }
    }
    fail(key);
  }
  void number(const char* key, float& value) {
    const auto field = object_.find(key);
    if (field == object_.end()) return fail(key);
    take(*field, key, value);
  }
  void numbers(const char* key, std::array<float, 3>& values) {
    const auto field = object_.find(key);
    if (field == object_.end() || !field->is_array() || field->size() != values.size()) {
      return fail(key);
    }
    for (size_t i = 0; i < values.size(); ++i) take((*field)[i], key, values[i]);
  }
  const char* failed() const { return failed_; }

 private:
  void fail(const char* key) {
    if (failed_ == nullptr) failed_ = key;
  }
  void take(const json& field, const char* key, float& value) {
    if (!field.is_number()) return fail(key);
    value = static_cast<float>(field.get<double>());
    if (!std::isfinite(value)) fail(key);
  }

  const json& object_;
  const char* failed_ = nullptr;
};

}  // namespace

std::string to_text(const PreprocessDesc& desc) {
  json text{{"resize", name_of(kResizeModes, desc.resize)},
            {"color_order", name_of(kColorOrders, desc.color_order)},
            {"layout", name_of(kLayouts, desc.tensor_layout)},
            {"range", {desc.range_low, desc.range_high}},
            {"mean", desc.mean},
            {"std", desc.std},
            {"pad_value", desc.pad_value}};
  if (desc.border_x != 0 || desc.border_y != 0) text["border"] = {desc.border_x, desc.border_y};
  return text.dump();
}

Result<PreprocessDesc> parse_preprocess(std::string_view text) {
  const json document =
      text.size() > kMaxTextBytes ? json() : json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) {
    return error(StatusCode::ParseError, "the preprocessing '{}' is no JSON object",
                 text.substr(0, 80));
  }
  PreprocessDesc desc;
  Fields fields(document);
  fields.choice("resize", kResizeModes, desc.resize);
  fields.choice("color_order", kColorOrders, desc.color_order);
  fields.choice("layout", kLayouts, desc.tensor_layout);
  fields.numbers("mean", desc.mean);
  fields.numbers("std", desc.std);
  fields.numbers("pad_value", desc.pad_value);
  if (document.contains("border")) {
    const json& border = document["border"];
    const auto valid = [](const json& side) {
      return side.is_number_unsigned() && side.get<uint64_t>() <= kMaxBorder;
    };
    if (!border.is_array() || border.size() != 2 || !valid(border[0]) || !valid(border[1]))
      return error(StatusCode::ParseError, "the preprocessing '{}' has no valid 'border'",
                   text.substr(0, 80));
    desc.border_x = border[0].get<int>();
    desc.border_y = border[1].get<int>();
  }
  const json range = document.value("range", json());
  if (range.is_array() && range.size() == 2) {
    const json ends{{"low", range[0]}, {"high", range[1]}};
    Fields pair(ends);
    pair.number("low", desc.range_low);
    pair.number("high", desc.range_high);
    if (pair.failed() == nullptr && fields.failed() == nullptr) return desc;
  }
  return error(StatusCode::ParseError, "the preprocessing '{}' has no valid '{}'",
               text.substr(0, 80), fields.failed() ? fields.failed() : "range");
}

}  // namespace het
