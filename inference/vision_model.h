#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inference/base/visibility.h"
#include "inference/core.h"
#include "inference/decoders/decoder.h"
#include "inference/decoders/exchange/tensor_groups.h"
#include "inference/decoders/model_proc.h"
#include "inference/decoders/plausibility.h"
#include "inference/decoders/results.h"
#include "inference/devices/device_event_list.h"
#include "inference/preprocess/custom_preprocess.h"

namespace het {

/// What a user says to run a vision model on pictures; the same for elements, tools and examples.
struct VisionModelSettings {
  std::string model;       ///< path of the model file
  std::string model_proc;  ///< path of the descriptor; empty: none
  /// Keys of OpenVINO's model_info (resize_type, pad_value, reverse_input_channels, mean_values,
  /// scale_values) with values that win over the descriptor's and the model's own.
  Properties picture_preparation;
  std::string labels_file;          ///< one label per line; empty: the descriptor's labels
  std::vector<std::string> labels;  ///< given directly; wins over labels_file
  std::string device = "CPU";
  Properties properties;
  std::map<std::string, Shape> reshape;  ///< input name -> shape; unknown batch sizes become 1
  int picture_width = 0;   ///< of the picture input after reshaping, in pixels; 0: as in the file
  int picture_height = 0;  ///< the same; both fail where `reshape` names that input too
  int unknown_side = 0;    ///< what sides of the picture input become that nobody says; 0: an error
  /// Shared library of a decoder of one's own (inference/custom_decoder.h); empty: none. It is code
  /// that runs in this process.
  std::string custom_library;
  /// The same for preprocessing of one's own (inference/custom_preprocess.h), which fills the
  /// picture input in set_picture(); empty: none.
  std::string preprocess_library;
  /// The application's objects a GPU is to work in, where it can; else it works in its own.
  ContextParams context;
  bool raw_tensors = false;  ///< true: no decoder is wanted (only set_picture is used)
  /// True: the results are the outputs as tensors, whatever they mean: all of them, or those that
  /// the descriptor's output_postproc names, with its names for them.
  bool copy_outputs = false;
};

struct ModelReading;

/// An output as decoders of other programs read it.
struct ExchangedTensor {
  std::string id;
  bool column_major = false;  ///< see GroupTensor
  Tensor values;              ///< dense host memory; the batch dimension is 1
};

/// A compiled model with its way in (preprocessing) and out (decoders): pictures in, Results out.
/// Immutable after load(); shared by streams; thread-safe.
class HET_API VisionModel {
 public:
  /// Reads, describes, compiles. Errors name the file or property at fault.
  static Result<std::shared_ptr<VisionModel>> load(Core& core, const VisionModelSettings& settings);

  CompiledModel& compiled() const { return *compiled_; }
  /// As CompiledModel's, of the models for all widths.
  std::vector<DeviceEvent> device_events(uint64_t& next) const;
  /// The model for a region: of those that were compiled for several widths (readers of lines) the
  /// narrowest that holds the region at the input's height, else this one, which is the widest.
  const VisionModel& for_region(const Rect& roi) const;
  /// Largest batch size that one request takes.
  int64_t batch_size() const { return batch_size_; }
  /// Size of the picture input, in pixels.
  int input_width() const { return input_width_; }
  int input_height() const { return input_height_; }
  /// Of all its decoders; empty where it has none.
  const std::vector<std::string>& labels() const { return labels_; }

  /// True where a library of the user's prepares pictures; then it wants them whole.
  bool has_own_preprocess() const { return custom_preprocess_ != nullptr; }
  /// What of a region set_picture() shows to the model, and where it lies in the model's input. A
  /// picture of just that part, as large as that place, gives the same input but for rounding.
  Result<PictureGeometry> shown_part(const Rect& roi) const;

  /// Binds a part of a picture to batch item `batch_index` of the request, and what else the
  /// descriptor asks for (image_info).
  Status set_picture(InferRequest& request, const Image& image, const Rect& roi,
                     int64_t batch_index = 0) const;

  /// Reads what was found in batch item `batch_index` after the request ended; coordinates are
  /// pixels of the source picture. `threshold` 0 leaves the decoders' own.
  Result<Results> results(const InferRequest& request, int source_width, int source_height,
                          const Rect& roi, int64_t batch_index = 0, float threshold = 0.0f) const;

  /// With copy_outputs: what programs that exchange tensors call the outputs; else empty.
  const TensorGroup& tensor_group() const { return tensor_group_; }
  /// The tensors of one picture or ROI (of results()) as that group means them: ids, and places of
  /// the source picture.
  Result<std::vector<ExchangedTensor>> exchanged_tensors(const std::vector<TensorResult>& tensors,
                                                         int source_width, int source_height,
                                                         const Rect& roi) const;

 private:
  VisionModel() = default;
  static Result<std::shared_ptr<VisionModel>> load_one(Core& core, ModelReading reading,
                                                       const VisionModelSettings& settings);
  /// Of batch item 0 with the decoders' own threshold.
  Result<DecodeContext> context_of(int source_width, int source_height, const Rect& roi) const;

  std::vector<std::shared_ptr<VisionModel>> narrower_;  ///< ascending
  TensorGroup tensor_group_;
  std::shared_ptr<CompiledModel> compiled_;
  mutable JoinedDeviceEvents events_;  ///< of all widths, where there are several
  std::vector<std::unique_ptr<Decoder>> decoders_;
  mutable ResultWatch watch_;
  /// Content of the inputs that are no pictures (image_info and the like); the same for every
  /// execution, so all requests share it.
  std::vector<std::pair<size_t, Tensor>> fixed_inputs_;
  std::vector<std::string> labels_;
  PreprocessDesc preprocess_;
  std::unique_ptr<CustomPreprocess> custom_preprocess_;  ///< null: none
  size_t picture_input_ = 0;
  int64_t batch_size_ = 1;
  int input_width_ = 0;
  int input_height_ = 0;
};

}  // namespace het
