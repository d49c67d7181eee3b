#include "devices/cpu/plan/precision_choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/plan/plan_execution.h"
#include "devices/cpu/threads/stack_phase.h"
#include "inference/base/checksum.h"
#include "inference/base/log.h"

namespace het::cpu {
namespace {

/// Models with fewer multiply-adds run in tens of microseconds.
constexpr double kLeastModelWork = 1e7;
/// Both plans are in memory while they are measured.
constexpr size_t kMostConstantBytes = size_t{1} << 30;
/// A model has to gain this much by bfloat16.
constexpr double kClearPrecisionGain = 0.95;

bool is_product(const Node& node) {
  constexpr std::array<std::string_view, 4> kProducts = {"Conv", "ConvTranspose", "MatMul", "Gemm"};
  return (node.domain().empty() || node.domain() == "het") &&
         std::ranges::find(kProducts, node.op_type()) != kProducts.end() &&
         node.input(1) != nullptr && node.input(1)->is_constant() &&
         node.input(1)->desc().type == ElementType::Float32;
}

double product_work(const Node& node) {
  if (!PlanBuilder::is_static(node)) return 0.0;
  const Shape& dst = node.output()->desc().shape;
  const Shape& weights = node.input(1)->desc().shape;
  const bool is_matrix = node.op_type() == "MatMul" || node.op_type() == "Gemm";
  if (dst.size() < (is_matrix ? 1 : 2)) return 0.0;
  const int64_t channels = std::max<int64_t>(is_matrix ? dst.back() : dst[1], 1);
  return static_cast<double>(element_count(dst)) * static_cast<double>(element_count(weights)) /
         static_cast<double>(channels);
}

/// Operators whose results change places, or number, with the last bit of a score.
bool selects(const Node& node) {
  constexpr std::array<std::string_view, 5> kSelecting = {"TopK", "NonMaxSuppression", "ArgMax",
                                                          "ArgMin", "NonZero"};
  const std::string& type = node.op_type();
  return std::ranges::find(kSelecting, type) != kSelecting.end() ||
         type.find("Detection") != std::string::npos ||
         type.find("Proposal") != std::string::npos || type.find("Nms") != std::string::npos ||
         type.find("CTC") != std::string::npos;
}

/// Values computed by or from a selection.
std::unordered_set<const Value*> selected_values(const Model& model) {
  std::unordered_set<const Value*> selected;
  for (const auto& node : model.nodes()) {  // sorted: producers come first
    const bool is_selected =
        selects(*node) || std::ranges::any_of(node->inputs(), [&](const Value* input) {
          return selected.count(input) > 0;
        });
    if (is_selected) selected.insert(node->outputs().begin(), node->outputs().end());
  }
  return selected;
}

/// A smooth picture for floats and bytes (0 to 1 and 0 to 255), zeros for whole numbers, which may
/// be indices.
void fill_input(Tensor& tensor) {
  const int64_t columns = tensor.shape().empty() ? 1 : tensor.shape().back();
  const auto picture = [&](int64_t i) {
    const int64_t x = i % columns;
    const int64_t y = i / columns;
    return static_cast<float>((3 * x + 5 * y + ((x * y) >> 5)) & 255);
  };
  if (tensor.type() == ElementType::Float32) {
    float* values = tensor.data<float>();
    for (int64_t i = 0; i < tensor.element_count(); ++i) values[i] = picture(i) / 255.0f;
  } else if (tensor.type() == ElementType::UInt8) {
    uint8_t* values = tensor.data<uint8_t>();
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
      values[i] = static_cast<uint8_t>(picture(i));
    }
  } else {
    std::memset(tensor.bytes(), 0, tensor.size_bytes());
  }
}

/// One execution's memory of a plan.
class PlanRun {
 public:
  static Result<std::unique_ptr<PlanRun>> create(const Model& model, const Plan& plan) {
    auto run = std::make_unique<PlanRun>();
    run->steps_ = plan.steps.size();
    HET_ASSIGN(run->execution_, PlanExecution::create(plan));
    std::vector<std::byte*> inputs;
    std::vector<std::byte*> outputs;
    for (const ModelInput& input : model.inputs()) {
      HET_ASSIGN(Tensor tensor, Tensor::allocate(input.value->desc()));
      fill_input(tensor);
      inputs.push_back(tensor.bytes());
      run->tensors_.push_back(std::move(tensor));
    }
    for (size_t port = 0; port < model.outputs().size(); ++port) {
      const TensorDesc& desc = model.outputs()[port].value->desc();
      Tensor tensor;
      if (desc.is_static()) {
        HET_ASSIGN(tensor, Tensor::allocate(desc));
      }
      outputs.push_back(tensor.bytes());
      run->outputs_.push_back(std::move(tensor));
    }
    run->execution_->bind(inputs, outputs);
    run->plan_outputs_ = plan.outputs;
    return run;
  }

  Status execute() {
    return at_stack_phase([this]() -> Status {
      for (size_t i = 0; i < steps_; ++i) HET_TRY(execution_->run_step(i, nullptr));
      return {};
    });
  }

  /// Empty for an output sized at run time.
  Result<std::vector<float>> output(size_t port) const {
    const Tensor& tensor = outputs_[port];
    if (tensor.empty()) return std::vector<float>();
    const std::byte* made = execution_->address(plan_outputs_[port]);
    if (made != tensor.bytes()) std::memcpy(tensor.bytes(), made, tensor.size_bytes());
    return to_float_vector(tensor);
  }

 private:
  size_t steps_ = 0;
  std::unique_ptr<PlanExecution> execution_;
  std::vector<Tensor> tensors_;
  std::vector<Tensor> outputs_;
  std::vector<TensorId> plan_outputs_;
};

/// Mean difference over the range of `wanted`; infinite where something is not finite only in
/// `got`, 0 where nothing can be compared.
double relative_difference(const std::vector<float>& wanted, const std::vector<float>& got) {
  double sum = 0.0;
  size_t count = 0;
  float least = std::numeric_limits<float>::max();
  float largest = std::numeric_limits<float>::lowest();
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!std::isfinite(wanted[i])) continue;
    if (!std::isfinite(got[i])) return std::numeric_limits<double>::infinity();
    sum += std::abs(static_cast<double>(wanted[i]) - got[i]);
    least = std::min(least, wanted[i]);
    largest = std::max(largest, wanted[i]);
    ++count;
  }
  if (count == 0) return 0.0;
  const double range = std::max(static_cast<double>(largest) - least,
                                1e-3 * std::max(std::abs(static_cast<double>(largest)),
                                                std::abs(static_cast<double>(least))));
  return range > 0.0 ? sum / static_cast<double>(count) / range : sum;
}

/// The worst output's.
Result<double> largest_difference(const Model& model, const PlanRun& float32,
                                  const PlanRun& bfloat16) {
  const std::unordered_set<const Value*> selected = selected_values(model);
  double worst = 0.0;
  for (size_t port = 0; port < model.outputs().size(); ++port) {
    const Value* value = model.outputs()[port].value;
    if (selected.count(value) > 0 || value->desc().type != ElementType::Float32) continue;
    HET_ASSIGN(const std::vector<float> wanted, float32.output(port));
    HET_ASSIGN(const std::vector<float> got, bfloat16.output(port));
    worst = std::max(worst, relative_difference(wanted, got));
  }
  return worst;
}

/// Text of an attribute for the key; bodies of control flow count by their size.
struct AttributeText {
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(float value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return value; }
  template <class T>
  std::string operator()(const std::vector<T>& list) const {
    std::string text;
    for (const T& value : list) text += (*this)(value) + ",";
    return text;
  }
  std::string operator()(const Tensor& tensor) const { return to_string(tensor.desc()); }
  std::string operator()(const std::shared_ptr<Model>& body) const {
    return body ? std::to_string(body->nodes().size()) : std::string();
  }
};

}  // namespace

bool may_choose_precision(const Model& fused) {
  size_t constant_bytes = 0;
  for (const auto& value : fused.values()) {
    if (value->is_constant()) constant_bytes += value->constant().size_bytes();
  }
  if (constant_bytes > kMostConstantBytes) return false;
  double work = 0.0;
  for (const auto& node : fused.nodes()) {
    // A loop may not end on a picture of ours.
    const bool has_body = std::ranges::any_of(node->attributes(), [](const auto& attribute) {
      return std::holds_alternative<std::shared_ptr<Model>>(attribute.second);
    });
    if (has_body) return false;
    if (is_product(*node)) work += product_work(*node);
  }
  return work >= kLeastModelWork;
}

std::string model_choice_key(const Model& fused) {
  std::string text;
  std::unordered_map<const Value*, size_t> numbers;
  const auto add = [&](const Value* value) {
    if (value == nullptr) {
      text += "-;";
      return;
    }
    const size_t number = numbers.emplace(value, numbers.size()).first->second;
    text +=
        fmt::format("{}{}{};", value->is_constant() ? "c" : "v", number, to_string(value->desc()));
  };
  for (const ModelInput& input : fused.inputs()) add(input.value);
  for (const auto& node : fused.nodes()) {
    text += node->qualified_type() + "(";
    for (const auto& [name, value] : node->attributes()) {
      text += name + "=" + std::visit(AttributeText(), value) + ";";
    }
    for (const Value* input : node->inputs()) add(input);
    text += "->";
    for (const Value* output : node->outputs()) add(output);
    text += ")\n";
  }
  for (const ModelOutput& output : fused.outputs()) add(output.value);
  return fmt::format("model {:016x} of {} nodes", checksum(text), fused.nodes().size());
}

Result<std::optional<MeasuredChoice>> measure_precision(const Model& fused, const Plan& float32,
                                                        const Plan& bfloat16,
                                                        MeasuringClock::time_point end) {
  HET_ASSIGN(const auto wide, PlanRun::create(fused, float32));
  HET_ASSIGN(const auto narrow, PlanRun::create(fused, bfloat16));
  const std::array<std::function<Status()>, 2> runs = {[&] { return wide->execute(); },
                                                       [&] { return narrow->execute(); }};
  HET_ASSIGN(const auto times, fastest_us(
                                   runs, [] {}, end));
  if (!times) return std::optional<MeasuredChoice>();
  MeasuredChoice choice{std::string(kFloat32), {}};
  choice.times_us[std::string(kFloat32)] = (*times)[0];
  choice.times_us[std::string(kBFloat16)] = (*times)[1];
  if ((*times)[1] < kClearPrecisionGain * (*times)[0]) {
    HET_ASSIGN(const double difference, largest_difference(fused, *wide, *narrow));
    log(LogLevel::Debug, "model '{}': bf16 {:.0f} us, f32 {:.0f} us, difference {:.4f}",
        fused.name(), (*times)[1], (*times)[0], difference);
    if (difference <= kNearEnough) choice.name = kBFloat16;
  }
  return std::optional(std::move(choice));
}

}  // namespace het::cpu
