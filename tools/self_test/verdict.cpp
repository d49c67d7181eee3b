#include "tools/self_test/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace het::self_test {
namespace {

/// Of what the device can do: less than this is slow.
constexpr double kFastShare = 0.25;
constexpr const char* kSend = "please send the report (--json FILE)";

/// Names of the cases with one of the outcomes, separated by commas.
std::string cases_with(const nlohmann::json& cases, std::initializer_list<const char*> outcomes) {
  std::string names;
  for (const nlohmann::json& one : cases) {
    const std::string outcome = one.value("outcome", "");
    for (const char* wanted : outcomes) {
      if (outcome == wanted)
        names += (names.empty() ? "" : ", ") + one.value("case", std::string());
    }
  }
  return names;
}

/// The geometric mean of a number of the work, each at most `most`; negative where none has it.
double mean_of(const nlohmann::json& speed, const char* key, double most) {
  double sum = 0.0;
  int count = 0;
  for (const nlohmann::json& work : speed["work"]) {
    const double value = std::min(work.value(key, 0.0), most);
    if (value <= 0.0) continue;
    sum += std::log(value);
    ++count;
  }
  return count == 0 ? -1.0 : std::exp(sum / count);
}

/// How it compares with the CPU device, where the CPU is faster.
std::string beside_cpu(const nlohmann::json& device, const nlohmann::json& devices) {
  if (device.value("device", "") == "CPU") return {};
  for (const nlohmann::json& other : devices) {
    if (other.value("device", "") != "CPU") continue;
    constexpr double kAny = std::numeric_limits<double>::max();
    const double ratio = mean_of(other["speed"], "multiply_adds", kAny) /
                         mean_of(device["speed"], "multiply_adds", kAny);
    if (ratio > 1.05) return fmt::format("; the CPU is {:.1f} times as fast", ratio);
  }
  return {};
}

struct Verdict {
  bool right = true;
  std::string text;
};

Verdict wrong(std::string text) {
  return {false, std::move(text)};
}

std::string wrong_imports(const nlohmann::json& pictures, const std::string& device) {
  std::string names;
  for (const nlohmann::json& import : pictures["imports"]) {
    const std::string outcome = import.value("outcome", "");
    if (import.value("device", "") != device || (outcome != "wrong" && outcome != "failed")) {
      continue;
    }
    names += (names.empty() ? "" : ", ") + import.value("memory", std::string());
  }
  return names;
}

Verdict verdict_of(const nlohmann::json& device, const nlohmann::json& report) {
  const nlohmann::json& correctness = device["correctness"];
  const nlohmann::json& cases = correctness["cases"];
  const std::string wrongs = cases_with(cases, {"wrong"});
  if (!wrongs.empty()) {
    return wrong(fmt::format("WRONG RESULTS in {}: do not use it; {}", wrongs, kSend));
  }
  const std::string crashes = cases_with(cases, {"crashed"});
  if (!crashes.empty()) {
    return wrong(
        fmt::format("the driver crashes or hangs in {}: do not use it; update the driver, "
                    "then {}",
                    crashes, kSend));
  }
  const std::string failures = cases_with(cases, {"failed"});
  if (!failures.empty()) {
    return wrong(
        fmt::format("FAILS in {}: do not use it; update the driver, then {}", failures, kSend));
  }
  const std::string problem = correctness.value("problem", "");
  if (!problem.empty()) return wrong(fmt::format("not all was tried: {}", problem));
  const std::string right = cases_with(cases, {"right"});
  if (right.empty()) return wrong(fmt::format("it runs none of the models; {}", kSend));
  const std::string imports = wrong_imports(report["pictures"], device.value("device", ""));
  if (!imports.empty()) {
    return wrong(
        fmt::format("right, but WRONG PICTURES from {}: do not give it such; {}", imports, kSend));
  }
  const std::string refused = cases_with(cases, {"refused"});
  const std::string rest =
      refused.empty() ? "" : fmt::format(" (left to other devices: {})", refused);
  const nlohmann::json& speed = device["speed"];
  if (!speed.value("problem", "").empty()) {
    return wrong(
        fmt::format("right, but timing it failed: {}; {}", speed.value("problem", ""), kSend));
  }
  std::string slow_work;
  for (const nlohmann::json& work : speed["work"]) {
    if (work.contains("problem")) slow_work = work.value("problem", "");
  }
  if (!slow_work.empty())
    return wrong(fmt::format("right, but FAILS at larger work: {}", slow_work));
  // More than all is possible: Winograd's convolutions multiply less than the definition.
  const double share = mean_of(speed, "share", 1.0);
  if (share < 0.0) return {true, "right; what it does at best was not measured" + rest};
  const std::string reached = fmt::format("reaches {:.0f} % of what it can do", 100.0 * share) +
                              beside_cpu(device, report["devices"]);
  if (share >= kFastShare) return {true, fmt::format("right and fast: {}{}", reached, rest)};
  return {true,
          fmt::format("right but slow: {}{}; if the machine is idle, {}", reached, rest, kSend)};
}

/// What gives a machine with such adapters its OpenCL, as Debian's packages are called.
std::string driver_advice(const nlohmann::json& platform) {
  std::string advice;
  for (const nlohmann::json& adapter : platform["adapters"]) {
    const std::string vendor = adapter.value("vendor", "");
    const std::string access = adapter.value("access", "");
    std::string text;
    if (access != "yes") {
      text = fmt::format("{}: {}", adapter.value("node", ""), access);
      if (access.find("user") != std::string::npos) text += ": add it to the group render";
    } else if (vendor == "Intel") {
      text = "install intel-opencl-icd";
    } else if (vendor == "AMD") {
      text = "install mesa-opencl-icd, or AMD's ROCm";
    } else if (vendor == "NVIDIA") {
      text = "install nvidia-opencl-icd";
    }
    if (!text.empty() && advice.find(text) == std::string::npos) {
      advice += (advice.empty() ? "" : "; ") + text;
    }
  }
  if (advice.empty()) {
    return "no graphics adapter is seen either; with one, install its OpenCL driver "
           "(intel-opencl-icd, mesa-opencl-icd, nvidia-opencl-icd)";
  }
  return advice;
}

std::string missing_gpu(const nlohmann::json& report) {
  const nlohmann::json& opencl = report["opencl"];
  const std::string advice = driver_advice(report["platform"]);
  std::string broken;
  for (const nlohmann::json& driver : opencl["drivers"]) {
    const std::string problem = driver.value("problem", "");
    if (problem.empty()) continue;
    broken += fmt::format("{}{} ('{}': {})", broken.empty() ? "" : ", ", driver.value("file", ""),
                          driver.value("library", ""), problem);
  }
  if (!opencl["devices"].empty()) {
    return fmt::format(
        "none: OpenCL has other devices only (HETERO_GPU_ALLOW_CPU=1 tries OpenCL on "
        "a CPU); {}{}",
        broken.empty() ? "" : "drivers that do not load: " + broken + "; ", advice);
  }
  if (!broken.empty()) {
    return fmt::format(
        "none: no OpenCL driver loads: {}; install its package again, or remove the "
        "file; {}",
        broken, advice);
  }
  return fmt::format("none: no OpenCL driver was found: {}", advice);
}

}  // namespace

void add_verdicts(nlohmann::json& report) {
  nlohmann::json verdicts = nlohmann::json::array();
  bool all_right = !report["devices"].empty();
  const auto add = [&](const std::string& device, bool right, const std::string& text) {
    verdicts.push_back({{"device", device}, {"right", right}, {"text", text}});
    all_right = all_right && right;
  };
  for (const nlohmann::json& device : report["devices"]) {
    const Verdict verdict = verdict_of(device, report);
    add(device.value("device", ""), verdict.right, verdict.text);
  }
  for (const nlohmann::json& missing : report["missing"]) {
    const std::string kind = missing.value("missing", "");
    const std::string reason = missing.value("reason", "");
    if (missing.value("crashed", false)) {
      add(kind, false,
          fmt::format("cannot be opened: {}; update the driver, then {}", reason, kSend));
    } else if (!report.value("asked_for", "").empty()) {
      add(kind, false, "is not there: " + reason);
    } else {
      add(kind, true, kind == "GPU" ? missing_gpu(report) : "none: " + reason);
    }
  }
  if (report["opencl"].contains("ended_early")) {
    add("OpenCL", false, fmt::format("{}; {}", report["opencl"].value("problem", ""), kSend));
  }
  for (const nlohmann::json& device : report["opencl"]["devices"]) {
    const bool counts = !device.value("is", "").empty();
    if (!counts || !device.contains("ended_early")) continue;
    add(device.value("is", ""), false, fmt::format("{}; {}", device.value("problem", ""), kSend));
  }
  const std::string pictures = report["pictures"].value("problem", "");
  if (!pictures.empty()) add("pictures", false, fmt::format("{}; {}", pictures, kSend));
  report["verdicts"] = std::move(verdicts);
  report["right"] = all_right;
}

}  // namespace het::self_test
