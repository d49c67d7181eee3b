#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hetinference/c.h"
#include "inference/core.h"
#include "inference/tensors/surface_access.h"
#include "inference/vision_model.h"

// What the handles of the interface hold. Members are destroyed last to first: the core goes last.

struct HetCore {
  std::shared_ptr<het::Core> core;
};

struct HetContext {
  std::shared_ptr<het::Core> core;
  std::shared_ptr<het::DeviceContext> context;
};

struct HetDisplay {
  std::shared_ptr<het::SurfaceAccess> access;
};

struct HetModel {
  std::unique_ptr<het::Model> model;
};

struct HetModelQuery {
  std::vector<het::NodeSupport> nodes;
};

struct HetCompiledModel {
  std::shared_ptr<het::Core> core;
  std::shared_ptr<het::CompiledModel> model;
};

/// Rows with the pointers that callers get.
struct HetSubgraphs {
  struct Texts {
    std::vector<const char*> nodes, inputs, outputs;
  };
  std::vector<het::SubgraphInfo> rows;
  std::vector<Texts> texts;  ///< of each row
};

struct HetRequest {
  std::shared_ptr<het::Core> core;
  std::vector<het::ProfileRow> profile;
  std::unique_ptr<het::InferRequest> request;
};

struct HetVisionModel {
  std::shared_ptr<het::Core> core;
  std::shared_ptr<het::VisionModel> model;
};

struct HetResults {
  het::Results results;
  std::vector<std::vector<float>> object_points;    ///< x and y, one list per detection
  std::vector<std::vector<float>> keypoint_points;  ///< the same per Keypoints
};
