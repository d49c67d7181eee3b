#include "benchmarks/opencl_peak/layers.h"

#include <fmt/ranges.h>

#include <map>

#include "devices/gpu/plan/plan_execution.h"
#include "inference/passes/fusions/fused_tail.h"

namespace het::gpu {
namespace {

std::string sizes(const Shape& shape) {
  return fmt::format("{}", fmt::join(shape, "x"));
}

double flops_of(const Node& node) {
  const Shape& x = node.input(0)->desc().shape;
  const Shape& w = node.input(1)->desc().shape;
  const auto outputs = static_cast<double>(element_count(node.output()->desc().shape));
  if (node.op_type() == "Conv") {
    return 2.0 * outputs * static_cast<double>(element_count(w) / w[0]);
  }
  if (node.op_type() == "ConvTranspose") {
    return 2.0 * static_cast<double>(element_count(x)) *
           static_cast<double>(element_count(w) / w[0]);
  }
  const bool transposed = node.attributes().get_int("transA", 0) != 0;
  return 2.0 * outputs * static_cast<double>(transposed ? x[0] : x.back());
}

/// The node alone: constants stay, the rest become inputs.
std::unique_ptr<Model> single(const Node& node) {
  auto model = std::make_unique<Model>(node.name());
  std::vector<Value*> inputs;
  for (const Value* value : node.inputs()) {
    if (value == nullptr) {
      inputs.push_back(nullptr);
    } else if (value->is_constant()) {
      inputs.push_back(model->add_constant(value->name(), value->constant()));
    } else {
      inputs.push_back(model->add_input(value->name(), value->desc()));
    }
  }
  Node* const copy = model->add_node(node.name(), node.op_type(), node.domain(), std::move(inputs),
                                     {node.output()->name()}, node.attributes());
  model->set_desc(copy->output(), node.output()->desc());
  model->add_output("y", copy->output());
  return model;
}

}  // namespace

std::vector<Layer> layers_of(const Model& fused) {
  std::vector<Layer> layers;
  std::map<std::string, size_t> known;
  for (const auto& node : fused.nodes()) {
    const std::string& type = node->op_type();
    const bool convolution = type == "Conv" || type == "ConvTranspose";
    if (!convolution && type != "MatMul" && type != "Gemm") continue;
    const Attributes& attributes = node->attributes();
    std::string text = fmt::format("{} -> {}", sizes(node->input(0)->desc().shape),
                                   sizes(node->output()->desc().shape));
    if (convolution) {
      const Shape& w = node->input(1)->desc().shape;
      text += fmt::format(", {}{}", sizes(Shape(w.begin() + 2, w.end())),
                          type == "Conv" ? "" : " transposed");
      if (attributes.get_int("group", 1) > 1) {
        text += fmt::format(" / {}", attributes.get_int("group", 1));
      }
    }
    const FusedTail tail = tail_of(attributes);
    if (!tail.empty()) text += " +";
    for (const TailStep& step : tail) {
      text += fmt::format(" {}", step.sum ? "sum" : to_string(step.expression.kind));
    }
    const auto [at, fresh] = known.emplace(text, layers.size());
    if (!fresh) {
      ++layers[at->second].count;
      continue;
    }
    layers.push_back({node->name(), text, 1, flops_of(*node), convolution, single(*node)});
  }
  return layers;
}

Result<LayerTime> measure_layer(const Layer& layer, const std::shared_ptr<Context>& context,
                                const PlanOptions& options, double while_s) {
  const std::unique_ptr<Model> model = layer.model->clone();
  HET_ASSIGN(const Plan plan, PlanBuilder(*model, context, options).build());
  HET_ASSIGN(const auto execution, PlanExecution::create(plan, *context));
  HET_ASSIGN(const QueueHandle queue, context->create_queue(false));
  std::vector<Memory> ports;
  const auto fresh = [&](const Value& value) -> Result<cl_mem> {
    const std::vector<float> ones(static_cast<size_t>(element_count(value.desc().shape)), 0.5f);
    HET_ASSIGN(Memory memory, context->allocate(ones.size() * sizeof(float)));
    clEnqueueWriteBuffer(queue.get(), memory->get(), CL_TRUE, 0, ones.size() * sizeof(float),
                         ones.data(), 0, nullptr, nullptr);
    ports.push_back(std::move(memory));
    return ports.back()->get();
  };
  for (size_t i = 0; i < model->inputs().size(); ++i) {
    HET_ASSIGN(const cl_mem memory, fresh(*model->inputs()[i].value));
    HET_TRY(execution->bind_input(i, memory));
  }
  HET_ASSIGN(const cl_mem output, fresh(*model->outputs()[0].value));
  HET_TRY(execution->bind_output(0, output));
  LayerTime time;
  std::vector<size_t> own;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    HET_TRY(execution->enqueue(queue.get(), i, nullptr));
    if (plan.steps[i].node_name != layer.name) continue;
    own.push_back(i);
    time.kernels += (time.kernels.empty() ? "" : ", ") + plan.steps[i].implementation;
  }
  clFinish(queue.get());
  Status status;
  time.time = fastest(while_s, [&] {
    for (const size_t i : own) {
      if (status.ok()) status = execution->enqueue(queue.get(), i, nullptr);
    }
    clFinish(queue.get());
  });
  HET_TRY(std::move(status));
  return time;
}

}  // namespace het::gpu
