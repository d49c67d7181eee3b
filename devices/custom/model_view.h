#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "inference/base/status.h"
#include "inference/custom_device.h"
#include "inference/model/model.h"
#include "inference/tensors/tensor.h"

namespace het::custom {

/// Type and shape for a library; without a type where it has no number for it. Points into `desc`.
HetValueDesc value_desc(const TensorDesc& desc);

/// A prepared model as libraries see it. Points into the model, which must not change meanwhile.
/// Thread-bound.
class ModelView {
 public:
  explicit ModelView(const Model& prepared);
  ModelView(const ModelView&) = delete;
  ModelView& operator=(const ModelView&) = delete;

  const HetDeviceModel& model() const { return model_; }
  /// Why onnx() failed; ok when it did not.
  const Status& failure() const { return failure_; }

 private:
  HetValueDesc value(const Value* value) const;
  std::vector<HetValueDesc> values_of(const std::vector<Value*>& values) const;
  Status write();

  const Model& prepared_;
  std::unordered_map<const Value*, uint32_t> numbers_;
  std::vector<std::vector<HetValueDesc>> values_;  ///< inputs and outputs of each node in turn
  std::vector<HetDeviceNode> nodes_;
  std::vector<const HetDeviceNode*> node_pointers_;
  std::vector<HetDevicePort> inputs_;
  std::vector<HetDevicePort> outputs_;
  HetDeviceModel model_{};
  std::string file_;
  Status failure_;
};

}  // namespace het::custom
