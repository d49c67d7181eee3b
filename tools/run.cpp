#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "devices/register_devices.h"
#include "inference/base/new_file.h"
#include "inference/vision_model.h"
#include "tools/commands.h"
#include "tools/model_source.h"
#include "tools/npy.h"
#include "tools/picture_file.h"

namespace het {
namespace {

struct RunOptions {
  std::string model;
  std::string device = "CPU";
  std::vector<std::string> inputs;  ///< NAME=FILE.npy
  std::string image;
  std::string model_proc;
  std::string labels_file;
  float threshold = 0.0f;
  std::string output;
  std::string properties;
  PreparationOptions preparation;
};

Status write_outputs(const InferRequest& request, const std::string& folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) {
    return error(StatusCode::NotFound, "cannot create folder '{}': {}", folder, code.message());
  }
  nlohmann::json outputs = nlohmann::json::array();
  const std::vector<Port>& ports = request.compiled_model().outputs();
  for (size_t k = 0; k < ports.size(); ++k) {
    const std::string file = fmt::format("output_{}.npy", k);
    const Tensor& tensor = request.output(k);
    HET_TRY(write_npy(folder + "/" + file, tensor));
    outputs.push_back({{"name", ports[k].name},
                       {"type", std::string(to_string(tensor.type()))},
                       {"shape", tensor.shape()},
                       {"file", file}});
  }
  return write_new_file(folder + "/outputs.json",
                        nlohmann::json({{"outputs", outputs}}).dump(1) + '\n');
}

void print_results(const Results& results) {
  for (const Detection& d : results.detections) {
    std::printf("%-16s %.4f  (%.1f, %.1f) - (%.1f, %.1f)\n",
                d.label.empty() ? std::to_string(d.label_id).c_str() : d.label.c_str(),
                static_cast<double>(d.confidence), static_cast<double>(d.x_min),
                static_cast<double>(d.y_min), static_cast<double>(d.x_max),
                static_cast<double>(d.y_max));
  }
  for (const Classification& c : results.classifications) {
    std::printf("%s: %s %.4f\n", c.attribute.c_str(),
                c.label.empty() ? std::to_string(c.label_id).c_str() : c.label.c_str(),
                static_cast<double>(c.confidence));
  }
  if (results.detections.empty() && results.classifications.empty()) std::printf("nothing found\n");
}

Status run_on_picture(Core& core, const RunOptions& options, const Properties& properties) {
  VisionModelSettings settings;
  settings.model = options.model;
  settings.model_proc = options.model_proc;
  settings.labels_file = options.labels_file;
  settings.device = options.device;
  settings.properties = properties;
  HET_TRY(add_as_properties(options.preparation, settings.properties));
  HET_ASSIGN(const Image image, read_picture(options.image));
  HET_ASSIGN(const auto model, VisionModel::load(core, settings));
  HET_ASSIGN(const auto request, model->compiled().create_infer_request());
  HET_TRY(model->set_picture(*request, image, image.full()));
  HET_TRY(request->infer());
  HET_ASSIGN(const Results results, model->results(*request, image.width, image.height,
                                                   image.full(), 0, options.threshold));
  print_results(results);
  return options.output.empty() ? Status() : write_outputs(*request, options.output);
}

Status run_on_tensors(Core& core, const RunOptions& options, const Properties& properties) {
  std::vector<std::string> names;
  for (const std::string& input : options.inputs)
    names.push_back(input.substr(0, input.rfind('=')));
  HET_ASSIGN(const auto model, read_model(core, options.model, options.preparation, names));
  HET_TRY(prepare(options.preparation, *model)
              .with_context(fmt::format("cannot prepare model '{}'", options.model)));
  std::vector<std::pair<size_t, Tensor>> tensors;
  std::map<std::string, Shape> shapes;
  for (const std::string& input : options.inputs) {
    const size_t equals = input.rfind('=');
    if (equals == std::string::npos) {
      return error(StatusCode::InvalidArgument, "--input takes NAME=FILE.npy, not '{}'", input);
    }
    HET_ASSIGN(const size_t index, find_input(*model, input.substr(0, equals)));
    HET_ASSIGN(Tensor tensor, read_npy(input.substr(equals + 1)));
    shapes[model->inputs()[index].value->name()] = tensor.shape();
    tensors.emplace_back(index, std::move(tensor));
  }
  HET_TRY(model->reshape(shapes));
  for (const ModelInput& input : model->inputs()) {
    if (shapes.count(input.value->name()) > 0) continue;
    return error(StatusCode::InvalidArgument,
                 "input '{}' ({}) is not given: add --input {}=FILE.npy or use --image",
                 input.value->name(), to_string(input.value->desc()), input.value->name());
  }
  HET_ASSIGN(const auto compiled, core.compile_model(*model, options.device, properties));
  HET_ASSIGN(const auto request, compiled->create_infer_request());
  for (auto& [index, tensor] : tensors) HET_TRY(request->set_input(index, std::move(tensor)));
  HET_TRY(request->infer());
  return write_outputs(*request, options.output);
}

Status run(const RunOptions& options) {
  const std::shared_ptr<Core> core = het::core();
  HET_ASSIGN(const Properties properties, parse_properties(options.properties));
  if (!options.image.empty()) return run_on_picture(*core, options, properties);
  if (options.output.empty()) {
    return error(StatusCode::InvalidArgument, "--output DIR is needed: where the tensors go");
  }
  return run_on_tensors(*core, options, properties);
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("run", "Run a model once on tensors or on a picture");
  auto options = std::make_shared<RunOptions>();
  command->add_option("model", options->model, "Model file")->required();
  command->add_option("-d,--device", options->device, "Device");
  command->add_option("--input", options->inputs,
                      "NAME=FILE.npy, once per input; initialisers that the file lists as inputs "
                      "may be given, too");
  command->add_option("--image", options->image, "Picture to run on; prints the decoded result");
  command->add_option("--model-proc", options->model_proc, "Descriptor of the model");
  command->add_option("--labels-file", options->labels_file, "One label per line");
  command->add_option("--threshold", options->threshold, "Minimum confidence");
  command->add_option("--output", options->output, "Folder for output_<k>.npy and outputs.json");
  add_preparation_options(*command, options->preparation);
  command->add_option("--properties", options->properties, "KEY=VALUE,KEY=VALUE of the device");
  command->callback([options, &exit_status] {
    const Status status = run(*options);
    exit_status = status.ok() ? kExitOk : report(status);
  });
}

}  // namespace het
