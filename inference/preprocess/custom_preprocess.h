#pragma once

#include <memory>
#include <string>

#include "inference/base/shared_library.h"
#include "inference/base/status.h"
#include "inference/custom_preprocess.h"
#include "inference/preprocess/preprocess.h"
#include "inference/tensors/tensor.h"

namespace het {

/// A user's preprocessing (inference/custom_preprocess.h) for one model input; its library is open
/// as long as the object lives. Thread-safe.
class CustomPreprocess {
 public:
  /// Opens the library and lets it see the input, whose pictures would be prepared as `desc` says.
  /// The error says what is missing (the file, the symbol, a version that fits, the function
  /// convert) or why the library refuses the input.
  static Result<std::unique_ptr<CustomPreprocess>> load(const std::string& path,
                                                        const std::string& input_name,
                                                        const TensorDesc& input,
                                                        const PreprocessDesc& desc);
  ~CustomPreprocess();
  CustomPreprocess(const CustomPreprocess&) = delete;
  CustomPreprocess& operator=(const CustomPreprocess&) = delete;

  /// Fills batch item `batch_index` of `dst`, a dense host tensor of the input. The ROI is clipped
  /// to the picture; an empty one is an error.
  Status convert(const Image& image, const Rect& roi, Tensor& dst, int64_t batch_index) const;
  /// Where a ROI lies in the input; `usual` is what the descriptor's resize gives.
  Result<PictureTransform> place(const Rect& roi, const PictureTransform& usual) const;

 private:
  class Host;
  CustomPreprocess() = default;
  HetTensorTarget target() const;

  std::unique_ptr<SharedLibrary> library_;
  const HetCustomPreprocess* table_ = nullptr;
  std::string title_;  ///< "preprocessing 'name' of 'path'", for messages
  std::string input_name_;
  TensorDesc item_;  ///< of one batch item, with its batch dimension
  PreprocessDesc desc_;
  void* instance_ = nullptr;
  bool created_ = false;
};

}  // namespace het
