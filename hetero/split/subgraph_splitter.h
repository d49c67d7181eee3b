#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/tensors/tensor.h"

namespace het::hetero {

/// An input or an output of a subgraph.
struct SubgraphPort {
  size_t subgraph = 0;
  size_t index = 0;
  bool operator==(const SubgraphPort&) const = default;
};

/// Where the tensor for a subgraph's input or a model's output comes from.
struct TensorSource {
  enum class Kind {
    ModelInput,      ///< the whole model's input `index`
    SubgraphOutput,  ///< output `index` of `subgraph`
    Constant,        ///< always `constant`; model outputs only
  };
  Kind kind = Kind::ModelInput;
  size_t subgraph = 0;
  size_t index = 0;
  Tensor constant = {};
};

/// Connected nodes on one device, as a model of their own.
struct Subgraph {
  std::string name;  ///< "<model>_<i>"
  std::string device;
  std::vector<size_t> nodes;  ///< indices of the whole model's nodes, ascending
  /// Nodes and values have the names of the whole model's. Inputs: first model inputs (preprocess
  /// and names of dimensions kept), then values of other subgraphs. Outputs have the names of their
  /// values and are all read by another subgraph or are model outputs; there may be none.
  std::unique_ptr<Model> model;
  std::vector<TensorSource> inputs;  ///< per input of `model`
  /// Subgraphs that must have run before; ascending and lower than this one's index.
  std::vector<size_t> dependencies;
};

/// A value that goes from a subgraph to others: one output of its producer and one input of each
/// reader, however many nodes read it there.
struct CutValue {
  std::string name;
  TensorDesc desc;  ///< not static when the value is sized at run time
  SubgraphPort producer;
  std::vector<SubgraphPort> readers;
};

/// A model as subgraphs that run one after the other in this order, or side by side as far as their
/// dependencies allow.
struct Split {
  std::vector<Subgraph> subgraphs;
  std::vector<size_t> subgraph_of;  ///< per node of the whole model
  /// Per model input the subgraph inputs that take it; empty for an unused input.
  std::vector<std::vector<SubgraphPort>> input_readers;
  std::vector<TensorSource> outputs;  ///< per model output
  std::vector<CutValue> cuts;         ///< in the order of their producers
};

/// Splits a model, whose nodes are sorted and whose shapes are inferred as far as possible, into
/// subgraphs of one device each. `devices` has a name per node, in the order of model.nodes(). It
/// may be empty for a node that reads constants only (or such nodes): it goes where the first node
/// that reads it is.
///
/// Values decide what belongs together: no cycle between subgraphs arises, and nodes of a device
/// that are connected are one subgraph where that closes no cycle (partition_graph()). Constants
/// are in every subgraph that reads them, with shared memory. A model output follows its producer;
/// it may also be a model input or a constant, which needs no subgraph. ReadValue and Assign of a
/// variable are in one subgraph. Metadata of the model stay with the caller.
///
/// Fails with InvalidArgument when the number of devices is wrong, a node has none or comes before
/// its producer, or when the nodes of a variable are on two devices or cannot be in one subgraph.
Result<Split> split_model(const Model& model, const std::vector<std::string>& devices);

}  // namespace het::hetero
