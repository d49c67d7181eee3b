/// Functions of HetVisionModel and HetResults.

#include "inference/vision_model.h"

#include "hetinference/arguments.h"
#include "hetinference/handles.h"
#include "hetinference/sized_struct.h"
#include "inference/tensors/custom_type_numbers.h"

using namespace het;
using namespace het::c_interface;

namespace {

std::vector<float> flat_points(const std::vector<Point>& points) {
  std::vector<float> flat;
  flat.reserve(points.size() * 2);
  for (const Point& point : points) {
    flat.push_back(point.x);
    flat.push_back(point.y);
  }
  return flat;
}

/// Element `index` of a kind of results, after the arguments of its accessor were checked.
template <class T, class Out>
Result<const T*> element(const HetResults* results, const std::vector<T> Results::*kind,
                         size_t index, const Out* out) {
  HET_TRY(not_null(results, "results"));
  HET_TRY(check_size(out, "the struct to fill"));
  const std::vector<T>& all = results->results.*kind;
  if (index >= all.size()) {
    return error(StatusCode::NotFound, "there is no element {} of {}", index, all.size());
  }
  return &all[index];
}

const char* text_or(const char* text, const char* otherwise) {
  return text ? text : otherwise;
}

}  // namespace

HetStatus het_vision_model_load(HetCore* core, const HetVisionSettings* settings,
                                HetVisionModel** model) {
  if (model) *model = nullptr;
  return call("het_vision_model_load", [&]() -> Status {
    HET_TRY(not_null(core, "core"));
    HET_TRY(not_null(model, "model"));
    HET_ASSIGN(const HetVisionSettings known, read_struct(settings, "settings"));
    HET_TRY(not_null(known.model, "settings.model"));
    VisionModelSettings wanted;
    wanted.model = known.model;
    wanted.model_proc = text_or(known.model_proc, "");
    wanted.labels_file = text_or(known.labels_file, "");
    wanted.device = text_or(known.device, "CPU");
    wanted.custom_library = text_or(known.custom_library, "");
    wanted.picture_width = known.picture_width;
    wanted.picture_height = known.picture_height;
    HET_ASSIGN(wanted.properties, to_properties(known.properties, known.property_count));
    HET_ASSIGN(auto loaded, VisionModel::load(*core->core, wanted));
    *model = new HetVisionModel{core->core, std::move(loaded)};
    return {};
  });
}

void het_vision_model_release(HetVisionModel* model) {
  delete model;
}

HetStatus het_vision_model_input_size(const HetVisionModel* model, int32_t* width, int32_t* height,
                                      int64_t* batch_size) {
  return call("het_vision_model_input_size", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    HET_TRY(not_null(width, "width"));
    HET_TRY(not_null(height, "height"));
    HET_TRY(not_null(batch_size, "batch_size"));
    *width = model->model->input_width();
    *height = model->model->input_height();
    *batch_size = model->model->batch_size();
    return {};
  });
}

HetStatus het_vision_model_create_request(HetVisionModel* model, HetRequest** request) {
  if (request) *request = nullptr;
  return call("het_vision_model_create_request", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    HET_TRY(not_null(request, "request"));
    HET_ASSIGN(auto made, model->model->compiled().create_infer_request());
    *request = new HetRequest{model->core, {}, std::move(made)};
    return {};
  });
}

HetStatus het_vision_model_set_picture(const HetVisionModel* model, HetRequest* request,
                                       const HetPicture* picture, const HetRegion* region,
                                       size_t batch_index) {
  return call("het_vision_model_set_picture", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    HET_TRY(not_null(request, "request"));
    HET_ASSIGN(const HetPicture known, read_struct(picture, "picture"));
    if (&request->request->compiled_model() != &model->model->compiled()) {
      return error(StatusCode::InvalidArgument, "the request belongs to another model");
    }
    const auto kept = std::make_shared<bool>(false);
    HET_ASSIGN(const Image image, to_image(known, kept));
    HET_ASSIGN(const Rect roi, to_rect(region, image.width, image.height));
    HET_TRY(model->model->set_picture(*request->request, image, roi,
                                      static_cast<int64_t>(batch_index)));
    *kept = true;
    return {};
  });
}

HetStatus het_vision_model_results(const HetVisionModel* model, const HetRequest* request,
                                   int32_t source_width, int32_t source_height,
                                   const HetRegion* region, size_t batch_index, float threshold,
                                   HetResults** results) {
  if (results) *results = nullptr;
  return call("het_vision_model_results", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    HET_TRY(not_null(request, "request"));
    HET_TRY(not_null(results, "results"));
    if (&request->request->compiled_model() != &model->model->compiled()) {
      return error(StatusCode::InvalidArgument, "the request belongs to another model");
    }
    if (batch_index >= static_cast<size_t>(model->model->batch_size())) {
      return error(StatusCode::InvalidArgument, "there is no batch item {}; the model takes {}",
                   batch_index, model->model->batch_size());
    }
    HET_ASSIGN(const Rect roi, to_rect(region, source_width, source_height));
    HET_ASSIGN(Results found,
               model->model->results(*request->request, source_width, source_height, roi,
                                     static_cast<int64_t>(batch_index), threshold));
    auto made = std::make_unique<HetResults>();
    made->results = std::move(found);
    for (const Detection& detection : made->results.detections) {
      made->object_points.push_back(flat_points(detection.landmarks.points));
    }
    for (const Keypoints& keypoints : made->results.keypoints) {
      made->keypoint_points.push_back(flat_points(keypoints.landmarks.points));
    }
    *results = made.release();
    return {};
  });
}

void het_results_release(HetResults* results) {
  delete results;
}

HetStatus het_results_counts(const HetResults* results, HetResultCounts* counts) {
  return call("het_results_counts", [&]() -> Status {
    HET_TRY(not_null(results, "results"));
    HET_TRY(check_size(counts, "counts"));
    const Results& all = results->results;
    write_struct(
        HetResultCounts{0, all.detections.size(), all.classifications.size(), all.keypoints.size(),
                        all.segmentations.size(), all.tensors.size()},
        counts);
    return {};
  });
}

HetStatus het_results_object(const HetResults* results, size_t index, HetFoundObject* object) {
  return call("het_results_object", [&]() -> Status {
    HET_ASSIGN(const Detection* from, element(results, &Results::detections, index, object));
    const std::vector<float>& points = results->object_points[index];
    HetFoundObject found{};
    found.x_min = from->x_min;
    found.y_min = from->y_min;
    found.x_max = from->x_max;
    found.y_max = from->y_max;
    found.confidence = from->confidence;
    found.label_id = from->label_id;
    found.label = from->label.c_str();
    found.rotation = from->rotation;
    found.point_count = static_cast<uint32_t>(points.size() / 2);
    found.points = points.empty() ? nullptr : points.data();
    if (!from->mask.empty()) {
      found.mask_width = from->mask.width;
      found.mask_height = from->mask.height;
      found.mask = from->mask.values.data();
    }
    write_struct(found, object);
    return {};
  });
}

HetStatus het_results_class(const HetResults* results, size_t index, HetFoundClass* found) {
  return call("het_results_class", [&]() -> Status {
    HET_ASSIGN(const Classification* from,
               element(results, &Results::classifications, index, found));
    write_struct(HetFoundClass{0, from->attribute.c_str(), from->label.c_str(), from->label_id,
                               from->confidence},
                 found);
    return {};
  });
}

HetStatus het_results_keypoints(const HetResults* results, size_t index, HetFoundKeypoints* found) {
  return call("het_results_keypoints", [&]() -> Status {
    HET_ASSIGN(const Keypoints* from, element(results, &Results::keypoints, index, found));
    const std::vector<float>& points = results->keypoint_points[index];
    const std::vector<float>& confidences = from->landmarks.confidences;
    write_struct(HetFoundKeypoints{0, from->format.c_str(), from->confidence,
                                   static_cast<uint32_t>(points.size() / 2), points.data(),
                                   confidences.empty() ? nullptr : confidences.data()},
                 found);
    return {};
  });
}

HetStatus het_results_segments(const HetResults* results, size_t index, HetFoundSegments* found) {
  return call("het_results_segments", [&]() -> Status {
    HET_ASSIGN(const Segmentation* from, element(results, &Results::segmentations, index, found));
    write_struct(HetFoundSegments{0, from->attribute.c_str(), from->x_min, from->y_min, from->x_max,
                                  from->y_max, from->width, from->height, from->class_ids.data()},
                 found);
    return {};
  });
}

HetStatus het_results_tensor(const HetResults* results, size_t index, HetFoundTensor* found) {
  return call("het_results_tensor", [&]() -> Status {
    HET_ASSIGN(const TensorResult* from, element(results, &Results::tensors, index, found));
    const Tensor& values = from->values;
    HetFoundTensor result{};
    result.attribute = from->attribute.c_str();
    result.layer = from->layer.c_str();
    result.format = from->format.c_str();
    result.type = custom_type_number(values.type());
    result.rank = static_cast<uint32_t>(values.rank());
    result.shape = values.shape().data();
    result.data = values.bytes();
    result.size_bytes = values.size_bytes();
    write_struct(result, found);
    return {};
  });
}
