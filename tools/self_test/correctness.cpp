#include "tools/self_test/correctness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "devices/register_devices.h"
#include "tools/self_test/small_models.h"

namespace het::self_test {
namespace {

/// As the oracle's (tests/oracle/README.md): |a - b| <= tolerance (1 + |b|).
constexpr double kFloatTolerance = 2e-5;
constexpr double kHalfTolerance = 1.5e-3;

Result<std::vector<Tensor>> output_copies(const InferRequest& request) {
  std::vector<Tensor> outputs;
  for (const Tensor& output : request.outputs()) {
    HET_ASSIGN(Tensor copy, output.clone());
    outputs.push_back(std::move(copy));
  }
  return outputs;
}

bool equal_bytes(const Tensor& a, const Tensor& b) {
  return a.desc() == b.desc() && std::memcmp(a.bytes(), b.bytes(), a.size_bytes()) == 0;
}

/// Whether all numbers of the device are halves.
bool computes_in_half(Core& core, const std::string& device) {
  const auto types = core.get_property(device, "OPTIMIZATION_CAPABILITIES");
  return types && types->find("FP16") != std::string::npos &&
         types->find("FP32") == std::string::npos;
}

/// The outputs of the second of two executions.
struct TwoExecutions {
  std::vector<Tensor> outputs;
  std::string fault;  ///< they differ, or inputs were changed; else empty
};

Result<TwoExecutions> outputs_on(Core& core, const SmallModel& small, const std::string& device) {
  // What one measures to be fastest would depend on the moment.
  Properties properties{{"CACHE_DIR", ""}};
  const auto prefer = [&](const char* name, const char* value) {
    if (core.get_property(device, name)) properties[name] = value;
  };
  prefer("NUM_STREAMS", "1");
  if (!computes_in_half(core, device)) prefer("INFERENCE_PRECISION_HINT", "f32");
  if (small.rounds) prefer("GPU_INT8", "YES");
  HET_ASSIGN(const auto compiled, core.compile_model(*small.model, device, properties));
  HET_ASSIGN(const auto request, compiled->create_infer_request());
  std::vector<Tensor> given;
  for (size_t i = 0; i < small.inputs.size(); ++i) {
    HET_ASSIGN(Tensor copy, small.inputs[i].clone());
    given.push_back(std::move(copy));
    HET_TRY(request->set_input(i, given[i]));
  }
  HET_TRY(request->infer());
  HET_ASSIGN(const std::vector<Tensor> first, output_copies(*request));
  HET_TRY(request->infer());
  TwoExecutions done;
  HET_ASSIGN(done.outputs, output_copies(*request));
  for (size_t i = 0; i < first.size(); ++i) {
    if (equal_bytes(first[i], done.outputs[i])) continue;
    done.fault = fmt::format("two executions differ in output {}", i);
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (equal_bytes(given[i], small.inputs[i])) continue;
    done.fault = fmt::format("an execution changes input {}", i);
  }
  return done;
}

std::string difference_of(const Tensor& got, const Tensor& wanted, bool rounds, double tolerance) {
  if (got.desc() != wanted.desc()) {
    return fmt::format("{} instead of {}", to_string(got.desc()), to_string(wanted.desc()));
  }
  const Result<std::vector<float>> a = to_float_vector(got);
  const Result<std::vector<float>> b = to_float_vector(wanted);
  if (!a || !b) return (a ? b : a).error().message();
  const bool floats = is_float(wanted.type());
  size_t spared = rounds ? std::max<size_t>(1, a->size() / 1000) : 0;
  size_t differ = 0;
  std::string text;
  for (size_t i = 0; i < a->size(); ++i) {
    const double x = (*a)[i];
    const double y = (*b)[i];
    const double allowed = floats ? tolerance * (1.0 + std::abs(y)) : 0.0;
    if (std::abs(x - y) <= allowed) continue;  // false for NaN
    if (spared > 0 && std::abs(x - y) <= 1.0) {
      --spared;
      continue;
    }
    if (differ++ == 0) text = fmt::format("element {} is {} instead of {}", i, x, y);
  }
  return differ == 0 ? "" : fmt::format("{} ({} of {} differ)", text, differ, a->size());
}

/// Why the device does not run the model; nothing when it does.
Result<std::string> refusal_of(Core& core, const SmallModel& small, const std::string& device) {
  HET_ASSIGN(const std::vector<NodeSupport> rows, core.query_model(*small.model, device));
  for (const NodeSupport& row : rows) {
    if (!row.supported()) return fmt::format("{}: {}", row.op_type, row.reason);
  }
  return std::string();
}

nlohmann::json answer_of(Core& core, const SmallModel& small, const std::string& device) {
  const auto answer = [](const char* outcome, const std::string& detail) {
    return nlohmann::json{{"outcome", outcome}, {"detail", detail}};
  };
  const auto wanted = outputs_on(core, small, "REF");
  if (!wanted) return answer("failed", "REF: " + wanted.error().message());
  const auto refusal = refusal_of(core, small, device);
  if (!refusal) return answer("failed", refusal.error().message());
  if (!refusal->empty()) return answer("refused", *refusal);
  const auto got = outputs_on(core, small, device);
  if (!got) return answer("failed", got.error().message());
  const std::vector<Tensor>& right = wanted->outputs;
  const size_t count = got->outputs.size();
  if (count != right.size()) return answer("wrong", fmt::format("{} outputs", count));
  for (size_t i = 0; i < count; ++i) {
    const bool half = right[i].type() == ElementType::Float16 || computes_in_half(core, device);
    const std::string text = difference_of(got->outputs[i], right[i], small.rounds,
                                           half ? kHalfTolerance : kFloatTolerance);
    if (!text.empty()) return answer("wrong", fmt::format("output {}: {}", i, text));
  }
  if (!got->fault.empty()) return answer("wrong", got->fault);
  return answer("right", "");
}

}  // namespace

void try_correctness(const std::string& device, size_t first, PartEvents& events) {
  const std::shared_ptr<Core> core = het::core();
  const std::vector<SmallModel> models = small_models();
  for (size_t i = first; i < models.size(); ++i) {
    events.begin(models[i].name);
    nlohmann::json answer = answer_of(*core, models[i], device);
    answer["case"] = models[i].name;
    answer["number"] = i;
    events.result(answer);
  }
}

size_t correctness_cases() {
  return small_models().size();
}

}  // namespace het::self_test
