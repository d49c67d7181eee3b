#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hetero/placement/placement.h"
#include "hetero/placement/plan_report.h"
#include "inference/devices/choice_store.h"
#include "inference/devices/properties.h"
#include "inference/model/model.h"

namespace het::hetero {

/// A placement and its part of the executions.
struct StoredWay {
  std::vector<size_t> devices;  ///< per node
  bool in_stages = false;       ///< split_in_stages()
  double share = 1;
};

/// What measuring chose for a model.
struct StoredPlan {
  size_t requests = 0;  ///< PlanCandidate::requests
  std::vector<StoredWay> ways;
};

StoredPlan to_stored(const PlanCandidate& candidate);

/// Plans in CACHE_DIR: by model, devices with their properties, and policy. An entry that does not
/// fit counts as none. Thread-bound.
class PlanStore {
 public:
  PlanStore(const Properties& properties, const SupportTable& table);

  std::optional<StoredPlan> find(std::string_view policy, const Model& prepared);
  void keep(std::string_view policy, const Model& prepared, const StoredPlan& plan,
            std::map<std::string, double> times_us);

 private:
  std::string key_of(std::string_view policy, const Model& prepared) const;

  size_t devices_;
  std::string device_key_;
  std::optional<ChoiceStore> store_;  ///< none where CACHE_DIR is empty
};

}  // namespace het::hetero
