#include "serving/density/trial_report.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "serving/launch/json_object.h"

namespace het::density {
namespace {

using nlohmann::json;
using serving::JsonObject;

constexpr uint64_t kMostFrames = uint64_t{1} << 24;

json stream_times_json(const StreamTimes& stream) {
  json due = json::array();
  json latency = json::array();
  for (const Arrival& arrival : stream.arrivals) {
    // Microseconds are enough.
    due.push_back(std::round(arrival.due_s * 1e6) / 1e6);
    latency.push_back(std::round(arrival.latency_ms * 1e3) / 1e3);
  }
  return {{"due", stream.due}, {"due_s", std::move(due)}, {"latency_ms", std::move(latency)}};
}

bool are_numbers(const json& list) {
  for (const json& item : list) {
    if (!item.is_number() || !std::isfinite(item.get<double>())) return false;
  }
  return true;
}

StreamTimes read_stream(JsonObject& object) {
  StreamTimes stream;
  object.read("due", stream.due);
  const json* due = object.array("due_s");
  const json* latency = object.array("latency_ms");
  if (!due || !latency) return stream;
  if (due->size() != latency->size() || !are_numbers(*due) || !are_numbers(*latency)) {
    object.fail(fmt::format("'due_s' ({}) and 'latency_ms' ({}) are not numbers of as many frames",
                            due->size(), latency->size()));
    return stream;
  }
  if (due->size() > stream.due || stream.due > kMostFrames) {
    object.fail(fmt::format("{} frames arrived of {} that were due", due->size(), stream.due));
    return stream;
  }
  for (size_t i = 0; i < due->size(); ++i) {
    stream.arrivals.push_back({(*due)[i].get<double>(), (*latency)[i].get<double>()});
  }
  return stream;
}

void read_elements(JsonObject& object, std::vector<ElementTime>& elements) {
  const json* list = object.array("elements");
  if (!list) return;
  for (const json& item : *list) {
    ElementTime element;
    JsonObject of_element(item, "an element of " + object.place());
    of_element.read("element", element.element);
    of_element.read("mean_ms", element.mean_ms);
    if (const Status status = of_element.finish(); !status.ok()) {
      return object.fail(status.message());
    }
    elements.push_back(std::move(element));
  }
}

void read_notes(JsonObject& object, std::vector<std::string>& notes) {
  const json* list = object.array("notes");
  if (!list) return;
  for (const json& item : *list) {
    if (!item.is_string()) return object.fail("'notes' has something else than texts");
    notes.push_back(item.get<std::string>());
  }
}

}  // namespace

std::string TrialReport::to_line() const {
  json value = {{"window_s", window_s},
                {"streams", json::array()},
                {"cpu_s", cpu_s},
                {"memory_mib", memory_mib},
                {"ended_early", ended_early},
                {"elements", json::array()},
                {"notes", notes},
                {"error", error}};
  for (const StreamTimes& stream : streams) value["streams"].push_back(stream_times_json(stream));
  for (const ElementTime& element : elements) {
    value["elements"].push_back({{"element", element.element}, {"mean_ms", element.mean_ms}});
  }
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<TrialReport> TrialReport::parse(std::string_view line) {
  HET_ASSIGN(const json value, serving::parse_json_object(line, "a report of a trial"));
  TrialReport report;
  JsonObject object(value, "a report of a trial");
  if (value.contains("error")) object.read("error", report.error);
  if (!report.error.empty()) return report;
  object.read("window_s", report.window_s);
  object.read("cpu_s", report.cpu_s);
  object.read("memory_mib", report.memory_mib);
  if (value.contains("ended_early")) object.read("ended_early", report.ended_early);
  if (value.contains("elements")) read_elements(object, report.elements);
  if (value.contains("notes")) read_notes(object, report.notes);
  if (const json* list = object.array("streams")) {
    for (const json& item : *list) {
      JsonObject of_stream(item, fmt::format("stream {} of a report", report.streams.size() + 1));
      report.streams.push_back(read_stream(of_stream));
      if (const Status status = of_stream.finish(); !status.ok()) {
        object.fail(status.message());
        break;
      }
    }
  }
  HET_TRY(object.finish());
  if (!(report.window_s > 0) || report.streams.empty()) {
    return het::error(StatusCode::ParseError,
                      "a report of a trial has {} streams and a window of {} s; both have to be "
                      "above 0",
                      report.streams.size(), report.window_s);
  }
  return report;
}

}  // namespace het::density
