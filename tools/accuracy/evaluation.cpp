#include "tools/accuracy/evaluation.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "inference/base/new_file.h"
#include "tools/accuracy/coco_results.h"
#include "tools/accuracy/find_dataset.h"
#include "tools/accuracy/measured_model.h"
#include "tools/accuracy/progress_file.h"
#include "tools/accuracy/progress_line.h"
#include "tools/accuracy/stop_signal.h"
#include "tools/accuracy/top_k_metric.h"
#include "tools/accuracy/voc_metric.h"
#include "tools/load_config.h"

namespace het {
namespace {

using Clock = std::chrono::steady_clock;

/// A state is written this often, and never for more than a twentieth of the time.
constexpr double kSaveSeconds = 10.0;
constexpr double kSaveShare = 0.05;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Keeps `count` pictures: the first, of class folders some of every class. Returns the others.
std::vector<LabelledPicture> limit_pictures(Dataset& dataset, size_t count) {
  std::vector<LabelledPicture> others;
  const size_t all = dataset.pictures.size();
  if (count == 0 || count >= all) return others;
  std::vector<LabelledPicture> kept;
  const bool is_spread = dataset.kind == DatasetKind::ClassFolders;
  for (size_t p = 0; p < all; ++p) {
    const bool is_kept =
        is_spread ? kept.size() * all <= p * count && kept.size() < count : p < count;
    (is_kept ? kept : others).push_back(std::move(dataset.pictures[p]));
  }
  dataset.pictures = std::move(kept);
  return others;
}

Scores scores_of(const Dataset& dataset, std::span<const Found> found,
                 const AccuracyOptions& options) {
  if (dataset.kind == DatasetKind::ClassFolders) return top_k_scores(dataset, found);
  const bool is_voc =
      options.metric.empty() ? dataset.kind == DatasetKind::Voc : options.metric == "voc";
  if (is_voc) return voc_scores(dataset, found);
  return coco_scores(dataset, found, {options.limits[0], options.limits[1], options.limits[2]});
}

Result<Properties> device_properties(Core& core, const AccuracyOptions& options) {
  HET_ASSIGN(Properties properties, read_config(core, options.load_config, options.device));
  HET_ASSIGN(const Properties given, parse_properties(options.properties));
  for (const auto& [name, value] : given) properties[name] = value;
  HET_TRY(add_as_properties(options.preparation, properties));
  return properties;
}

std::string text_of(const Properties& properties) {
  std::string text;
  for (const auto& [name, value] : properties) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, value);
  }
  return text.empty() ? "none" : text;
}

/// Of all that a dataset says, whichever pictures --limit leaves.
std::string dataset_hash(const Dataset& dataset) {
  std::string text;
  for (const Category& category : dataset.categories) {
    text += fmt::format("{} {}\n", category.id, category.name);
  }
  for (const LabelledPicture& picture : dataset.pictures) {
    text += fmt::format("{} {}\n", picture.id, picture.file);
  }
  return content_hash(text);
}

RunIdentity identity_of(const AccuracyOptions& options, const Dataset& dataset,
                        const std::vector<AccuracyColumn>& columns) {
  RunIdentity identity = {
      {"dataset", fmt::format("'{}' ({})", dataset.origin, dataset_hash(dataset))},
      {"device", options.device},
      {"--label-map", options.label_map.empty() ? "auto" : options.label_map},
      {"--labels-file",
       fmt::format("'{}' ({})", options.labels_file, file_hash(options.labels_file))},
      {"--max-dets", std::to_string(options.limits[2])},
      {"--model-proc", fmt::format("'{}' ({})", options.model_proc, file_hash(options.model_proc))},
      {"--threshold", fmt::format("{}", options.threshold)},
      {"number of columns", std::to_string(columns.size())}};
  for (size_t c = 0; c < columns.size(); ++c) {
    const std::string number = columns.size() == 1 ? "" : fmt::format(" {}", c + 1);
    identity["model" + number] =
        fmt::format("'{}' ({})", columns[c].model, file_hash(columns[c].model));
    identity["properties of the model" + number] = text_of(columns[c].properties);
  }
  return identity;
}

std::string state_path(const AccuracyOptions& options) {
  if (!options.state.empty() || options.detections.empty()) return options.state;
  return options.detections + ".state";
}

std::string title_of(const AccuracyColumn& column) {
  const std::string name = std::filesystem::path(column.model).filename().string();
  return column.type.empty() ? name : name + " " + column.type;
}

MeasuredModelSettings settings_of(const AccuracyOptions& options, const AccuracyColumn& column,
                                  LabelRule rule) {
  MeasuredModelSettings settings;
  settings.model.model = column.model;
  settings.model.model_proc = options.model_proc;
  settings.model.labels_file = options.labels_file;
  settings.model.device = options.device;
  settings.model.properties = column.properties;
  settings.label_rule = rule;
  settings.threshold = options.threshold;
  settings.most_detections = static_cast<size_t>(options.limits[2]);
  return settings;
}

/// Runs columns one after the other and keeps what is done.
class Measurement {
 public:
  Measurement(const Dataset& dataset, ProgressFile file, PictureResults& results)
      : dataset_(dataset), file_(std::move(file)), results_(results), stop_(file_.is_kept()) {}

  Status run(size_t column, MeasuredModel& model, const std::string& title) {
    std::vector<std::optional<Found>>& found = results_[column];
    const auto done = [&found] {
      return static_cast<size_t>(
          std::count_if(found.begin(), found.end(), [](const auto& one) { return bool(one); }));
    };
    ProgressLine line(title, done(), found.size());
    const Status status = model.run(dataset_, found, [&] {
      line.show(done());
      if (saved_.ok() && is_time_to_save()) save();
      return saved_.ok() && !stop_.is_asked();
    });
    line.clear();
    if (done() < found.size() && saved_.ok()) save();
    HET_TRY(saved_);
    if (!status.ok()) return status;
    if (done() == found.size()) return {};
    return error(StatusCode::Cancelled,
                 "stopped after {} of {} pictures of {}; the same command goes on there ('{}')",
                 done(), found.size(), title, file_.path());
  }

 private:
  bool is_time_to_save() const {
    return file_.is_kept() &&
           seconds_since(last_save_) > std::max(kSaveSeconds, save_seconds_ / kSaveShare);
  }

  void save() {
    const Clock::time_point start = Clock::now();
    saved_ = file_.save(dataset_, results_).with_context("cannot keep the state");
    save_seconds_ = seconds_since(start);
    last_save_ = Clock::now();
  }

  const Dataset& dataset_;
  ProgressFile file_;
  PictureResults& results_;
  StopSignal stop_;
  Status saved_;
  double save_seconds_ = 0.0;
  Clock::time_point last_save_ = Clock::now();
};

void warn_of_sizes(const MeasuredModel& model) {
  if (model.resized_count() == 0) return;
  std::fprintf(stderr,
               "hetero: warning: %zu pictures have another size than the dataset says, so that its "
               "boxes may not fit; the first: %s\n",
               model.resized_count(), model.first_resized().c_str());
}

std::vector<Found> taken(std::vector<std::optional<Found>>& results) {
  std::vector<Found> found;
  for (std::optional<Found>& one : results) found.push_back(std::move(*one));
  return found;
}

Status measure_columns(Core& core, const AccuracyOptions& options, const RunIdentity& identity,
                       const std::vector<AccuracyColumn>& columns, Evaluation& evaluation) {
  const Dataset& dataset = evaluation.dataset;
  HET_ASSIGN(const LabelRule rule, parse_label_rule(options.label_map));
  const ProgressFile file(state_path(options), identity);
  PictureResults results(columns.size(),
                         std::vector<std::optional<Found>>(dataset.pictures.size()));
  HET_TRY(file.load(dataset, results));
  // A folder that is not there is told before hours of work.
  for (const std::string& path : {options.detections, file.path()}) {
    if (!path.empty()) HET_TRY(NewFile::create(path));
  }
  Measurement measurement(dataset, file, results);
  for (size_t c = 0; c < columns.size(); ++c) {
    HET_ASSIGN(MeasuredModel model,
               MeasuredModel::load(core, settings_of(options, columns[c], rule), dataset));
    HET_TRY(measurement.run(c, model, title_of(columns[c])));
    warn_of_sizes(model);
    ColumnResult result;
    result.column = columns[c];
    result.precision = model.precision();
    result.labels = model.mapping().description();
    result.labels_without_category = model.mapping().labels_without_category();
    result.categories_without_label = model.mapping().categories_without_label();
    evaluation.columns.push_back(std::move(result));
  }
  for (size_t c = 0; c < columns.size(); ++c) {
    const std::vector<Found> found = taken(results[c]);
    if (!options.detections.empty()) {
      HET_TRY(write_coco_results(options.detections, dataset, found));
    }
    evaluation.columns[c].scores = scores_of(dataset, found, options);
  }
  file.remove();
  return {};
}

Status check_columns(const AccuracyOptions& options, const Dataset& dataset, size_t columns) {
  const bool has_boxes = dataset.kind != DatasetKind::ClassFolders;
  if (!has_boxes && (!options.detections.empty() || !options.from_detections.empty())) {
    return error(StatusCode::InvalidArgument,
                 "'{}' has classes of pictures and no boxes, so there are no detections",
                 dataset.origin);
  }
  if (!has_boxes && !options.metric.empty()) {
    return error(StatusCode::InvalidArgument, "--metric is for boxes, and '{}' has none",
                 dataset.origin);
  }
  if (!options.detections.empty() && columns > 1) {
    return error(StatusCode::InvalidArgument,
                 "--detections takes those of one model in one type; there are {}", columns);
  }
  return {};
}

}  // namespace

Result<Evaluation> evaluate(Core& core, const AccuracyOptions& options) {
  HET_TRY(check(options));
  const bool has_models = options.from_detections.empty();
  Evaluation evaluation;
  HET_ASSIGN(evaluation.dataset,
             find_dataset({options.paths.back(), options.annotations, options.split, has_models}));
  std::vector<AccuracyColumn> columns;
  if (has_models) {
    HET_ASSIGN(const Properties properties, device_properties(core, options));
    const std::vector<std::string> models(options.paths.begin(), options.paths.end() - 1);
    HET_ASSIGN(columns, make_columns(core, models, options.types, properties));
  }
  HET_TRY(check_columns(options, evaluation.dataset, columns.size()));
  const RunIdentity identity = identity_of(options, evaluation.dataset, columns);
  const auto unread = limit_pictures(evaluation.dataset, options.limit);
  if (has_models) {
    HET_TRY(measure_columns(core, options, identity, columns, evaluation));
    return evaluation;
  }
  HET_ASSIGN(const std::vector<Found> found,
             read_coco_results(options.from_detections, evaluation.dataset, unread));
  ColumnResult result;
  result.column.model = options.from_detections;
  result.scores = scores_of(evaluation.dataset, found, options);
  evaluation.columns.push_back(std::move(result));
  return evaluation;
}

}  // namespace het
