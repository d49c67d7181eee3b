#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <limits>
#include <map>

#include "inference/devices/properties.h"
#include "inference/tracking/track.h"

namespace het::tracking {
namespace {

/// Reads one value into the settings; the error says what is allowed.
using ReadValue = std::function<Status(const std::string& text)>;
using Keys = std::map<std::string, ReadValue>;

constexpr int kMaxFrames = 100000;

template <class T>
ReadValue number(T& target, T low, T high) {
  return [&target, low, high](const std::string& text) -> Status {
    T value{};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure == std::errc() && end == text.data() + text.size() && value >= low &&
        value <= high) {
      target = value;
      return {};
    }
    return error(StatusCode::InvalidArgument, "'{}' is not a number from {} to {}", text, low,
                 high);
  };
}

template <class T>
ReadValue number_or_none(std::optional<T>& target, T low, T high) {
  return [&target, low, high](const std::string& text) -> Status {
    T value{};
    HET_TRY(number(value, low, high)(text));
    target = value;
    return {};
  };
}

ReadValue yes_or_no(bool& target) {
  return [&target](const std::string& text) -> Status {
    if (text != "true" && text != "false")
      return error(StatusCode::InvalidArgument, "'{}' is neither true nor false", text);
    target = text == "true";
    return {};
  };
}

/// DL Streamer's -1 is no limit.
ReadValue object_count(size_t& target) {
  return [&target](const std::string& text) -> Status {
    int value = 0;
    HET_TRY(number(value, -1, static_cast<int>(kMaxObjects))(text));
    target = value > 0 ? static_cast<size_t>(value) : 0;
    return {};
  };
}

Status read(const char* property, const std::string& text, const Keys& keys) {
  auto values = parse_properties(text);
  if (!values) return Status(values.error()).with_context(fmt::format("property {}", property));
  for (const auto& [key, value] : *values) {
    const auto found = keys.find(key);
    if (found == keys.end()) {
      std::string known;
      for (const auto& [name, unused] : keys) known += (known.empty() ? "" : ", ") + name;
      return error(StatusCode::InvalidArgument, "property {} has no key '{}'; it knows {}",
                   property, key, known);
    }
    HET_TRY(found->second(value).with_context(fmt::format("property {}, key {}", property, key)));
  }
  return {};
}

/// Those of trackers that take low confidences.
Keys keys_of_confidences(TrackerSettings& settings) {
  return {{"track_threshold", number(settings.track_threshold, 0.0f, 1.0f)},
          {"new_threshold", number_or_none(settings.new_threshold, 0.0f, 1.0f)},
          {"low_threshold", number(settings.low_threshold, 0.0f, 1.0f)},
          {"n_init", number(settings.first_observations, 1, kMaxFrames)}};
}

ReadValue refuse_key() {
  return [](const std::string&) -> Status {
    return error(StatusCode::InvalidArgument,
                 "only the tracking types byte-track and oc-sort have it; choose one of them or "
                 "leave it out");
  };
}

Status check_order(const TrackerSettings& settings) {
  const float beginning = new_threshold(settings);
  if (settings.low_threshold <= settings.track_threshold && settings.track_threshold <= beginning)
    return {};
  return error(StatusCode::InvalidArgument,
               "property config has low_threshold {}, track_threshold {} and new_threshold {}; "
               "none may be above the next one",
               settings.low_threshold, settings.track_threshold, beginning);
}

}  // namespace

Status read_tracker_config(const std::string& config, const std::string& deep_sort,
                           TrackerSettings& settings) {
  const auto text = [](std::string& target) -> ReadValue {
    return [&target](const std::string& value) -> Status {
      target = value;
      return {};
    };
  };
  Keys keys = {{"tracking_per_class", yes_or_no(settings.per_class)},
               {"max_num_objects", object_count(settings.max_objects)},
               {"max_age", number(settings.max_age, 1, kMaxFrames)},
               {"max_prediction", number(settings.max_prediction, 0, kMaxFrames)}};
  for (const auto& [key, value] : keys_of_confidences(settings)) {
    keys[key] = takes_low_confidences(settings.type) ? value : refuse_key();
  }
  HET_TRY(read("config", config, keys));
  HET_TRY(check_order(settings));
  return read("deepsort-trck-cfg", deep_sort,
              {{"max_iou_distance", number(settings.max_overlap_distance, 0.0f, 1.0f)},
               {"max_age", number(settings.max_age, 1, kMaxFrames)},
               {"n_init", number(settings.confirmations, 1, kMaxFrames)},
               {"max_cosine_distance", number(settings.max_cosine_distance, 0.0f, 2.0f)},
               {"nn_budget", number(settings.feature_budget, size_t{0}, size_t{100000})},
               {"object_class", text(settings.object_class)},
               {"reid_max_age", number(settings.reappearance_age, 0, kMaxFrames)}});
}

}  // namespace het::tracking
