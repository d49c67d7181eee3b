#include "hetero/split/subgraph_splitter.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "hetero/split/graph_partition.h"
#include "hetero/split/subgraph_links.h"

namespace het::hetero {
namespace {

bool keeps_state(const Node& node) {
  return node.domain() == "het" && (node.op_type() == "ReadValue" || node.op_type() == "Assign");
}

std::string describe_node(const Node& node) {
  return fmt::format("node '{}' ({})", node.name(), node.qualified_type());
}

class Splitter {
 public:
  Splitter(const Model& model, std::vector<std::string> devices)
      : model_(model), devices_(std::move(devices)) {}

  Result<Split> run() {
    HET_TRY(number_nodes());
    HET_TRY(complete_devices());
    HET_TRY(partition());
    find_crossing_values();
    for (size_t i = 0; i < split_.subgraphs.size(); ++i) build_subgraph(i);
    connect();
    return std::move(split_);
  }

 private:
  const Node& node(size_t index) const { return *model_.nodes()[index]; }

  Status number_nodes() {
    const auto& nodes = model_.nodes();
    if (devices_.size() != nodes.size()) {
      return error(StatusCode::InvalidArgument,
                   "model '{}' has {} nodes, but {} devices are given for them", model_.name(),
                   nodes.size(), devices_.size());
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (const Value* input : nodes[i]->inputs()) {
        if (input == nullptr || input->producer() == nullptr) continue;
        if (index_of_.contains(input->producer())) continue;
        return error(StatusCode::InvalidArgument,
                     "model '{}' is not sorted: {} comes before {}, whose value '{}' it reads",
                     model_.name(), describe_node(*nodes[i]), describe_node(*input->producer()),
                     input->name());
      }
      index_of_[nodes[i].get()] = i;
    }
    for (size_t i = 0; i < model_.inputs().size(); ++i) {
      input_index_[model_.inputs()[i].value] = i;
    }
    return {};
  }

  /// Pass 1. Nodes without a device of their own get that of their first reader.
  Status complete_devices() {
    std::vector<bool> reads_only_constants(devices_.size());
    for (size_t i = 0; i < devices_.size(); ++i) {
      reads_only_constants[i] = std::ranges::all_of(node(i).inputs(), [&](const Value* input) {
        return input == nullptr || input->is_constant() ||
               (input->producer() != nullptr &&
                reads_only_constants[index_of_.at(input->producer())]);
      });
    }
    for (size_t i = devices_.size(); i-- > 0;) {
      if (!devices_[i].empty()) continue;
      size_t reader = devices_.size();
      for (const Value* output : node(i).outputs()) {
        for (const Node* consumer : output->consumers()) {
          reader = std::min(reader, index_of_.at(consumer));
        }
      }
      if (reads_only_constants[i] && reader < devices_.size()) devices_[i] = devices_[reader];
      if (!devices_[i].empty()) continue;
      return error(StatusCode::InvalidArgument, "{} of model '{}' has no device",
                   describe_node(node(i)), model_.name());
    }
    return {};
  }

  /// Pass 2. Who belongs together.
  Status partition() {
    DeviceGraph graph;
    std::map<std::string, size_t> numbers;
    std::unordered_map<const Value*, size_t> shared;
    for (size_t i = 0; i < devices_.size(); ++i) {
      graph.devices.push_back(numbers.emplace(devices_[i], numbers.size()).first->second);
      std::vector<size_t>& sources = graph.sources.emplace_back();
      for (const Value* input : node(i).inputs()) {
        if (input == nullptr) continue;
        if (input->producer() != nullptr) {
          sources.push_back(index_of_.at(input->producer()));
          continue;
        }
        const size_t place = shared.emplace(input, graph.readers.size()).first->second;
        if (place == graph.readers.size()) graph.readers.emplace_back();
        graph.readers[place].push_back(i);
      }
    }
    HET_ASSIGN(const std::vector<std::string> variables, tie_variables(graph));
    const Partition partition = partition_graph(graph);
    if (partition.conflict) {
      const TieConflict& conflict = *partition.conflict;
      return error(StatusCode::InvalidArgument,
                   "variable '{}' is read and assigned on {}, but what is assigned depends on {} "
                   "on {}, which depends on the variable; {} has to be on {} too",
                   variables[conflict.tie], devices_[conflict.node],
                   describe_node(node(conflict.between)), devices_[conflict.between],
                   describe_node(node(conflict.between)), devices_[conflict.node]);
    }
    split_.subgraph_of = partition.part_of;
    split_.subgraphs.resize(partition.part_count);
    for (size_t i = 0; i < devices_.size(); ++i) {
      Subgraph& subgraph = split_.subgraphs[partition.part_of[i]];
      subgraph.nodes.push_back(i);
      subgraph.device = devices_[i];
    }
    return {};
  }

  /// Ties ReadValue and Assign of each variable; returns the variables' names per tie.
  Result<std::vector<std::string>> tie_variables(DeviceGraph& graph) const {
    std::map<std::string, std::vector<size_t>> nodes_of;
    for (size_t i = 0; i < devices_.size(); ++i) {
      if (!keeps_state(node(i))) continue;
      std::vector<size_t>& nodes = nodes_of[node(i).attributes().get_string("variable_id", "")];
      nodes.push_back(i);
      if (devices_[nodes.front()] == devices_[i]) continue;
      return error(
          StatusCode::InvalidArgument,
          "variable '{}' is shared by {} on {} and {} on {}; they have to be on one device",
          node(i).attributes().get_string("variable_id", ""), describe_node(node(nodes.front())),
          devices_[nodes.front()], describe_node(node(i)), devices_[i]);
    }
    std::vector<std::string> variables;
    for (auto& [variable, nodes] : nodes_of) {
      if (nodes.size() < 2) continue;
      variables.push_back(variable);
      graph.ties.push_back(std::move(nodes));
    }
    return variables;
  }

  /// Pass 3. Values that leave their subgraph: cut ones and model outputs.
  void find_crossing_values() {
    for (const ModelOutput& output : model_.outputs()) {
      if (output.value->producer() != nullptr) crossing_[output.value] = {};
    }
    for (const auto& producer : model_.nodes()) {
      const size_t own = split_.subgraph_of[index_of_.at(producer.get())];
      for (const Value* value : producer->outputs()) {
        const bool is_cut = std::ranges::any_of(value->consumers(), [&](const Node* consumer) {
          return split_.subgraph_of[index_of_.at(consumer)] != own;
        });
        if (is_cut) crossing_[value] = {};
      }
    }
  }

  /// Pass 4. A subgraph's own model.
  void build_subgraph(size_t index) {
    Subgraph& subgraph = split_.subgraphs[index];
    subgraph.name = fmt::format("{}_{}", model_.name(), index);
    subgraph.model = std::make_unique<Model>(subgraph.name);
    Model& model = *subgraph.model;
    std::unordered_map<const Value*, Value*> own;
    add_inputs(index, own);
    for (const size_t i : subgraph.nodes) {
      const Node& original = node(i);
      std::vector<Value*> inputs;
      for (const Value* input : original.inputs()) {
        if (input != nullptr && input->is_constant() && !own.contains(input)) {
          own[input] = model.add_constant(input->name(), input->constant());
          model.set_desc(own[input], input->desc());
        }
        inputs.push_back(input != nullptr ? own.at(input) : nullptr);
      }
      const Node* const added = add_copy(original, std::move(inputs), model);
      for (size_t k = 0; k < original.outputs().size(); ++k) {
        const Value* output = original.outputs()[k];
        own[output] = added->outputs()[k];
        model.set_desc(added->outputs()[k], output->desc());
        const auto place = crossing_.find(output);
        if (place == crossing_.end()) continue;
        place->second = {index, model.outputs().size()};
        model.add_output(output->name(), added->outputs()[k]);
      }
    }
  }

  /// Model inputs in their order, then cut values in that of their producers.
  void add_inputs(size_t index, std::unordered_map<const Value*, Value*>& own) {
    Subgraph& subgraph = split_.subgraphs[index];
    std::map<std::pair<size_t, size_t>, const Value*> values;
    const size_t first_cut = model_.inputs().size();
    for (const size_t i : subgraph.nodes) {
      for (const Value* input : node(i).inputs()) {
        if (input == nullptr || input->is_constant()) continue;
        if (input->producer() == nullptr) {
          values[{input_index_.at(input), 0}] = input;
        } else if (const size_t producer = index_of_.at(input->producer());
                   split_.subgraph_of[producer] != index) {
          values[{first_cut + producer, input->producer_output()}] = input;
        }
      }
    }
    for (const auto& [key, value] : values) {
      const size_t place = subgraph.inputs.size();
      own[value] = subgraph.model->add_input(value->name(), value->desc());
      if (key.first < first_cut) {
        const ModelInput& input = model_.inputs()[key.first];
        subgraph.model->set_preprocess(place, input.preprocess);
        subgraph.model->set_dim_names(place, input.dim_names);
        subgraph.inputs.push_back({TensorSource::Kind::ModelInput, 0, key.first});
      } else {
        const SubgraphPort& port = crossing_.at(value);
        subgraph.inputs.push_back({TensorSource::Kind::SubgraphOutput, port.subgraph, port.index});
      }
    }
  }

  static const Node* add_copy(const Node& original, std::vector<Value*> inputs, Model& model) {
    std::vector<std::string> names;
    for (const Value* output : original.outputs()) names.push_back(output->name());
    Node* const added = model.add_node(original.name(), original.op_type(), original.domain(),
                                       std::move(inputs), std::move(names), original.attributes());
    if (original.op() == nullptr) model.mark_unsupported(added, original.unsupported_reason());
    added->set_affinity(original.affinity());
    added->add_original_names(original.original_names());
    return added;
  }

  /// Pass 5. Who reads what from whom.
  void connect() {
    connect_subgraphs(split_, model_.inputs().size());
    for (CutValue& cut : split_.cuts) {
      const Subgraph& producer = split_.subgraphs[cut.producer.subgraph];
      const Value* const value = producer.model->outputs()[cut.producer.index].value;
      cut.name = value->name();
      cut.desc = value->desc();
    }
    for (const ModelOutput& output : model_.outputs()) {
      const Value* const value = output.value;
      if (value->is_constant()) {
        split_.outputs.push_back({TensorSource::Kind::Constant, 0, 0, value->constant()});
      } else if (value->producer() == nullptr) {
        split_.outputs.push_back({TensorSource::Kind::ModelInput, 0, input_index_.at(value)});
      } else {
        const SubgraphPort& port = crossing_.at(value);
        split_.outputs.push_back({TensorSource::Kind::SubgraphOutput, port.subgraph, port.index});
      }
    }
  }

  const Model& model_;
  std::vector<std::string> devices_;
  std::unordered_map<const Node*, size_t> index_of_;
  std::unordered_map<const Value*, size_t> input_index_;
  std::unordered_map<const Value*, SubgraphPort> crossing_;
  Split split_;
};

}  // namespace

Result<Split> split_model(const Model& model, const std::vector<std::string>& devices) {
  return Splitter(model, devices).run();
}

}  // namespace het::hetero
