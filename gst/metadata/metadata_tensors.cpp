#include "metadata_tensors.h"

#include <algorithm>
#include <cmath>

#include "structure_fields.h"

namespace het::gst {
namespace {

constexpr char kTensor[] = "tensor";
constexpr char kKeypoints[] = "keypoints";
constexpr char kSegmentation[] = "segmentation";
constexpr char kMask[] = "mask";
constexpr char kPicture[] = "picture";
constexpr char kSemanticFormat[] = "semantic_segmentation";
constexpr char kInstanceFormat[] = "instance_segmentation";

GstStructure* new_params(const char* name, const TensorOrigin& origin) {
  GstStructure* params = gst_structure_new_empty(name);
  const auto set = [&](const char* field, const std::string& text) {
    if (!text.empty()) set_text(params, field, text);
  };
  set("attribute_name", origin.attribute);
  set("format", origin.format);
  set("layer_name", origin.layer_name);
  set_text(params, "model_name", origin.model_name);
  return params;
}

/// Attaches the params if the tensor could be set in them.
void add_with_tensor(RegionMeta region, GstStructure* params, const Tensor& tensor) {
  if (set_tensor(params, tensor)) {
    region.add_params(params);
  } else {
    gst_structure_free(params);
  }
}

void add_keypoints(RegionMeta region, std::string_view model_name, const Keypoints& keypoints) {
  const Landmarks& landmarks = keypoints.landmarks;
  const size_t count = landmarks.points.size();
  if (count == 0) return;
  const bool in_space = keypoints.depths.size() == count;
  const Rect box = region.rect();
  std::vector<float> values;
  std::vector<double> confidences;
  for (size_t i = 0; i < count; ++i) {
    const float confidence =
        landmarks.confidences.size() == count ? landmarks.confidences[i] : 1.0f;
    const bool found = confidence > 0.0f && box.width > 0 && box.height > 0;
    const auto relative = [&](float position, int start, int size) {
      return found ? (position - static_cast<float>(start)) / static_cast<float>(size) : -1.0f;
    };
    values.push_back(relative(landmarks.points[i].x, box.x, box.width));
    values.push_back(relative(landmarks.points[i].y, box.y, box.height));
    if (in_space) values.push_back(keypoints.depths[i]);
    confidences.push_back(found ? static_cast<double>(confidence) : 0.0);
  }
  GstStructure* params =
      new_params(kKeypoints, {"", keypoints.format, keypoints.layer, std::string(model_name)});
  gst_structure_set(params, "confidence", G_TYPE_DOUBLE, static_cast<double>(keypoints.confidence),
                    nullptr);
  set_doubles(params, "point_confidences", confidences);
  if (!landmarks.names.empty()) set_texts(params, "point_names", landmarks.names);
  std::vector<guint> connections;
  for (const auto& [from, to] : landmarks.connections) {
    connections.push_back(static_cast<guint>(from));
    connections.push_back(static_cast<guint>(to));
  }
  if (!connections.empty()) set_uints(params, "point_connections", connections);
  add_with_tensor(region, params,
                  Tensor::from<float>({static_cast<int64_t>(count), in_space ? 3 : 2}, values));
}

/// The corners of a segmentation or detection, in 0..1 of the picture.
template <class Box>
void set_box(GstStructure* params, const Box& box, float width, float height) {
  gst_structure_set(params, "x_min", G_TYPE_DOUBLE, static_cast<double>(box.x_min / width), "x_max",
                    G_TYPE_DOUBLE, static_cast<double>(box.x_max / width), "y_min", G_TYPE_DOUBLE,
                    static_cast<double>(box.y_min / height), "y_max", G_TYPE_DOUBLE,
                    static_cast<double>(box.y_max / height), nullptr);
}

/// False when a corner is missing.
template <class Box>
bool read_box(const GstStructure* params, Box& box) {
  return gst_structure_get(params, "x_min", G_TYPE_DOUBLE, &box.x_min, "x_max", G_TYPE_DOUBLE,
                           &box.x_max, "y_min", G_TYPE_DOUBLE, &box.y_min, "y_max", G_TYPE_DOUBLE,
                           &box.y_max, nullptr);
}

/// The pixels that a box covers; it may leave the picture.
template <class Box>
Rect pixels_of(const Box& box) {
  const auto whole = [](float position) { return static_cast<int>(std::lround(position)); };
  return {whole(box.x_min), whole(box.y_min), whole(box.x_max) - whole(box.x_min),
          whole(box.y_max) - whole(box.y_min)};
}

void add_segmentation(RegionMeta region, float width, float height, std::string_view model_name,
                      const Segmentation& segmentation) {
  const std::vector<uint16_t>& ids = segmentation.class_ids;
  const Shape shape{1, segmentation.height, segmentation.width};
  if (ids.empty() || static_cast<int64_t>(ids.size()) != element_count(shape)) return;
  GstStructure* params = new_params(kSegmentation, {segmentation.attribute, kSemanticFormat,
                                                    segmentation.layer, std::string(model_name)});
  set_box(params, segmentation, width, height);
  if (!segmentation.labels.empty()) set_texts(params, "labels", segmentation.labels);
  const std::vector<uint8_t> bytes(ids.begin(), ids.end());
  const bool narrow = *std::max_element(ids.begin(), ids.end()) < 256;
  const Tensor values =
      narrow ? Tensor::from<uint8_t>(shape, bytes) : Tensor::from<uint16_t>(shape, ids);
  add_with_tensor(region, params, values);
  region.add_segmentation({values, pixels_of(segmentation), segmentation.labels},
                          static_cast<int>(width), static_cast<int>(height));
}

/// Copies the picture, without padding of rows, into a sample.
void add_picture(RegionMeta region, std::string_view model_name, const PictureResult& picture) {
  const Image& image = picture.image;
  GstVideoInfo info;
  const GstVideoFormat format =
      gst_video_format_from_string(std::string(to_string(image.format)).c_str());
  if (image.plane_count != 1 || image.plane(0) == nullptr ||
      !gst_video_info_set_format(&info, format, static_cast<guint>(image.width),
                                 static_cast<guint>(image.height)))
    return;
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr);
  const auto row_bytes = static_cast<gsize>(plane_row_bytes(image.format, 0, image.width));
  for (int row = 0; row < image.height; ++row) {
    gst_buffer_fill(
        buffer, static_cast<gsize>(row) * static_cast<gsize>(GST_VIDEO_INFO_PLANE_STRIDE(&info, 0)),
        image.plane(0) + row * image.planes[0].stride_bytes, row_bytes);
  }
  GstCaps* caps = gst_video_info_to_caps(&info);
  GstSample* sample = gst_sample_new(buffer, caps, nullptr, nullptr);
  gst_caps_unref(caps);
  gst_buffer_unref(buffer);
  GstStructure* params = new_params(kPicture, {picture.attribute, "", "", std::string(model_name)});
  gst_structure_set(params, "sample", GST_TYPE_SAMPLE, sample, nullptr);
  gst_sample_unref(sample);
  region.add_params(params);
}

TensorOrigin read_origin(const GstStructure* params) {
  return {text(params, "attribute_name").value_or(""), text(params, "format").value_or(""),
          text(params, "layer_name").value_or(""), text(params, "model_name").value_or("")};
}

bool read_keypoints(const GstStructure* params, ObjectTensors& tensors) {
  const std::optional<Tensor> values = read_tensor(params);
  if (!values || values->type() != ElementType::Float32 || values->rank() != 2 ||
      values->shape()[1] < 2)
    return false;
  ObjectKeypoints keypoints;
  keypoints.origin = read_origin(params);
  keypoints.values = *values;
  keypoints.confidence = number<double>(params, "confidence", G_TYPE_DOUBLE);
  keypoints.names = read_texts(params, "point_names");
  keypoints.confidences = read_doubles(params, "point_confidences");
  if (keypoints.names.size() != keypoints.size()) keypoints.names.clear();
  if (keypoints.confidences.size() != keypoints.size())
    keypoints.confidences.assign(keypoints.size(), 1.0);
  for (size_t i = 0; i < keypoints.size(); ++i) {
    if (!std::isfinite(keypoints.x(i)) || !std::isfinite(keypoints.y(i)))
      keypoints.confidences[i] = 0.0;
  }
  const std::vector<guint> ends = read_uints(params, "point_connections");
  for (size_t i = 0; i + 1 < ends.size(); i += 2) {
    if (ends[i] < keypoints.size() && ends[i + 1] < keypoints.size())
      keypoints.connections.emplace_back(static_cast<int>(ends[i]), static_cast<int>(ends[i + 1]));
  }
  tensors.keypoints.push_back(std::move(keypoints));
  return true;
}

bool read_segmentation(const GstStructure* params, ObjectTensors& tensors) {
  const std::optional<Tensor> values = read_tensor(params);
  if (!values || values->rank() != 3 || values->shape()[0] != 1 ||
      (values->type() != ElementType::UInt8 && values->type() != ElementType::UInt16))
    return false;
  ObjectSegmentation segmentation;
  segmentation.origin = read_origin(params);
  segmentation.values = *values;
  segmentation.labels = read_texts(params, "labels");
  if (!read_box(params, segmentation)) return false;
  tensors.segmentations.push_back(std::move(segmentation));
  return true;
}

bool read_mask(const GstStructure* params, ObjectTensors& tensors) {
  const std::optional<Tensor> values = read_tensor(params);
  if (!values || values->type() != ElementType::Float32 || values->rank() != 2) return false;
  ObjectMask mask;
  mask.origin = read_origin(params);
  mask.values = *values;
  if (!read_box(params, mask)) return false;
  tensors.masks.push_back(std::move(mask));
  return true;
}

bool read_picture(const GstStructure* params, ObjectTensors& tensors) {
  const GValue* value = gst_structure_get_value(params, "sample");
  GstSample* sample =
      value && GST_VALUE_HOLDS_SAMPLE(value) ? gst_value_get_sample(value) : nullptr;
  GstCaps* caps = sample ? gst_sample_get_caps(sample) : nullptr;
  GstVideoInfo info;
  if (!caps || !gst_video_info_from_caps(&info, caps)) return false;
  tensors.pictures.push_back({read_origin(params), GST_VIDEO_INFO_NAME(&info),
                              GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info)});
  return true;
}

}  // namespace

bool has_tensors(const Results& results) {
  return !results.tensors.empty() || !results.keypoints.empty() || !results.segmentations.empty() ||
         !results.pictures.empty();
}

void add_tensors(RegionMeta region, float width, float height, std::string_view model_name,
                 const Results& results) {
  for (const TensorResult& tensor : results.tensors) {
    add_with_tensor(region,
                    new_params(kTensor, {tensor.attribute, tensor.format, tensor.layer,
                                         std::string(model_name)}),
                    tensor.values);
  }
  for (const Keypoints& keypoints : results.keypoints) add_keypoints(region, model_name, keypoints);
  for (const Segmentation& segmentation : results.segmentations)
    add_segmentation(region, width, height, model_name, segmentation);
  for (const PictureResult& picture : results.pictures) add_picture(region, model_name, picture);
}

void add_mask(RegionMeta region, float width, float height, std::string_view model_name,
              const Detection& detection) {
  const Mask& mask = detection.mask;
  const Shape shape{mask.height, mask.width};
  if (mask.empty() || static_cast<int64_t>(mask.values.size()) != element_count(shape)) return;
  GstStructure* params = new_params(kMask, {"", kInstanceFormat, "", std::string(model_name)});
  set_box(params, detection, width, height);
  add_with_tensor(region, params, Tensor::from<float>(shape, mask.values));
  std::vector<uint8_t> covered;
  for (const float value : mask.values) covered.push_back(value >= kCovered ? 1 : 0);
  region.add_segmentation({Tensor::from<uint8_t>(shape, covered), pixels_of(detection), {}, true},
                          static_cast<int>(width), static_cast<int>(height));
}

void read_segmentation(const RegionSegmentation& read, int width, int height,
                       ObjectTensors& tensors) {
  const Rect& rect = read.rect;
  const auto place = [&](auto& target) {
    target.x_min = static_cast<double>(rect.x) / width;
    target.x_max = (static_cast<double>(rect.x) + rect.width) / width;
    target.y_min = static_cast<double>(rect.y) / height;
    target.y_max = (static_cast<double>(rect.y) + rect.height) / height;
  };
  if (!read.of_one_object) {
    ObjectSegmentation& segmentation = tensors.segmentations.emplace_back();
    segmentation.origin.format = kSemanticFormat;
    segmentation.values = read.ids;
    segmentation.labels = read.labels;
    place(segmentation);
    return;
  }
  std::vector<float> covered;
  const auto cover = [&](const auto& ids) {
    for (const auto id : ids) covered.push_back(id != 0 ? 1.0f : 0.0f);
  };
  if (read.ids.type() == ElementType::UInt8) {
    cover(read.ids.values<uint8_t>());
  } else {
    cover(read.ids.values<uint16_t>());
  }
  ObjectMask& mask = tensors.masks.emplace_back();
  mask.origin.format = kInstanceFormat;
  mask.values = Tensor::from<float>({read.ids.shape()[1], read.ids.shape()[2]}, covered);
  place(mask);
}

bool read_tensors(const GstStructure* params, ObjectTensors& tensors) {
  if (gst_structure_has_name(params, kKeypoints)) return read_keypoints(params, tensors);
  if (gst_structure_has_name(params, kSegmentation)) return read_segmentation(params, tensors);
  if (gst_structure_has_name(params, kMask)) return read_mask(params, tensors);
  if (gst_structure_has_name(params, kPicture)) return read_picture(params, tensors);
  if (!gst_structure_has_name(params, kTensor)) return false;
  std::optional<Tensor> values = read_tensor(params);
  if (!values) return false;
  tensors.tensors.push_back({read_origin(params), std::move(*values)});
  return true;
}

}  // namespace het::gst
