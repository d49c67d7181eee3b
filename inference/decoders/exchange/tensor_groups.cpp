#include "inference/decoders/exchange/tensor_groups.h"

#include <algorithm>
#include <array>
#include <utility>

#include "inference/decoders/boxes/grid_outputs.h"
#include "inference/decoders/boxes/object_parts.h"
#include "inference/decoders/boxes/tf_outputs.h"
#include "inference/decoders/boxes/yolo_rows.h"
#include "inference/decoders/exchange/tensor_ids.h"
#include "inference/decoders/output_ports.h"

namespace het {
namespace {

/// How the tensors look that decoders of others know by these ids.
struct KnownTensor {
  std::string_view id;
  bool column_major = false;
  TensorPlaces places = TensorPlaces::None;
};

constexpr auto kKnownTensors = std::to_array<KnownTensor>({
    {kYoloId, true, TensorPlaces::PixelPlanes},
    {kYoloTurnedId, true, TensorPlaces::PixelPlanes},
    {kYoloPoseId, true, TensorPlaces::PixelPointPlanes},
    {kYoloMaskedId, true, TensorPlaces::PixelPlanes},
    {kYoloPrototypesId, true},
    {kYoloEndToEndId, false, TensorPlaces::PixelCorners},
    {kSsdBoxesId, false, TensorPlaces::CornersRowFirst},
    {kSsdClassesId},
    {kSsdScoresId},
    {kCountId},
    {kFaceScoresId},
    {kClassesId},
    {kClassProbabilitiesId},
});

const KnownTensor* known_tensor(std::string_view id) {
  const auto* const found = std::ranges::find(kKnownTensors, id, &KnownTensor::id);
  return found == kKnownTensors.end() ? nullptr : found;
}

/// [1, N, values] where planes are meant: more cells than values of one, or as many as the input
/// picture has. Where the values alone are known the other side is N.
bool gives_rows(const Shape& shape, const std::vector<Port>& inputs) {
  if (shape[1] == kUnknownDim || shape[2] == kUnknownDim) return shape[2] != kUnknownDim;
  const int64_t cells = cell_count(picture_input_size(inputs));
  if (shape[2] == cells) return false;
  return shape[1] == cells || shape[1] > shape[2];
}

/// The first plane of points behind box and classes.
int first_point_of(const DecoderConfig& config) {
  constexpr int kBoxValues = 4;
  return kBoxValues + config.classes.value_or(std::max(static_cast<int>(config.labels.size()), 1));
}

/// What a family calls each output; empty: others do not know it.
using OutputIds = std::vector<std::string_view>;

OutputIds single_output(std::string_view id, const DecoderConfig& config,
                        const std::vector<Port>& outputs) {
  OutputIds ids(outputs.size());
  if (const Result<size_t> output = select_single_output(config, outputs)) ids[*output] = id;
  return ids;
}

/// Points of x, y and a confidence; others have no id.
OutputIds yolo_points(const DecoderConfig& config, const std::vector<Port>& inputs,
                      const std::vector<Port>& outputs) {
  const OutputIds ids = single_output(kYoloPoseId, config, outputs);
  constexpr size_t kPointValues = 3;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Shape& shape = outputs[i].desc.shape;
    if (ids[i].empty() || shape.size() != 3) continue;
    const int64_t values = gives_rows(shape, inputs) ? shape[2] : shape[1];
    const Result<PointRow> points = point_row(config, values - first_point_of(config));
    if (!points || points->values != kPointValues) return OutputIds(outputs.size());
  }
  return ids;
}

OutputIds yolo_masks(const DecoderConfig& config, const std::vector<Port>& outputs) {
  OutputIds ids(outputs.size());
  const Result<RowOutputs> found = find_row_outputs(config, RowKind::Masks, outputs);
  if (!found || !found->prototypes) return ids;
  ids[found->rows] = kYoloMaskedId;
  ids[*found->prototypes] = kYoloPrototypesId;
  return ids;
}

/// Without their number, or where nothing tells classes from scores, others do not read them.
OutputIds ssd(const DecoderConfig& config, const std::vector<Port>& outputs) {
  OutputIds ids(outputs.size());
  const Result<TfDetectionOutputs> found = find_tf_outputs(config, outputs);
  if (!found || !found->named || !found->count) return ids;
  ids[found->boxes] = kSsdBoxesId;
  ids[found->first] = kSsdClassesId;
  ids[found->second] = kSsdScoresId;
  ids[*found->count] = kCountId;
  return ids;
}

/// Boxes as corners in 0..1, scores of background and face.
OutputIds faces(const DecoderConfig& config, const std::vector<Port>& outputs) {
  OutputIds none(outputs.size());
  if (config.box_format != "xyxy" || config.unit == "pixels" || config.class_softmax ||
      config.background_class != 0 || outputs.size() != 2)
    return none;
  OutputIds ids(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int64_t columns = outputs[i].desc.shape.size() == 3 ? outputs[i].desc.shape[2] : 0;
    if (columns == 4) ids[i] = kSsdBoxesId;
    if (columns == 2) ids[i] = kFaceScoresId;
    if (ids[i].empty()) return none;
  }
  return ids[0] == ids[1] ? none : ids;
}

/// What the one converter of the model reads.
OutputIds family_ids(const DecoderConfig& config, const std::vector<Port>& inputs,
                     const std::vector<Port>& outputs) {
  const std::string_view name = config.converter;
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  };
  if (is_one_of({"yolo_v8", "yolo_v9", "yolo_v11"})) return single_output(kYoloId, config, outputs);
  if (is_one_of({"yolo_v8_obb", "yolo_v11_obb"}))
    return single_output(kYoloTurnedId, config, outputs);
  if (is_one_of({"yolo_v8_pose", "yolo_v11_pose"})) return yolo_points(config, inputs, outputs);
  if (is_one_of({"yolo_v8_seg", "yolo_v9_seg", "yolo_v11_seg"})) return yolo_masks(config, outputs);
  if (is_one_of({"yolo_v10", "yolo_v26"})) return single_output(kYoloEndToEndId, config, outputs);
  if (name == "tf_detection") return ssd(config, outputs);
  if (name == "boxes_scores") return faces(config, outputs);
  if (name == "label" && config.slice.empty()) {
    if (config.method == "max") return single_output(kClassProbabilitiesId, config, outputs);
    if (config.method == "softmax") return single_output(kClassesId, config, outputs);
  }
  return OutputIds(outputs.size());
}

/// The group that tensors with these ids make; empty: others know none.
std::string_view group_of_ids(const std::vector<GroupTensor>& tensors) {
  const auto has = [&](std::string_view id) {
    return std::ranges::find(tensors, id, &GroupTensor::id) != tensors.end();
  };
  if (has(kFaceScoresId)) return kFacesGroupId;
  if (has(kSsdBoxesId)) return kSsdGroupId;
  if (has(kYoloMaskedId)) return kYoloMasksGroupId;
  for (const std::string_view id :
       {kYoloId, kYoloTurnedId, kYoloPoseId, kYoloEndToEndId, kClassesId, kClassProbabilitiesId})
    if (has(id)) return id;
  return {};
}

/// The shape that decoders want where a model has more dimensions of 1 (a number), or others than
/// batch and classes.
Shape wanted_shape(std::string_view id, const Shape& shape) {
  if (!is_static(shape) || element_count(shape) == 0) return shape;
  if (id == kCountId) return {element_count(shape)};
  if (id == kClassesId || id == kClassProbabilitiesId) return {1, element_count(shape)};
  return shape;
}

/// Completes what the id alone tells of a tensor that others decode; without effect where its shape
/// has no room for boxes.
void describe_known(const KnownTensor& known, const DecoderConfig* config,
                    const std::vector<Port>& inputs, GroupTensor& tensor) {
  constexpr int64_t kBoxValues = 4;
  const bool planes =
      known.places == TensorPlaces::PixelPlanes || known.places == TensorPlaces::PixelPointPlanes;
  Shape shape = wanted_shape(known.id, tensor.shape);
  bool is_transposed = false;
  if (known.places != TensorPlaces::None && !shape.empty()) {
    if (shape.size() != 3) return;
    is_transposed = planes && gives_rows(shape, inputs);
    if (is_transposed) std::swap(shape[1], shape[2]);
    const int64_t values = shape[planes ? 1 : 2];
    if (values != kUnknownDim && values < kBoxValues) return;
  }
  tensor.is_known = true;
  tensor.column_major = known.column_major;
  tensor.places = known.places;
  tensor.type = ElementType::Float32;
  tensor.shape = std::move(shape);
  tensor.is_transposed = is_transposed;
  if (known.places == TensorPlaces::PixelPointPlanes)
    tensor.first_point = first_point_of(config != nullptr ? *config : DecoderConfig{});
}

}  // namespace

TensorGroup tensor_group(const Model& model, const ModelMetadata& metadata,
                         const Result<DecoderChoice>& choice, const std::vector<Port>& inputs,
                         const std::vector<Port>& outputs) {
  const DecoderConfig* config = nullptr;
  if (choice && choice->configs.size() == 1) config = &choice->configs.front();
  OutputIds family(outputs.size());
  if (config != nullptr) family = family_ids(*config, inputs, outputs);
  TensorGroup group;
  for (size_t i = 0; i < outputs.size(); ++i) {
    GroupTensor& tensor = group.tensors.emplace_back();
    tensor.output = outputs[i].name;
    tensor.type = outputs[i].desc.type;
    tensor.shape = outputs[i].desc.shape;
    if (!tensor.shape.empty() && tensor.shape[0] == picture_batch(inputs)) tensor.shape[0] = 1;
    const auto in_model = model.metadata().find(tensor.output);
    const auto in_file = metadata.tensor_ids.find(tensor.output);
    if (in_file != metadata.tensor_ids.end()) {
      tensor.id = newer_tensor_id(in_file->second.id);
      tensor.column_major = in_file->second.column_major;
    } else if (in_model != model.metadata().end()) {
      tensor.id = newer_tensor_id(in_model->second);
    } else if (!family[i].empty()) {
      tensor.id = family[i];
    } else {
      tensor.id = tensor.output;
    }
    if (const KnownTensor* known = known_tensor(tensor.id))
      describe_known(*known, config, inputs, tensor);
  }
  const std::string_view known_group = group_of_ids(group.tensors);
  group.id = !metadata.group_id.empty() ? metadata.group_id : known_group;
  if (group.id.empty()) group.id = (model.name().empty() ? "model" : model.name()) + "-out";
  // The faces' boxes have the detector's id with x first.
  for (GroupTensor& tensor : group.tensors)
    if (known_group == kFacesGroupId && tensor.id == kSsdBoxesId)
      tensor.places = TensorPlaces::Corners;
  return group;
}

}  // namespace het
