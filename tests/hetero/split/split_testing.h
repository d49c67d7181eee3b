#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "devices/register_devices.h"
#include "hetero/split/subgraph_splitter.h"
#include "inference/requests/infer_request.h"
#include "tests/devices/device_testing.h"

/// Split models: their rules, and their results beside those of the whole model.
namespace het::hetero::split_testing {

/// The nodes of every subgraph: "add1 add2 | sub | add3".
inline std::string to_text(const Model& model, const Split& split) {
  std::string text;
  for (const Subgraph& subgraph : split.subgraphs) {
    if (!text.empty()) text += " |";
    for (const size_t node : subgraph.nodes) {
      text += (text.empty() ? "" : " ") + model.nodes()[node]->name();
    }
  }
  return text;
}

/// Every node is in one subgraph, on its device and as it was; every tensor has a source that was
/// computed before; nothing is made or read twice.
inline void expect_sound(const Model& model, const std::vector<std::string>& devices,
                         const Split& split) {
  std::vector<size_t> seen(model.nodes().size());
  for (size_t i = 0; i < split.subgraphs.size(); ++i) {
    const Subgraph& subgraph = split.subgraphs[i];
    SCOPED_TRACE(subgraph.name);
    EXPECT_EQ(subgraph.name, model.name() + "_" + std::to_string(i));
    EXPECT_EQ(subgraph.model->name(), subgraph.name);
    ASSERT_EQ(subgraph.nodes.size(), subgraph.model->nodes().size());
    for (size_t k = 0; k < subgraph.nodes.size(); ++k) {
      const size_t index = subgraph.nodes[k];
      const Node& whole = *model.nodes()[index];
      const Node& part = *subgraph.model->nodes()[k];
      ++seen[index];
      EXPECT_EQ(split.subgraph_of[index], i);
      if (!devices[index].empty()) {
        EXPECT_EQ(subgraph.device, devices[index]);
      }
      EXPECT_EQ(part.name(), whole.name());
      EXPECT_EQ(part.op(), whole.op());
      EXPECT_EQ(part.original_names(), whole.original_names());
      EXPECT_EQ(part.affinity(), whole.affinity());
      EXPECT_EQ(part.attributes().size(), whole.attributes().size());
      ASSERT_EQ(part.inputs().size(), whole.inputs().size());
      for (size_t n = 0; n < whole.inputs().size(); ++n) {
        ASSERT_EQ(part.input(n) == nullptr, whole.input(n) == nullptr);
        if (whole.input(n) == nullptr) continue;
        EXPECT_EQ(part.input(n)->name(), whole.input(n)->name());
        EXPECT_EQ(part.input(n)->desc(), whole.input(n)->desc());
        EXPECT_EQ(part.input(n)->is_constant(), whole.input(n)->is_constant());
        if (!whole.input(n)->is_constant()) continue;
        EXPECT_EQ(part.input(n)->constant().bytes(), whole.input(n)->constant().bytes());
      }
    }
    std::set<std::string> names;
    ASSERT_EQ(subgraph.inputs.size(), subgraph.model->inputs().size());
    for (size_t k = 0; k < subgraph.inputs.size(); ++k) {
      const TensorSource& source = subgraph.inputs[k];
      const std::string& name = subgraph.model->inputs()[k].value->name();
      EXPECT_TRUE(names.insert(name).second) << "read twice: " << name;
      if (source.kind == TensorSource::Kind::ModelInput) {
        EXPECT_EQ(model.inputs()[source.index].value->name(), name);
        continue;
      }
      ASSERT_EQ(source.kind, TensorSource::Kind::SubgraphOutput);
      ASSERT_LT(source.subgraph, i);
      EXPECT_EQ(split.subgraphs[source.subgraph].model->outputs().at(source.index).name, name);
      EXPECT_TRUE(std::ranges::binary_search(subgraph.dependencies, source.subgraph));
    }
    std::set<std::string> outputs;
    for (const ModelOutput& output : subgraph.model->outputs()) {
      EXPECT_TRUE(outputs.insert(output.name).second) << "delivered twice: " << output.name;
    }
    EXPECT_TRUE(subgraph.model->clone()->sort().ok());
  }
  EXPECT_EQ(std::ranges::count(seen, size_t{1}), std::ssize(seen));
  EXPECT_EQ(split.outputs.size(), model.outputs().size());
  EXPECT_EQ(split.input_readers.size(), model.inputs().size());
}

/// A compiled model on REF and one request for it.
class RefRun {
 public:
  explicit RefRun(const Model& model) {
    auto compiled = core_->compile_model(model, "REF", {{"NUM_STREAMS", "1"}});
    EXPECT_TRUE(compiled) << compiled.error().message();
    if (compiled) request_ = std::move(*(*compiled)->create_infer_request());
  }
  std::vector<Tensor> infer(const std::vector<Tensor>& inputs) {
    if (request_ == nullptr) return {};
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Status status = request_->set_input(i, inputs[i]);
      EXPECT_TRUE(status.ok()) << status.message();
    }
    const Status status = request_->infer();
    EXPECT_TRUE(status.ok()) << status.message();
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < request_->compiled_model().outputs().size(); ++i) {
      outputs.push_back(*request_->output(i).clone());
    }
    return outputs;
  }

 private:
  std::shared_ptr<Core> core_ = het::core();
  std::unique_ptr<InferRequest> request_;
};

/// Runs subgraph after subgraph on REF.
class SplitRun {
 public:
  explicit SplitRun(const Split& split) : split_(split) {
    for (const Subgraph& subgraph : split.subgraphs) runs_.emplace_back(*subgraph.model);
  }
  std::vector<Tensor> infer(const std::vector<Tensor>& inputs) {
    std::vector<std::vector<Tensor>> made;
    const auto take = [&](const TensorSource& source) -> Tensor {
      if (source.kind == TensorSource::Kind::ModelInput) return inputs.at(source.index);
      if (source.kind == TensorSource::Kind::Constant) return source.constant;
      return made.at(source.subgraph).at(source.index);
    };
    for (size_t i = 0; i < runs_.size(); ++i) {
      std::vector<Tensor> own;
      for (const TensorSource& source : split_.subgraphs[i].inputs) own.push_back(take(source));
      made.push_back(runs_[i].infer(own));
      if (testing::Test::HasFailure()) return {};
    }
    std::vector<Tensor> outputs;
    for (const TensorSource& source : split_.outputs) outputs.push_back(take(source));
    return outputs;
  }

 private:
  const Split& split_;
  std::vector<RefRun> runs_;
};

inline std::vector<Tensor> random_inputs(const Model& model, unsigned seed = 7) {
  std::vector<Tensor> inputs;
  for (const ModelInput& input : model.inputs()) {
    inputs.push_back(device_testing::random_tensor(input.value->desc().shape, seed++));
  }
  return inputs;
}

/// The split gives what the whole model gives, bit by bit, in several executions.
inline void expect_equal_results(const Model& model, const Split& split, unsigned executions = 1) {
  RefRun whole(model);
  SplitRun parts(split);
  for (unsigned n = 0; n < executions; ++n) {
    const std::vector<Tensor> inputs = random_inputs(model, 7 + n);
    const std::vector<Tensor> wanted = whole.infer(inputs);
    const std::vector<Tensor> got = parts.infer(inputs);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(to_string(got[i].desc()), to_string(wanted[i].desc())) << "output " << i;
      EXPECT_EQ(std::memcmp(got[i].bytes(), wanted[i].bytes(), wanted[i].size_bytes()), 0)
          << "output " << i << " differs";
    }
  }
}

}  // namespace het::hetero::split_testing
