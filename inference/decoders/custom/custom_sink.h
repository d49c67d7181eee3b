#pragma once

#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/custom_decoder.h"
#include "inference/decoders/results.h"

namespace het {

/// Takes what a custom decoder reports, checks it and makes Results of it. Thread-bound; one per
/// call of the library.
class CustomSink {
 public:
  /// `labels` name label ids that come without a label; may be null and outlives the sink.
  explicit CustomSink(const std::vector<std::string>* labels);
  CustomSink(const CustomSink&) = delete;
  CustomSink& operator=(const CustomSink&) = delete;

  const HetResultSink* table() const { return &table_; }
  /// The first value that was refused or what the library itself said; empty: nothing.
  const std::string& complaint() const { return complaint_; }
  Results take() { return std::move(results_); }

 private:
  template <class T>
  static int32_t add(void* context, const T* value) noexcept;
  static void set_error(void* context, const char* message) noexcept;
  Status check_room() const;
  Status enter(const HetDetection& value);
  Status enter(const HetClassification& value);
  Status enter(const HetTensorResult& value);
  Status enter(const HetKeypoints& value);

  const std::vector<std::string>* labels_;
  HetResultSink table_{};
  Results results_;
  size_t tensor_bytes_ = 0;
  std::string complaint_;
};

}  // namespace het
