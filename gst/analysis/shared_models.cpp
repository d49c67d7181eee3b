#include "shared_models.h"

#include <map>
#include <mutex>
#include <string_view>

namespace het::gst {
namespace {

struct Instance {
  std::weak_ptr<VisionModel> model;
  std::weak_ptr<StreamShares> shares;
  VisionModelSettings settings;
};

/// Process-wide because elements of different pipelines share models. Holds no model itself.
struct Instances {
  std::mutex mutex;  ///< protects by_id; held while a model is loaded
  std::map<std::string, Instance> by_id;
};

Instances& instances() {
  static Instances instances;
  return instances;
}

/// The shares of all users; they may have gone with the last one while the model was still there.
std::shared_ptr<StreamShares> shares_of(Instance& instance) {
  std::shared_ptr<StreamShares> shares = instance.shares.lock();
  if (!shares) instance.shares = shares = std::make_shared<StreamShares>(1);
  return shares;
}

/// The property in which two settings differ, or an empty string.
std::string_view difference(const VisionModelSettings& a, const VisionModelSettings& b) {
  if (a.model != b.model) return "model";
  if (a.model_proc != b.model_proc) return "model-proc";
  if (a.labels_file != b.labels_file) return "labels-file";
  if (a.labels != b.labels) return "labels";
  if (a.device != b.device) return "device";
  if (a.custom_library != b.custom_library) return "custom-postproc-lib";
  if (a.preprocess_library != b.preprocess_library) return "custom-preproc-lib";
  if (a.properties != b.properties) return "ie-config";
  if (a.context != b.context) return "device (another VADisplay)";
  if (a.picture_preparation != b.picture_preparation) return "pre-process-config";
  if (a.picture_width != b.picture_width) return "reshape-width";
  if (a.picture_height != b.picture_height) return "reshape-height";
  return "";
}

}  // namespace

Result<SharedModel> shared_model(Core& core, const std::string& instance_id,
                                 const VisionModelSettings& wanted) {
  if (instance_id.empty()) {
    HET_ASSIGN(std::shared_ptr<VisionModel> own, VisionModel::load(core, wanted));
    return SharedModel{std::move(own), nullptr};
  }
  Instances& all = instances();
  std::lock_guard lock(all.mutex);
  std::erase_if(all.by_id, [](const auto& entry) { return entry.second.model.expired(); });
  const auto found = all.by_id.find(instance_id);
  if (found != all.by_id.end()) {
    if (std::shared_ptr<VisionModel> model = found->second.model.lock()) {
      if (wanted.copy_outputs != found->second.settings.copy_outputs) {
        return error(StatusCode::InvalidArgument,
                     "model-instance-id '{}' is in use by an element of another kind: "
                     "heteroinference does not read the results of its model, the others do; give "
                     "another id",
                     instance_id);
      }
      const std::string_view property =
          wanted.model.empty() ? "" : difference(wanted, found->second.settings);
      if (property.empty()) return SharedModel{std::move(model), shares_of(found->second)};
      return error(StatusCode::InvalidArgument,
                   "model-instance-id '{}' is in use with another value of the property {}; give "
                   "the same value or another id",
                   instance_id, property);
    }
  }
  if (wanted.model.empty()) {
    return error(StatusCode::InvalidArgument,
                 "no element has loaded a model with model-instance-id '{}' yet; set the property "
                 "model of the first element with this id",
                 instance_id);
  }
  HET_ASSIGN(std::shared_ptr<VisionModel> model, VisionModel::load(core, wanted));
  Instance& instance = all.by_id[instance_id];
  instance = {model, {}, wanted};
  return SharedModel{std::move(model), shares_of(instance)};
}

}  // namespace het::gst
