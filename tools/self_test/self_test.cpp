#include "tools/self_test/self_test.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/commands.h"
#include "tools/self_test/child_part.h"
#include "tools/self_test/correctness.h"
#include "tools/self_test/platform.h"
#include "tools/self_test/private_words.h"
#include "tools/self_test/report_table.h"
#include "tools/self_test/verdict.h"

namespace het::self_test {
namespace {

using TestClock = std::chrono::steady_clock;

/// All of it, on anybody's machine; what does not fit in is said.
constexpr double kMostSeconds = 112.0;
/// After so many crashes or hangs the rest of a device's cases is left alone.
constexpr int kMostCrashes = 2;

/// Limits of the parts, in seconds: silence, total.
constexpr PartLimits kListing{10.0, 20.0};
constexpr PartLimits kFeatures{12.0, 20.0};
constexpr PartLimits kCorrectness{20.0, 60.0};
constexpr PartLimits kSpeed{15.0, 45.0};
constexpr PartLimits kPictures{10.0, 20.0};

class SelfTest {
 public:
  explicit SelfTest(const SelfTestOptions& options) : options_(options) {
    for (const std::string& library : options.device_libraries) {
      before_.insert(before_.end(), {"--device-library", library});
    }
  }

  nlohmann::json run() {
    nlohmann::json report;
    progress("platform");
    report["self_test"] = 1;
    report["platform"] = describe_platform();
    report["opencl"] = opencl();
    find_devices(report);
    for (nlohmann::json& device : report["devices"]) device["correctness"] = correctness(device);
    for (nlohmann::json& device : report["devices"]) device["speed"] = speed(device);
    report["pictures"] = pictures(report["devices"]);
    add_verdicts(report);
    report["seconds"] = seconds();
    take_words_out(report, private_words());
    clear_progress();
    return report;
  }

 private:
  double seconds() const {
    return std::chrono::duration<double>(TestClock::now() - start_).count();
  }

  void progress(const std::string& what) const {
    if (::isatty(2) != 0) {
      std::fprintf(stderr, "\r\33[K%3.0f s  %s", seconds(), what.c_str());
    } else {
      std::fprintf(stderr, "%3.0f s  %s\n", seconds(), what.c_str());
    }
  }
  static void clear_progress() {
    if (::isatty(2) != 0) std::fprintf(stderr, "\r\33[K");
  }

  PartOutcome part(const std::vector<std::string>& words, PartLimits limits,
                   const std::string& of) const {
    limits.total_s = std::min(limits.total_s, kMostSeconds - seconds());
    if (limits.total_s < 1.0) {
      PartOutcome outcome;
      outcome.problem = "not tried: the two minutes were over; try one device with -d";
      return outcome;
    }
    return run_part_in_child(before_, words, limits, [&](const std::string& what) {
      progress(of.empty() ? what : of + ": " + what);
    });
  }

  /// "the driver crashed (signal 11, Segmentation fault) while timing a matrix product".
  static std::string problem_text(const PartOutcome& outcome) {
    if (outcome.problem.empty() || outcome.doing.empty()) return outcome.problem;
    return fmt::format("{} while {}", outcome.problem, outcome.doing);
  }
  static void add_problem(nlohmann::json& json, const PartOutcome& outcome) {
    json["problem"] = problem_text(outcome);
    json["ended_early"] = true;
    if (!outcome.said.empty()) json["said"] = outcome.said;
  }

  nlohmann::json opencl() const {
    const PartOutcome outcome = part({"opencl"}, kListing, "");
    nlohmann::json json = {{"devices", nlohmann::json::array()},
                           {"drivers", nlohmann::json::array()},
                           {"problem", ""}};
    if (!outcome.results.empty()) json = outcome.results.front();
    if (!outcome.complete) add_problem(json, outcome);
    size_t listed = 0;
    for (nlohmann::json& device : json["devices"]) {
      const std::string number = std::to_string(listed++);
      device["features"] = nlohmann::json::array();
      if (!device.value("available", false)) continue;
      const PartOutcome tried =
          part({"features", number}, kFeatures, device.value("name", std::string()));
      for (const nlohmann::json& result : tried.results) device.update(result);
      if (!tried.complete) add_problem(device, tried);
    }
    return json;
  }

  void find_devices(nlohmann::json& report) const {
    report["devices"] = nlohmann::json::array();
    report["missing"] = nlohmann::json::array();
    std::vector<std::string> words{"devices"};
    if (!options_.device.empty()) words.push_back(options_.device);
    PartOutcome outcome = part(words, kListing, "");
    if (!outcome.complete && options_.device.empty()) {
      // A driver that cannot even be opened does not keep us from the others.
      const std::string first_problem = problem_text(outcome);
      outcome = part({"devices", "CPU"}, kListing, "");
      outcome.results.push_back({{"missing", "GPU"}, {"reason", first_problem}, {"crashed", true}});
    } else if (!outcome.complete) {
      outcome.results.push_back(
          {{"missing", options_.device}, {"reason", problem_text(outcome)}, {"crashed", true}});
    }
    for (const nlohmann::json& result : outcome.results) {
      report[result.contains("device") ? "devices" : "missing"].push_back(result);
    }
    report["asked_for"] = options_.device;
  }

  nlohmann::json correctness(const nlohmann::json& device) const {
    const std::string name = device["device"];
    nlohmann::json cases = nlohmann::json::array();
    nlohmann::json json = {{"problem", ""}};
    size_t next = 0;
    for (int crashes = 0; next < correctness_cases(); ++crashes) {
      if (crashes == kMostCrashes) {
        json["problem"] = "the other cases were not tried after two crashes or hangs";
        break;
      }
      const PartOutcome outcome =
          part({"correctness", name, std::to_string(next)}, kCorrectness, name);
      for (const nlohmann::json& result : outcome.results) {
        cases.push_back(result);
        next = result.value("number", next) + 1;
      }
      if (outcome.complete) break;
      if (outcome.doing.empty() || next >= correctness_cases()) {
        add_problem(json, outcome);
        break;
      }
      cases.push_back({{"case", outcome.doing},
                       {"number", next},
                       {"outcome", "crashed"},
                       {"detail", outcome.problem}});
      if (!outcome.said.empty()) cases.back()["said"] = outcome.said;
      ++next;
    }
    json["cases"] = std::move(cases);
    return json;
  }

  nlohmann::json speed(const nlohmann::json& device) const {
    const std::string name = device["device"];
    const PartOutcome outcome = part({"speed", name}, kSpeed, name);
    nlohmann::json json = {{"work", nlohmann::json::array()}, {"problem", ""}};
    for (const nlohmann::json& result : outcome.results) {
      if (result.contains("work")) {
        json["work"].push_back(result);
      } else {
        json.update(result);
      }
    }
    if (!outcome.complete) add_problem(json, outcome);
    add_shares(json);
    return json;
  }
  static void add_shares(nlohmann::json& speed) {
    double best = 0.0;
    if (speed.contains("limits") && speed["limits"].contains("multiply_adds")) {
      best = speed["limits"]["multiply_adds"].value("f32", 0.0);
    }
    for (nlohmann::json& work : speed["work"]) {
      if (best > 0.0 && work.contains("multiply_adds")) {
        work["share"] = work.value("multiply_adds", 0.0) / best;
      }
    }
  }

  nlohmann::json pictures(const nlohmann::json& devices) const {
    std::vector<std::string> words{"pictures", options_.video_node};
    for (const nlohmann::json& device : devices) words.push_back(device["device"]);
    const PartOutcome outcome = part(words, kPictures, "");
    nlohmann::json json = {{"displays", nlohmann::json::array()},
                           {"imports", nlohmann::json::array()},
                           {"problem", ""}};
    for (const nlohmann::json& result : outcome.results) {
      if (result.contains("display")) json["displays"].push_back(result["display"]);
      if (result.contains("import")) json["imports"].push_back(result["import"]);
    }
    if (!outcome.complete) add_problem(json, outcome);
    return json;
  }

  const SelfTestOptions& options_;
  std::vector<std::string> before_;
  const TestClock::time_point start_ = TestClock::now();
};

Status write_report(const std::string& path, const nlohmann::json& report) {
  std::ofstream file(path);
  file << report.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  file.close();
  if (file) return {};
  return error(StatusCode::InvalidArgument,
               "cannot write the report to '{}': {}; name a file in a folder that exists and may "
               "be written",
               path, std::strerror(errno));
}

}  // namespace

int run_self_test(const SelfTestOptions& options) {
  if (!options.json.empty()) {
    // Before the minutes that it takes.
    std::ofstream file(options.json, std::ios::app);
    if (!file) return report(write_report(options.json, {}));
  }
  const nlohmann::json result = SelfTest(options).run();
  std::fputs(report_table(result).c_str(), stdout);
  if (!options.json.empty()) {
    const Status written = write_report(options.json, result);
    if (!written.ok()) return report(written);
    std::printf("Everything is in %s.\n", options.json.c_str());
  }
  return result.value("right", false) ? kExitOk : kExitFailed;
}

}  // namespace het::self_test
