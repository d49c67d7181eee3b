#include "tools/self_test/report_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace het::self_test {
namespace {

constexpr size_t kColumns = 100;
constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

/// Lines of the report, broken between words.
class Lines {
 public:
  void title(const std::string& text) { text_ += "\n" + text + "\n"; }
  /// A name and what is said of it, in a column of its own.
  void row(const std::string& name, const std::string& value, size_t name_width = 22) {
    std::string line = fmt::format("  {:<{}} ", name, name_width);
    const size_t indent = std::max<size_t>(3 + name_width, 3);
    if (line.size() > indent) {
      text_ += line + "\n";
      line.assign(indent, ' ');
    }
    bool first = true;
    size_t at = 0;
    while (at < value.size()) {
      size_t end = value.find_first_of(" \n", at);
      if (end == std::string::npos) end = value.size();
      std::string word = value.substr(at, end - at);
      at = end + 1;
      if (word.empty()) continue;
      if (!first && line.size() + 1 + word.size() > kColumns) {
        text_ += line + "\n";
        line.assign(indent, ' ');
        first = true;
      }
      if (!first) line += ' ';
      // A word that is longer than a line is broken, too.
      while (line.size() + word.size() > kColumns) {
        const size_t fits = kColumns - line.size();
        text_ += line + word.substr(0, fits) + "\n";
        word.erase(0, fits);
        line.assign(indent, ' ');
      }
      line += word;
      first = false;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text_ += line + "\n";
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string text_of(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

void add_problem_row(Lines& lines, const nlohmann::json& json) {
  const std::string problem = text_of(json, "problem");
  if (!problem.empty()) lines.row("problem", problem);
  const std::string said = text_of(json, "said");
  if (!said.empty()) lines.row("it printed", said);
}

void add_platform(Lines& lines, const nlohmann::json& platform) {
  lines.title("Platform");
  lines.row("hetero", text_of(platform, "hetero"));
  lines.row("system", fmt::format("{}, {}, {}", text_of(platform, "system"),
                                  text_of(platform, "kernel"), text_of(platform, "architecture")));
  lines.row("processor", text_of(platform, "processor"));
  lines.row("instruction sets", text_of(platform, "instruction_sets"));
  lines.row("cores",
            fmt::format("{} (efficiency: {}), hardware threads: {}, NUMA nodes: {}",
                        text_of(platform, "cores"), text_of(platform, "efficiency_cores"),
                        text_of(platform, "hardware_threads"), text_of(platform, "numa_nodes")));
  lines.row("quota", fmt::format("processors: {}, memory: {}", text_of(platform, "quota"),
                                 text_of(platform, "memory_quota")));
  lines.row("memory",
            fmt::format("{:.1f} GiB, {:.1f} free", platform.value("memory_bytes", 0.0) / kGibibyte,
                        platform.value("memory_available_bytes", 0.0) / kGibibyte));
  for (const nlohmann::json& adapter : platform["adapters"]) {
    lines.row("graphics adapter",
              fmt::format("{}: {} {} ({}), access: {}", text_of(adapter, "node"),
                          text_of(adapter, "vendor"), text_of(adapter, "id"),
                          text_of(adapter, "kernel_driver"), text_of(adapter, "access")));
  }
  if (platform["adapters"].empty()) lines.row("graphics adapter", "none is seen");
  add_problem_row(lines, platform);
}

void add_opencl(Lines& lines, const nlohmann::json& opencl) {
  lines.title("OpenCL");
  for (const nlohmann::json& driver : opencl["drivers"]) {
    const std::string problem = text_of(driver, "problem");
    lines.row(text_of(driver, "file"),
              fmt::format("{}: {}", text_of(driver, "library"),
                          problem.empty() ? "loads" : "does not load: " + problem));
  }
  if (opencl["devices"].empty()) lines.row("devices", "none");
  for (const nlohmann::json& device : opencl["devices"]) {
    const std::string is = text_of(device, "is");
    lines.row(is.empty() ? "(not a GPU here)" : is,
              fmt::format("{}, {}, {}, driver {}, type {}", text_of(device, "name"),
                          text_of(device, "platform"), text_of(device, "version"),
                          text_of(device, "driver"), text_of(device, "type")));
    lines.row("", fmt::format("{} units, {:.1f} GiB{}, vectors of {} floats",
                              text_of(device, "compute_units"),
                              device.value("memory_bytes", 0.0) / kGibibyte,
                              device.value("unified_memory", false) ? " shared with the host" : "",
                              text_of(device, "float_width")));
    for (const nlohmann::json& feature : device["features"]) {
      const std::string detail = text_of(feature, "detail");
      lines.row("", fmt::format("{}: {}{}", text_of(feature, "name"), text_of(feature, "outcome"),
                                detail.empty() ? "" : " (" + detail + ")"));
    }
    add_problem_row(lines, device);
  }
  add_problem_row(lines, opencl);
}

void add_correctness(Lines& lines, const nlohmann::json& device) {
  const nlohmann::json& correctness = device["correctness"];
  std::map<std::string, int> counts;
  for (const nlohmann::json& one : correctness["cases"]) ++counts[text_of(one, "outcome")];
  std::string summary;
  for (const auto& [outcome, count] : counts) {
    summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", count, outcome);
  }
  lines.row("beside REF", summary.empty() ? "nothing was tried" : summary);
  for (const nlohmann::json& one : correctness["cases"]) {
    const std::string outcome = text_of(one, "outcome");
    if (outcome == "right") continue;
    lines.row("", fmt::format("{}: {}: {}", text_of(one, "case"), outcome, text_of(one, "detail")));
    const std::string said = text_of(one, "said");
    if (!said.empty()) lines.row("", "it printed: " + said);
  }
  add_problem_row(lines, correctness);
}

void add_speed(Lines& lines, const nlohmann::json& speed) {
  if (speed.contains("limits")) {
    const nlohmann::json& limits = speed["limits"];
    std::string rates;
    if (limits.contains("multiply_adds")) {
      for (const auto& [type, rate] : limits["multiply_adds"].items()) {
        rates += fmt::format("{}{} {:.1f}", rates.empty() ? "" : ", ", type, rate.get<double>());
      }
    }
    lines.row("at best",
              fmt::format("1e9 multiply-adds/s: {}; memory: copy {:.1f} GB/s, read {:.1f} "
                          "GB/s",
                          rates.empty() ? "not measured" : rates, limits.value("copy_gbytes", 0.0),
                          limits.value("read_gbytes", 0.0)));
    if (limits.contains("launch_us")) {
      lines.row("transfers", fmt::format("to the device {:.1f} GB/s, back {:.1f} GB/s",
                                         limits.value("to_device_gbytes", 0.0),
                                         limits.value("from_device_gbytes", 0.0)));
      lines.row("empty kernel", fmt::format("{:.1f} us in a row, {:.1f} us with the wait for it",
                                            limits.value("launch_us", 0.0),
                                            limits.value("launch_and_wait_us", 0.0)));
    }
  }
  for (const nlohmann::json& work : speed["work"]) {
    std::string text = text_of(work, "problem");
    if (text.empty()) {
      text = fmt::format("{:.1f}e9 multiply-adds/s", work.value("multiply_adds", 0.0));
      if (work.contains("share")) {
        text += fmt::format(", {:.0f} % of what is possible", 100.0 * work.value("share", 0.0));
      }
      text += fmt::format("; {:.2f} ms an inference", 1e-3 * work.value("inference_us", 0.0));
    }
    lines.row(text_of(work, "work"), text);
  }
  if (speed.contains("smallest_inference_us")) {
    lines.row("smallest inference",
              fmt::format("{:.0f} us", speed.value("smallest_inference_us", 0.0)));
  }
  add_problem_row(lines, speed);
}

void add_pictures(Lines& lines, const nlohmann::json& pictures) {
  lines.title("Pictures");
  if (pictures["displays"].empty()) lines.row("VA displays", "none: there is no render node");
  for (const nlohmann::json& display : pictures["displays"]) {
    const std::string problem = text_of(display, "problem");
    lines.row(text_of(display, "node"), problem.empty()
                                            ? fmt::format("VA {}, {}", text_of(display, "version"),
                                                          text_of(display, "driver"))
                                            : problem);
    for (const nlohmann::json& feature : display["features"]) {
      const std::string detail = text_of(feature, "detail");
      lines.row("", fmt::format("{}: {}{}", text_of(feature, "name"), text_of(feature, "outcome"),
                                detail.empty() ? "" : " (" + detail + ")"));
    }
  }
  for (const nlohmann::json& import : pictures["imports"]) {
    const std::string detail = text_of(import, "detail");
    lines.row(text_of(import, "device"),
              fmt::format("{}: {}{}", text_of(import, "memory"), text_of(import, "outcome"),
                          detail.empty() ? "" : " (" + detail + ")"));
  }
  add_problem_row(lines, pictures);
}

}  // namespace

std::string report_table(const nlohmann::json& report) {
  Lines lines;
  for (const nlohmann::json& verdict : report["verdicts"]) {
    lines.row(text_of(verdict, "device"), text_of(verdict, "text"), 8);
  }
  add_platform(lines, report["platform"]);
  add_opencl(lines, report["opencl"]);
  for (const nlohmann::json& device : report["devices"]) {
    lines.title(text_of(device, "device"));
    if (device.contains("properties")) {
      for (const auto& [name, value] : device["properties"].items()) {
        lines.row(name, value.get<std::string>());
      }
    }
    add_correctness(lines, device);
    add_speed(lines, device["speed"]);
  }
  add_pictures(lines, report["pictures"]);
  lines.title(fmt::format("It took {:.0f} s.", report.value("seconds", 0.0)));
  return lines.take();
}

}  // namespace het::self_test
