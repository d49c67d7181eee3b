#include <CLI/CLI.hpp>
#include <memory>

#include "devices/register_devices.h"
#include "tools/accuracy/evaluation.h"
#include "tools/accuracy/options.h"
#include "tools/accuracy/report.h"
#include "tools/commands.h"

namespace het {
namespace {

Status measure_accuracy(const AccuracyOptions& options) {
  const std::shared_ptr<Core> core = het::core();
  HET_ASSIGN(const Evaluation evaluation, evaluate(*core, options));
  print_evaluation(evaluation, options);
  return {};
}

}  // namespace

void add_accuracy_command(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand(
      "accuracy", "Measure the accuracy of models on a dataset (COCO, VOC, class folders)");
  auto o = std::make_shared<AccuracyOptions>();
  command
      ->add_option("paths", o->paths,
                   "MODEL... DATASET: model files, each a column of the table, and last the folder "
                   "of the dataset or COCO's annotations")
      ->required();
  command->add_option("-d,--device", o->device, "Device");
  command
      ->add_option("--types", o->types,
                   "f32,bf16,f16,int8: a column per model and type; int8 is for quantised models")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--annotations", o->annotations,
                      "COCO's annotations; the dataset is the folder of the pictures then");
  command->add_option("--split", o->split,
                      "NAME of annotations/instances_NAME.json, ImageSets/Main/NAME.txt or a "
                      "folder (default: val)");
  command->add_option("--model-proc", o->model_proc, "Descriptor of the models");
  command->add_option("--labels-file", o->labels_file, "One label per line");
  command->add_option("--label-map", o->label_map,
                      "How labels become categories: auto (by name, else by index where there are "
                      "as many), name, index, id");
  command->add_option("--threshold", o->threshold, "Minimum confidence (default 0.001)")
      ->check(CLI::Range(1e-9, 1.0));
  command
      ->add_option("--max-dets", o->limits,
                   "Detections of a category that count in a picture (default 1,10,100)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--metric", o->metric, "coco or voc (default: the dataset's)");
  command->add_option("--limit", o->limit, "Number of pictures (default: all)");
  command->add_option("--detections", o->detections, "FILE for COCO's results");
  command->add_option("--from-detections", o->from_detections,
                      "FILE with COCO's results, which are evaluated without a model");
  command->add_option("--state", o->state,
                      "FILE from which an interrupted run goes on (default with --detections: "
                      "that file's name and .state)");
  add_preparation_options(*command, o->preparation);
  command->add_option("--load_config", o->load_config, "JSON file {device: {KEY: value}}");
  command->add_option("--properties", o->properties, "KEY=VALUE,KEY=VALUE of the device");
  command->add_flag("--per-category", o->per_category, "Print every category's value, too");
  command->add_flag("--json", o->json, "Print one JSON object on stdout");
  command->callback([o, &exit_status] {
    const Status status = measure_accuracy(*o);
    exit_status = status.ok() ? kExitOk : report(status);
  });
}

}  // namespace het
