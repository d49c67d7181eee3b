#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "devices/register_devices.h"
#include "inference/writers/express_in_onnx.h"
#include "inference/writers/onnx_writer.h"
#include "tools/commands.h"
#include "tools/model_source.h"
#include "tools/preparation_options.h"

namespace het {
namespace {

struct ConvertOptions {
  std::string model;
  std::string output;
  PreparationOptions preparation;
  OnnxWriteOptions write;
};

Status convert(const ConvertOptions& options) {
  const std::shared_ptr<Core> core = het::core();
  HET_ASSIGN(const auto model, read_model(*core, options.model, options.preparation));
  HET_TRY(prepare(options.preparation, *model)
              .with_context(fmt::format("cannot prepare model '{}'", options.model)));
  HET_TRY(express_in_onnx(*model));
  size_t kept = 0;
  for (const auto& node : model->nodes()) {
    if (node->op() != nullptr) continue;
    ++kept;
    std::fprintf(stderr, "hetero: node '%s' is written as it was read: %s\n", node->name().c_str(),
                 node->unsupported_reason().c_str());
  }
  for (const std::string& reason : unknown_to_onnx_runtime(*model)) {
    std::fprintf(stderr, "hetero: only this build loads %s: %s\n", options.output.c_str(),
                 reason.c_str());
  }
  OnnxWriteOptions write = options.write;
  write.opset = oldest_opset(*model);
  HET_TRY(write_onnx(*model, options.output, write));
  std::printf("%s: %zu nodes, %zu of them not supported by this build\n", options.output.c_str(),
              model->nodes().size(), kept);
  return {};
}

}  // namespace

void add_convert_command(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("convert", "Prepare a model and write it as ONNX");
  auto options = std::make_shared<ConvertOptions>();
  command->add_option("model", options->model, "Model file")->required();
  command->add_option("-o,--output", options->output, "ONNX file to write")->required();
  command->add_flag("--external-data", options->write.external_data,
                    "Write the weights into FILE.data beside the model");
  add_preparation_options(*command, options->preparation);
  command->callback([options, &exit_status] {
    const Status status = convert(*options);
    exit_status = status.ok() ? kExitOk : report(status);
  });
}

}  // namespace het
