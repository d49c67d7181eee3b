#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "devices/register_devices.h"
#include "tools/commands.h"
#include "tools/verify_case.h"

namespace het {

CaseResult case_result(std::string name, const Status& status) {
  const CaseOutcome outcome = status.ok()                                 ? CaseOutcome::Passed
                              : status.code() == StatusCode::NotSupported ? CaseOutcome::Skipped
                                                                          : CaseOutcome::Failed;
  return {std::move(name), outcome, status.message()};
}

namespace {

namespace fs = std::filesystem;

struct VerifyOptions {
  std::vector<std::string> folders;
  std::string device = "CPU";
  std::string root;
  std::string precision = "f32";
  std::string mode = "ACCURACY";
  std::string properties;
  double cosine = 0;
  bool json = false;
};

bool is_golden(const fs::path& folder) {
  return fs::exists(folder / "golden.json");
}

bool is_onnx_test(const fs::path& folder) {
  return fs::exists(folder / "model.onnx") && fs::exists(folder / "test_data_set_0");
}

Result<std::vector<fs::path>> find_cases(const std::vector<std::string>& folders) {
  std::vector<fs::path> cases;
  for (const std::string& folder : folders) {
    if (!fs::is_directory(folder)) {
      return error(StatusCode::NotFound, "there is no folder '{}'", folder);
    }
    if (is_golden(folder) || is_onnx_test(folder)) cases.emplace_back(folder);
    std::error_code code;
    for (auto it = fs::recursive_directory_iterator(folder, code);
         it != fs::recursive_directory_iterator(); it.increment(code)) {
      if (!code && it->is_directory() && (is_golden(*it) || is_onnx_test(*it))) {
        cases.push_back(it->path());
      }
    }
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

constexpr const char* kOutcomeNames[] = {"passed", "FAILED", "skipped"};

Result<bool> verify(const VerifyOptions& options) {
  const std::shared_ptr<Core> core = het::core();
  HET_ASSIGN(const std::vector<fs::path> cases, find_cases(options.folders));
  if (cases.empty()) {
    return error(StatusCode::NotFound,
                 "there is no test under {}: no golden.json and no model.onnx with "
                 "test_data_set_0",
                 fmt::format("'{}'", options.folders.front()));
  }
  HET_ASSIGN(Properties properties, parse_properties(options.properties));
  properties.insert(
      {{"INFERENCE_PRECISION_HINT", options.precision}, {"EXECUTION_MODE_HINT", options.mode}});
  const VerifyContext context{*core, options.device, std::move(properties), options.root,
                              options.cosine};
  // A wrong device or property is one error, not one per case.
  if (auto query = core->query_model(Model(), options.device, context.properties); !query) {
    return Failure(query.error());
  }
  size_t counts[3] = {0, 0, 0};
  nlohmann::json list = nlohmann::json::array();
  for (const fs::path& folder : cases) {
    const CaseResult result = is_golden(folder) ? verify_golden_folder(context, folder)
                                                : verify_onnx_folder(context, folder);
    const auto outcome = static_cast<size_t>(result.outcome);
    ++counts[outcome];
    if (options.json) {
      list.push_back({{"name", result.name},
                      {"outcome", outcome == 1 ? "failed" : kOutcomeNames[outcome]},
                      {"reason", result.reason}});
    } else if (result.outcome == CaseOutcome::Passed) {
      std::printf("passed  %s\n", result.name.c_str());
    } else {
      std::printf("%s %s: %s\n", kOutcomeNames[outcome], result.name.c_str(),
                  result.reason.c_str());
    }
    std::fflush(stdout);
  }
  if (options.json) {
    const nlohmann::json summary = {{"device", options.device},
                                    {"passed", counts[0]},
                                    {"failed", counts[1]},
                                    {"skipped", counts[2]},
                                    {"cases", std::move(list)}};
    std::printf("%s\n", summary.dump(1).c_str());
  } else {
    std::printf("%zu passed, %zu failed, %zu skipped\n", counts[0], counts[1], counts[2]);
  }
  return counts[1] == 0;
}

}  // namespace

void add_verify_command(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("verify", "Compare a device's outputs with recorded ones");
  auto options = std::make_shared<VerifyOptions>();
  command->add_option("folders", options->folders, "Folders with tests, at any depth")->required();
  command->add_option("-d,--device", options->device, "Device");
  command->add_option("--root", options->root, "Where the model paths of golden.json start");
  command->add_option("--infer_precision", options->precision, "f32, bf16, f16 or dynamic");
  command->add_option("--execution_mode", options->mode,
                      "ACCURACY (default) or PERFORMANCE: quantised models in int8");
  command->add_option("--properties", options->properties, "KEY=VALUE,KEY=VALUE of the device");
  command
      ->add_option("--cosine", options->cosine,
                   "Ask for this cosine similarity of golden outputs only (0.999 for a device that "
                   "computes in float16)")
      ->check(CLI::Range(0.0, 1.0));
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &exit_status] {
    const auto all = verify(*options);
    exit_status = !all ? report(all.error()) : *all ? kExitOk : kExitFailed;
  });
}

}  // namespace het
