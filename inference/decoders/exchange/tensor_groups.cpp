#include "inference/decoders/exchange/tensor_groups.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "inference/decoders/boxes/grid_outputs.h"
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

/// What a family calls its group, and each output (empty: it is not one of the group's).
struct TensorFamily {
  std::string_view group;
  std::vector<std::string_view> ids;
};

bool name_has(const Port& port, std::string_view part) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return !std::ranges::search(port.name, part, same).empty();
}

std::optional<TensorFamily> single_output(std::string_view group, const DecoderConfig& config,
                                          const std::vector<Port>& outputs) {
  const Result<size_t> output = select_single_output(config, outputs);
  if (!output) return std::nullopt;
  TensorFamily family{group, std::vector<std::string_view>(outputs.size())};
  family.ids[*output] = group;
  return family;
}

std::optional<TensorFamily> yolo_masks(const DecoderConfig& config,
                                       const std::vector<Port>& outputs) {
  const Result<RowOutputs> found = find_row_outputs(config, RowKind::Masks, outputs);
  if (!found || !found->prototypes) return std::nullopt;
  TensorFamily family{kYoloMasksGroupId, std::vector<std::string_view>(outputs.size())};
  family.ids[found->rows] = kYoloMaskedId;
  family.ids[*found->prototypes] = kYoloPrototypesId;
  return family;
}

/// Classes and scores look alike, so names have to tell them.
std::optional<TensorFamily> ssd(const std::vector<Port>& outputs) {
  TensorFamily family{kSsdGroupId, std::vector<std::string_view>(outputs.size())};
  constexpr size_t kParts = 4;
  size_t found = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const size_t rank = outputs[i].desc.shape.size();
    if (rank == 3) family.ids[i] = kSsdBoxesId;
    if (rank == 1) family.ids[i] = kCountId;
    if (rank == 2 && name_has(outputs[i], "class")) family.ids[i] = kSsdClassesId;
    if (rank == 2 && name_has(outputs[i], "score")) family.ids[i] = kSsdScoresId;
    if (!family.ids[i].empty()) ++found;
  }
  return found == kParts ? std::optional(family) : std::nullopt;
}

/// Boxes as corners in 0..1, scores of background and face.
std::optional<TensorFamily> faces(const DecoderConfig& config, const std::vector<Port>& outputs) {
  if (config.box_format != "xyxy" || config.unit == "pixels" || config.class_softmax ||
      config.background_class != 0 || outputs.size() != 2)
    return std::nullopt;
  TensorFamily family{kFacesGroupId, std::vector<std::string_view>(outputs.size())};
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int64_t columns = outputs[i].desc.shape.size() == 3 ? outputs[i].desc.shape[2] : 0;
    if (columns == 4) family.ids[i] = kSsdBoxesId;
    if (columns == 2) family.ids[i] = kFaceScoresId;
    if (family.ids[i].empty()) return std::nullopt;
  }
  return family.ids[0] == family.ids[1] ? std::nullopt : std::optional(family);
}

/// What the one converter of the model reads.
std::optional<TensorFamily> tensor_family(const DecoderConfig& config,
                                          const std::vector<Port>& outputs) {
  const std::string_view name = config.converter;
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  };
  if (is_one_of({"yolo_v8", "yolo_v9", "yolo_v11"})) return single_output(kYoloId, config, outputs);
  if (is_one_of({"yolo_v8_obb", "yolo_v11_obb"}))
    return single_output(kYoloTurnedId, config, outputs);
  if (is_one_of({"yolo_v8_pose", "yolo_v11_pose"}))
    return single_output(kYoloPoseId, config, outputs);
  if (is_one_of({"yolo_v8_seg", "yolo_v9_seg", "yolo_v11_seg"})) return yolo_masks(config, outputs);
  if (is_one_of({"yolo_v10", "yolo_v26"})) return single_output(kYoloEndToEndId, config, outputs);
  if (name == "tf_detection") return ssd(outputs);
  if (name == "boxes_scores") return faces(config, outputs);
  if (name == "label" && config.slice.empty()) {
    if (config.method == "max") return single_output(kClassProbabilitiesId, config, outputs);
    if (config.method == "softmax") return single_output(kClassesId, config, outputs);
  }
  return std::nullopt;
}

/// [1, N, values] where planes are meant: more cells than values of one, or as many as the input
/// picture has.
bool gives_rows(const Shape& shape, const std::vector<Port>& inputs) {
  const int64_t cells = cell_count(picture_input_size(inputs));
  if (shape[2] == cells) return false;
  return shape[1] == cells || shape[1] > shape[2];
}

/// The shape that decoders want where a model has more dimensions of 1 (a number), or others than
/// batch and classes.
Shape wanted_shape(std::string_view id, const Shape& shape) {
  if (!is_static(shape) || element_count(shape) == 0) return shape;
  if (id == kCountId) return {element_count(shape)};
  if (id == kClassesId || id == kClassProbabilitiesId) return {1, element_count(shape)};
  return shape;
}

/// Completes what the id alone tells of a tensor that others decode.
void describe_known(const KnownTensor& known, const DecoderConfig* config,
                    const std::vector<Port>& inputs, GroupTensor& tensor) {
  tensor.is_known = true;
  tensor.column_major = known.column_major;
  tensor.places = known.places;
  tensor.type = ElementType::Float32;
  tensor.shape = wanted_shape(known.id, tensor.shape);
  const bool planes =
      known.places == TensorPlaces::PixelPlanes || known.places == TensorPlaces::PixelPointPlanes;
  if (planes && tensor.shape.size() == 3 && gives_rows(tensor.shape, inputs)) {
    tensor.is_transposed = true;
    std::swap(tensor.shape[1], tensor.shape[2]);
  }
  if (known.places != TensorPlaces::PixelPointPlanes) return;
  const int labels = config != nullptr ? static_cast<int>(config->labels.size()) : 0;
  const int classes = config != nullptr ? config->classes.value_or(std::max(labels, 1)) : 1;
  tensor.first_point = 4 + classes;
}

}  // namespace

TensorGroup tensor_group(const Model& model, const ModelMetadata& metadata,
                         const Result<DecoderChoice>& choice, const std::vector<Port>& inputs,
                         const std::vector<Port>& outputs) {
  const DecoderConfig* config = nullptr;
  if (choice && choice->configs.size() == 1) config = &choice->configs.front();
  std::optional<TensorFamily> family;
  if (config != nullptr) family = tensor_family(*config, outputs);
  TensorGroup group;
  group.id = !metadata.group_id.empty() ? metadata.group_id
             : family                   ? std::string(family->group)
                                        : (model.name().empty() ? "model" : model.name()) + "-out";
  for (size_t i = 0; i < outputs.size(); ++i) {
    GroupTensor& tensor = group.tensors.emplace_back();
    tensor.output = outputs[i].name;
    tensor.type = outputs[i].desc.type;
    tensor.shape = outputs[i].desc.shape;
    if (!tensor.shape.empty() && tensor.shape[0] == picture_batch(inputs)) tensor.shape[0] = 1;
    const auto in_model = model.metadata().find(tensor.output);
    const auto in_file = metadata.tensor_ids.find(tensor.output);
    if (in_file != metadata.tensor_ids.end()) {
      tensor.id = in_file->second.id;
      tensor.column_major = in_file->second.column_major;
    } else if (in_model != model.metadata().end()) {
      tensor.id = newer_tensor_id(in_model->second);
    } else if (family && !family->ids[i].empty()) {
      tensor.id = family->ids[i];
    } else {
      tensor.id = tensor.output;
    }
    if (const KnownTensor* known = known_tensor(tensor.id))
      describe_known(*known, config, inputs, tensor);
  }
  const auto is_ssd = [](const GroupTensor& tensor) {
    return tensor.places == TensorPlaces::CornersRowFirst;
  };
  if (metadata.group_id.empty() && !family && std::ranges::any_of(group.tensors, is_ssd))
    group.id = kSsdGroupId;
  // The faces' boxes have the detector's id with x first.
  for (GroupTensor& tensor : group.tensors)
    if (group.id == kFacesGroupId && is_ssd(tensor)) tensor.places = TensorPlaces::Corners;
  return group;
}

}  // namespace het
