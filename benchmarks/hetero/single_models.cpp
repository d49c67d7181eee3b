#include "benchmarks/hetero/single_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "benchmarks/hetero/timing.h"
#include "inference/requests/infer_request.h"

namespace het::hetero {
namespace {

using Clock = std::chrono::steady_clock;

/// Seconds a request on CPU and on HETERO:CPU, and their ratio in alternating rounds.
struct Overhead {
  std::vector<double> cpu;
  std::vector<double> hetero;
  std::vector<double> ratios;
};

Result<Overhead> alternate(Core& core, const Model& model, size_t rounds, double round_seconds) {
  std::array<std::unique_ptr<InferRequest>, 2> requests;
  for (size_t which = 0; which < requests.size(); ++which) {
    HET_ASSIGN(const auto compiled, core.compile_model(model, which == 0 ? "CPU" : "HETERO:CPU"));
    HET_ASSIGN(requests[which], compiled->create_infer_request());
    HET_TRY(requests[which]->infer());
  }
  const auto run = [&](size_t which, size_t times) -> Result<double> {
    const auto start = Clock::now();
    for (size_t k = 0; k < times; ++k) HET_TRY(requests[which]->infer());
    return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(times);
  };
  HET_ASSIGN(const double first, run(0, 3));
  const auto times = std::max<size_t>(1, static_cast<size_t>(round_seconds / first));
  Overhead result;
  for (size_t round = 0; round < rounds; ++round) {
    std::array<double, 2> seconds{};
    for (size_t i = 0; i < 2; ++i) {
      const size_t which = (i + round) % 2;
      HET_ASSIGN(seconds[which], run(which, times));
    }
    result.cpu.push_back(seconds[0]);
    result.hetero.push_back(seconds[1]);
    result.ratios.push_back(seconds[1] / seconds[0]);
  }
  std::ranges::sort(result.ratios);
  return result;
}

std::unique_ptr<Model> one_node() {
  auto model = std::make_unique<Model>("one_node");
  Value* const x = model->add_input("x", {ElementType::Float32, {1, 16}});
  Value* const y = model->add_node("relu", "Relu", "", {x}, {"y"})->output();
  model->set_desc(y, x->desc());
  model->add_output("y", y);
  return model;
}

}  // namespace

Result<std::unique_ptr<Model>> read_bound(Core& core, const std::string& path) {
  HET_ASSIGN(std::unique_ptr<Model> model, core.read_model(path));
  std::map<std::string, Shape> shapes;
  for (const ModelInput& input : model->inputs()) {
    Shape shape = input.value->desc().shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] < 0) shape[i] = i == 0 ? 1 : i + 1 == shape.size() && shape.size() < 4 ? 2 : 320;
    }
    // Lines of text are 32 high and as wide as they are.
    const bool is_text = shape.size() == 4 && shape[1] == 3 && shape[2] == 32;
    if (is_text && input.value->desc().shape[3] < 0) shape[3] = 320;
    shapes[input.value->name()] = std::move(shape);
  }
  HET_TRY(model->reshape(shapes));
  return model;
}

Status measure_overhead(Core& core, const std::string& path) {
  HET_ASSIGN(const Overhead small, alternate(core, *one_node(), 201, 0.002));
  const double cost = median(small.hetero) - median(small.cpu);
  HET_ASSIGN(const auto model, read_bound(core, path));
  HET_ASSIGN(const Overhead whole, alternate(core, *model, 61, 0.05));
  const size_t rounds = whole.ratios.size();
  fmt::print(
      "{:<38} CPU {:>8.3f} ms, HETERO:CPU {:>8.3f} ms, ratio {:.4f} ({:.4f}..{:.4f}); a request "
      "through HETERO costs {:.2f} us, {:.3f} % of this model\n",
      std::filesystem::path(path).stem().string(), 1e3 * median(whole.cpu),
      1e3 * median(whole.hetero), whole.ratios[rounds / 2], whole.ratios[rounds / 4],
      whole.ratios[rounds * 3 / 4], 1e6 * cost, 100 * cost / median(whole.cpu));
  std::fflush(stdout);
  return {};
}

Status print_split(Core& core, const std::string& path, const std::string& devices,
                   const std::string& affinity) {
  HET_ASSIGN(const auto model, read_bound(core, path));
  HET_ASSIGN(const auto compiled,
             core.compile_model(*model, "HETERO:" + devices, {{"HETERO_AFFINITY", affinity}}));
  HET_ASSIGN(const std::string count, compiled->get_property("HETERO_NUMBER_OF_SUBMODELS"));
  HET_ASSIGN(const std::string plan, compiled->get_property("HETERO_PLAN"));
  fmt::print(
      "{}\n",
      nlohmann::json{{"model", path}, {"subgraphs", std::stoul(count)}, {"plan", plan}}.dump());
  return {};
}

}  // namespace het::hetero
