#include "tools/accuracy/measured_model.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "tools/accuracy/class_scores.h"
#include "tools/picture_file.h"

namespace het {
namespace {

constexpr size_t kMostRequests = 16;

size_t request_count(const CompiledModel& model) {
  const auto text = model.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS");
  size_t count = 1;
  if (text) std::from_chars(text->data(), text->data() + text->size(), count);
  return std::clamp<size_t>(count, 1, kMostRequests);
}

Box clipped(const Detection& detection, int width, int height) {
  const auto clip_to = [](float value, int size) {
    return std::clamp(static_cast<double>(value), 0.0, static_cast<double>(size));
  };
  const double x = clip_to(detection.x_min, width);
  const double y = clip_to(detection.y_min, height);
  return {x, y, clip_to(detection.x_max, width) - x, clip_to(detection.y_max, height) - y};
}

/// Only the best of each category, in the order of the model.
void keep_best(std::vector<FoundBox>& boxes, size_t most) {
  if (boxes.size() <= most) return;
  std::stable_sort(boxes.begin(), boxes.end(),
                   [](const FoundBox& a, const FoundBox& b) { return a.score > b.score; });
  std::map<size_t, size_t> counts;
  std::erase_if(boxes, [&](const FoundBox& box) { return ++counts[box.category] > most; });
}

}  // namespace

/// A request with the pictures that it works on.
struct MeasuredModel::Slot {
  std::unique_ptr<InferRequest> request;
  std::vector<size_t> pictures;  ///< places in the dataset, one per batch item; the last may repeat
  std::vector<Image> images;
  bool is_running = false;
};

Result<MeasuredModel> MeasuredModel::load(Core& core, const MeasuredModelSettings& settings,
                                          const Dataset& dataset) {
  HET_ASSIGN(const std::shared_ptr<VisionModel> model, VisionModel::load(core, settings.model));
  HET_ASSIGN(LabelMapping mapping,
             LabelMapping::make(model->labels(), dataset.categories, settings.label_rule));
  MeasuredModel measured(model, std::move(mapping));
  measured.threshold_ = settings.threshold;
  measured.most_detections_ = settings.most_detections;
  const auto precision = model->compiled().get_property("INFERENCE_PRECISION_HINT");
  if (precision) measured.precision_ = *precision;
  return measured;
}

void MeasuredModel::check_size(const LabelledPicture& picture, const Image& image) {
  if (picture.width == 0 || picture.height == 0) return;
  if (picture.width == image.width && picture.height == image.height) return;
  if (resized_count_++ > 0) return;
  first_resized_ = fmt::format("'{}' is {}x{}, the dataset says {}x{}", picture.file, image.width,
                               image.height, picture.width, picture.height);
}

Status MeasuredModel::start(const Dataset& dataset, Slot& slot) {
  slot.images.clear();
  for (size_t item = 0; item < slot.pictures.size(); ++item) {
    const LabelledPicture& picture = dataset.pictures[slot.pictures[item]];
    if (item > 0 && slot.pictures[item] == slot.pictures[item - 1]) {
      slot.images.push_back(slot.images.back());
    } else {
      HET_ASSIGN(Image image, read_picture(picture.file));
      check_size(picture, image);
      slot.images.push_back(std::move(image));
    }
    const Image& image = slot.images.back();
    HET_TRY(model_->set_picture(*slot.request, image, image.full(), static_cast<int64_t>(item))
                .with_context(fmt::format("picture '{}'", picture.file)));
  }
  HET_TRY(slot.request->start_async());
  slot.is_running = true;
  return {};
}

Result<Found> MeasuredModel::read_boxes(const Slot& slot, size_t item) const {
  const Image& image = slot.images[item];
  HET_ASSIGN(const Results results,
             model_->results(*slot.request, image.width, image.height, image.full(),
                             static_cast<int64_t>(item), static_cast<float>(threshold_)));
  Found found;
  for (const Detection& detection : results.detections) {
    if (detection.rotation != 0.0f) {
      return error(StatusCode::NotSupported,
                   "the model finds turned boxes, and those of the dataset are upright");
    }
    const int category = mapping_.category_of(detection.label_id, detection.label);
    const Box box = clipped(detection, image.width, image.height);
    // NaN is no score either.
    if (category == kNoCategory || !(box.area() > 0.0)) continue;
    if (!(static_cast<double>(detection.confidence) >= threshold_)) continue;
    found.boxes.push_back({box, detection.confidence, static_cast<size_t>(category)});
  }
  keep_best(found.boxes, most_detections_);
  return found;
}

Result<Found> MeasuredModel::read_ranking(const Slot& slot, size_t item) const {
  const auto batch = static_cast<size_t>(model_->batch_size());
  HET_ASSIGN(const std::vector<size_t> best,
             best_classes(*slot.request, item, batch, model_->labels().size()));
  Found found;
  for (const size_t label : best) {
    const std::string name = label < model_->labels().size() ? model_->labels()[label] : "";
    found.ranking.push_back(mapping_.category_of(static_cast<int>(label), name));
  }
  return found;
}

Status MeasuredModel::collect(const Dataset& dataset, Slot& slot,
                              std::vector<std::optional<Found>>& found) {
  slot.is_running = false;
  const LabelledPicture& first = dataset.pictures[slot.pictures.front()];
  HET_TRY(slot.request->wait().with_context(fmt::format("picture '{}'", first.file)));
  for (size_t item = 0; item < slot.pictures.size(); ++item) {
    const size_t place = slot.pictures[item];
    if (found[place]) continue;
    auto read = dataset.kind == DatasetKind::ClassFolders ? read_ranking(slot, item)
                                                          : read_boxes(slot, item);
    if (!read) {
      return read.error().with_context(fmt::format("picture '{}'", dataset.pictures[place].file));
    }
    found[place] = std::move(*read);
  }
  return {};
}

Status MeasuredModel::run(const Dataset& dataset, std::vector<std::optional<Found>>& found,
                          const std::function<bool()>& ended) {
  std::vector<Slot> slots(request_count(model_->compiled()));
  for (Slot& slot : slots) {
    HET_ASSIGN(slot.request, model_->compiled().create_infer_request());
  }
  const auto batch = static_cast<size_t>(model_->batch_size());
  std::vector<size_t> waiting;
  for (size_t p = 0; p < found.size(); ++p) {
    if (!found[p]) waiting.push_back(p);
  }
  size_t turn = 0;
  Status status;
  bool goes_on = true;
  const auto collect_slot = [&](Slot& slot) {
    if (!slot.is_running) return Status();
    const Status collected = collect(dataset, slot, found);
    if (collected.ok()) goes_on = ended() && goes_on;
    return collected;
  };
  for (size_t next = 0; next < waiting.size() && status.ok() && goes_on; next += batch) {
    Slot& slot = slots[turn++ % slots.size()];
    status = collect_slot(slot);
    if (!status.ok() || !goes_on) break;
    slot.pictures.clear();
    for (size_t item = 0; item < batch; ++item) {
      slot.pictures.push_back(waiting[std::min(next + item, waiting.size() - 1)]);
    }
    status = start(dataset, slot);
  }
  // What still runs is not lost where a picture failed.
  for (size_t i = 0; i < slots.size(); ++i) {
    const Status collected = collect_slot(slots[turn++ % slots.size()]);
    if (status.ok()) status = collected;
  }
  return status;
}

}  // namespace het
