#include "serving/tune/tune_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace het::serving {
namespace {

using nlohmann::json;

std::string shown_value(const std::string& value) {
  return value.empty() ? "unset" : value;
}

const char* decision_name(TuneDecision decision) {
  switch (decision) {
    case TuneDecision::Taken:
      return "taken";
    case TuneDecision::NoGain:
      return "no gain";
    case TuneDecision::Refused:
      return "refused";
    case TuneDecision::Failed:
      return "failed";
    case TuneDecision::NotDecided:
      break;
  }
  return "not decided";
}

/// Messages of elements have several lines.
std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string table(const TuneReport& report) {
  const auto& attempts = report.result.attempts;
  size_t width = 0;
  size_t ratio_width = 0;
  for (const TuneAttempt& attempt : attempts) {
    width = std::max(width, attempt_text(report.settings, attempt).size());
    if (attempt.ratio) ratio_width = std::max(ratio_width, ratio_text(*attempt.ratio).size());
  }
  std::string text;
  for (const TuneAttempt& attempt : attempts) {
    text += fmt::format("  {:<{}}  {:<{}}  {}\n", attempt_text(report.settings, attempt), width,
                        attempt.ratio ? ratio_text(*attempt.ratio) : "", ratio_width,
                        decision_text(attempt));
  }
  return text;
}

std::string end_reason(const TuneReport& report) {
  if (!report.result.failure.empty()) {
    return "until a pipeline that had played before failed";
  }
  if (report.was_stopped) return "ended by the user before everything was tried";
  if (report.result.is_complete) return "a whole round brought nothing new";
  return "the time was over before everything was tried";
}

std::string outcome(const TuneReport& report) {
  const bool has_gained =
      std::ranges::any_of(report.result.best, [](size_t value) { return value != 0; });
  if (!has_gained) return "nothing that was tried is faster beyond doubt: stay with\n";
  if (!report.result.gain) {
    return "the best so far, which was not compared with the pipeline as given again:\n";
  }
  const RatioInterval& gain = *report.result.gain;
  const std::string beside =
      fmt::format("[{:.3f} .. {:.3f}] by {} {}, {:.0f} % sure", gain.low, gain.high, gain.pairs,
                  gain.pairs == 1 ? "pair" : "pairs", 100 * gain.confidence);
  const std::string times =
      fmt::format("{:.3f} times as fast as the pipeline as given ({})", gain.median, beside);
  if (gain.low <= 1) return times + ", which is no sure gain:\n";
  return times + ":\n";
}

std::string why(const TuneReport& report) {
  std::string text;
  for (size_t i = 0; i < report.settings.size(); ++i) {
    const size_t value = report.result.best[i];
    if (value == 0) continue;
    const TuneSetting& setting = report.settings[i];
    text += fmt::format("  {} {}: {} instead of {}\n", setting.element, setting.name,
                        shown_value(setting.values[value]), shown_value(setting.values[0]));
  }
  return text;
}

json ratio_json(const std::optional<RatioInterval>& ratio) {
  if (!ratio) return nullptr;
  return {{"median", ratio->median},
          {"low", ratio->low},
          {"high", ratio->high},
          {"confidence", ratio->confidence},
          {"pairs", ratio->pairs}};
}

}  // namespace

std::string attempt_text(const std::vector<TuneSetting>& settings, const TuneAttempt& attempt) {
  const TuneSetting& setting = settings[attempt.setting];
  return fmt::format("{} {} {}", setting.element, setting.name,
                     shown_value(setting.values[attempt.value]));
}

std::string ratio_text(const RatioInterval& ratio) {
  return fmt::format("{:.3f} [{:.3f} .. {:.3f}] of {} {}", ratio.median, ratio.low, ratio.high,
                     ratio.pairs, ratio.pairs == 1 ? "pair" : "pairs");
}

std::string decision_text(const TuneAttempt& attempt) {
  const std::string name = decision_name(attempt.decision);
  switch (attempt.decision) {
    case TuneDecision::Refused:
      return name + ": detections differ by " + one_line(attempt.reason);
    case TuneDecision::Failed:
      return name + ": " + one_line(attempt.reason);
    default:
      return name;
  }
}

std::string report_text(const TuneReport& report) {
  std::string text = fmt::format("tried in {:.0f} s, {}:\n", report.seconds, end_reason(report));
  text += table(report);
  if (report.not_compared.empty()) {
    text += fmt::format("results compared on {} frames with {} objects, bound {:g}\n",
                        report.compared_frames, report.compared_objects, report.bound);
  } else {
    text += "results not compared: " + report.not_compared +
            "; only settings that do not change results were tried\n";
  }
  return text + outcome(report) + why(report);
}

std::string report_json(const TuneReport& report) {
  json attempts = json::array();
  for (const TuneAttempt& attempt : report.result.attempts) {
    const TuneSetting& setting = report.settings[attempt.setting];
    attempts.push_back({{"round", attempt.round},
                        {"element", setting.element},
                        {"setting", setting.name},
                        {"value", setting.values[attempt.value]},
                        {"decision", decision_name(attempt.decision)},
                        {"ratio", ratio_json(attempt.ratio)},
                        {"reason", attempt.reason}});
  }
  json changes = json::array();
  for (size_t i = 0; i < report.settings.size(); ++i) {
    const TuneSetting& setting = report.settings[i];
    if (report.result.best[i] == 0) continue;
    changes.push_back({{"element", setting.element},
                       {"setting", setting.name},
                       {"given", setting.values[0]},
                       {"value", setting.values[report.result.best[i]]}});
  }
  const json value = {{"given", report.given_line},
                      {"best", report.best_line},
                      {"gain", ratio_json(report.result.gain)},
                      {"changes", changes},
                      {"attempts", attempts},
                      {"complete", report.result.is_complete},
                      {"stopped", report.was_stopped},
                      {"failure", report.result.failure},
                      {"seconds", report.seconds},
                      {"compared",
                       {{"frames", report.compared_frames},
                        {"objects", report.compared_objects},
                        {"bound", report.bound},
                        {"why_not", report.not_compared}}}};
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace het::serving
