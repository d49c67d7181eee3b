#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/devices/device.h"
#include "inference/model/model.h"
#include "inference/passes/infer_shapes.h"

namespace het {

/// What every device does to its clone of a model before its own rewrites: checks that the input
/// shapes are static, removes identities, infers shapes, folds constants, inlines Ifs of constant
/// condition, removes unused nodes and sorts. Afterwards every node has a known operator, and a
/// value without a static desc is sized at run time. A model output may be a model input or a
/// constant. Fails with InvalidArgument for an unbound dimension. Nodes that cannot run are all
/// named, with NotSupported unless an operator refused its inputs for another reason.
HET_API Status prepare_model(Model& model);

/// The same for query_model(): unbound dimensions are allowed (shapes are inferred as far as they
/// go) and nodes that cannot run are returned instead of being an error. Fails on a cycle only.
HET_API Result<std::vector<NodeFailure>> prepare_model_for_query(Model& model);

/// Fails with InvalidArgument when an input has a dimension that nobody bound.
HET_API Status check_inputs_static(const Model& model);

/// The sizes of something that the node reads are not known.
HET_API bool reads_unknown_sizes(const Node& node);

/// Reason of a supported row that may be another once the model's unknown dimensions are bound.
inline constexpr std::string_view kUnknownSizes =
    "depends on unknown sizes, judged once they are bound";

/// Rows of Device::query_model() for `original`, in the order of its nodes, from what the device
/// says about the nodes of `prepared`, its rewritten clone. `failures` are
/// prepare_model_for_query's; `refuse` gives the device's own reason against a node, or an empty
/// text. Nodes are found by Node::original_names(); those that no node stands for were folded or
/// removed and cost nothing. While inputs of the model have unknown dimensions, nodes that read
/// values without a known size are supported with kUnknownSizes as the reason.
HET_API std::vector<NodeSupport> query_rows(const Model& original, const Model& prepared,
                                            const std::vector<NodeFailure>& failures,
                                            std::string_view device,
                                            const std::function<std::string(const Node&)>& refuse);

}  // namespace het
