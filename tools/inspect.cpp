#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>

#include "devices/register_devices.h"
#include "inference/base/new_file.h"
#include "inference/decoders/descriptors/model_proc_text.h"
#include "inference/inspection/inspection.h"
#include "inference/vision_model.h"
#include "tools/commands.h"
#include "tools/inspect/annotate.h"
#include "tools/inspect/modelinfo_file.h"
#include "tools/picture_file.h"

namespace het {
namespace {

struct InspectOptions {
  std::string model;
  std::string device = "CPU";
  std::string image;
  std::string picture;
  std::string described_by;
  std::string labels_file;
  std::string model_proc;
  std::string model_info;
  int width = 0;
  int height = 0;
  float threshold = 0.0f;
  bool json = false;
};

VisionModelSettings settings_of(const InspectOptions& options) {
  VisionModelSettings settings;
  settings.model = options.model;
  settings.model_proc = options.described_by;
  settings.labels_file = options.labels_file;
  settings.device = options.device;
  settings.picture_width = options.width;
  settings.picture_height = options.height;
  return settings;
}

Status look_at_picture(Core& core, const InspectOptions& options, Inspection& inspection) {
  HET_ASSIGN(const Image image, read_picture(options.image));
  VisionModelSettings settings = settings_of(options);
  settings.unknown_side = inspection.guessed_side;
  HET_ASSIGN(const auto model, VisionModel::load(core, settings));
  HET_ASSIGN(const auto request, model->compiled().create_infer_request());
  HET_TRY(model->set_picture(*request, image, image.full()));
  HET_TRY(request->infer());
  HET_ASSIGN(inspection.found, model->results(*request, image.width, image.height, image.full(), 0,
                                              options.threshold));
  inspection.picture = options.picture;
  if (inspection.picture.empty())
    inspection.picture = std::filesystem::path(options.model).stem().string() + "-inspected.png";
  return write_annotated_picture(inspection.picture, image, inspection.found);
}

/// With what onnxinference will do differently on stderr.
Status write_modelinfo(Core& core, const InspectOptions& options, const Inspection& inspection) {
  HET_ASSIGN(const std::unique_ptr<Model> file, core.read_model(options.model));
  const ModelinfoFile written = modelinfo_file(*file, inspection.reading, inspection.tensors);
  HET_TRY(write_new_file(options.model_info, written.text));
  for (const std::string& note : written.notes)
    std::fprintf(stderr, "hetero: %s: %s\n", options.model_info.c_str(), note.c_str());
  return {};
}

Result<bool> inspect(const InspectOptions& options) {
  const std::shared_ptr<Core> core = het::core();
  HET_ASSIGN(Inspection inspection, inspect_model(*core, settings_of(options)));
  if (!options.image.empty() && inspection.reading.choice)
    HET_TRY(look_at_picture(*core, options, inspection));
  if (!options.model_proc.empty())
    HET_TRY(write_new_file(options.model_proc, to_text(described(inspection))));
  if (!options.model_info.empty()) HET_TRY(write_modelinfo(*core, options, inspection));
  const std::string text = options.json ? to_json(inspection) : to_text(inspection);
  std::fputs(text.c_str(), stdout);
  return inspection.needs_a_decision();
}

}  // namespace

void add_inspect_command(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand(
      "inspect", "Tell how a model's pictures and results are read, and why; 1: a person decides");
  auto options = std::make_shared<InspectOptions>();
  command->add_option("model", options->model, "Model file")->required();
  command->add_option("-d,--device", options->device, "Device that runs it on --image");
  command->add_option("--image", options->image, "Picture to run on");
  command->add_option("--output", options->picture,
                      "PNG for that picture with what was found (MODEL-inspected.png)");
  command->add_option("--described-by", options->described_by,
                      "Descriptor (model-proc file) that the model has already");
  command->add_option("--labels-file", options->labels_file, "One label per line");
  command->add_option("--width", options->width, "Of pictures, where the model leaves it open")
      ->check(CLI::PositiveNumber);
  command->add_option("--height", options->height, "Of pictures, where the model leaves it open")
      ->check(CLI::PositiveNumber);
  command->add_option("--threshold", options->threshold, "Minimum confidence on --image");
  command->add_option("--model-proc", options->model_proc,
                      "FILE for the descriptor that says what was decided");
  command->add_option("--modelinfo", options->model_info,
                      "FILE for what GStreamer's onnxinference reads beside a model");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &exit_status] {
    const Result<bool> undecided = inspect(*options);
    exit_status = !undecided ? report(undecided.error()) : *undecided ? kExitFailed : kExitOk;
  });
}

}  // namespace het
