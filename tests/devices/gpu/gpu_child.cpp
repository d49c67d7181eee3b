#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "devices/register_devices.h"
#include "inference/base/log.h"
#include "inference/requests/infer_request.h"
#include "tests/devices/gpu/gpu_child_models.h"
#include "tests/devices/gpu/gpu_child_surfaces.h"

/// What the tests of the GPU device do in a process of their own, because it depends on the
/// environment or may end badly: gpu_child COMMAND [ARGUMENT ...]. Prints "name value" lines; exits
/// with 0 when the command did what it says, with 1 and a line "error CODE MESSAGE" otherwise.
namespace het {
namespace {

using Clock = std::chrono::steady_clock;
using Arguments = std::vector<std::string>;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

}  // namespace

int fail(const Status& status) {
  std::printf("error %s %s\n", std::string(to_string(status.code())).c_str(),
              status.message().c_str());
  return 1;
}

namespace {

Properties properties_of(const Arguments& arguments, size_t first) {
  Properties properties;
  for (size_t i = first; i < arguments.size(); ++i) {
    const size_t equals = arguments[i].find('=');
    properties[arguments[i].substr(0, equals)] = arguments[i].substr(equals + 1);
  }
  return properties;
}

/// devices: what is available, and the name of the GPU.
int devices(const Arguments&) {
  const auto core = het::core();
  for (const std::string& name : core->available_devices())
    std::printf("device %s\n", name.c_str());
  const auto name = core->get_property("GPU", "FULL_DEVICE_NAME");
  if (!name) return fail(name.error());
  std::printf("name %s\n", name->c_str());
  return 0;
}

/// name DEVICE: the name of a device.
int name(const Arguments& arguments) {
  const auto name = het::core()->get_property(arguments.at(0), "FULL_DEVICE_NAME");
  if (!name) return fail(name.error());
  std::printf("name %s\n", name->c_str());
  return 0;
}

/// compile CHAINS [KEY=VALUE ...]: a model of that many element-wise kernels, or that of a file,
/// compiled and run once.
int compile(const Arguments& arguments) {
  const auto core = het::core();
  const bool is_file = arguments.at(0).find('.') != std::string::npos;
  std::unique_ptr<Model> model;
  if (is_file) {
    auto read = core->read_model(arguments[0]);
    if (!read) return fail(read.error());
    model = *std::move(read);
  } else {
    model = gpu_testing::chains(std::stoi(arguments[0]));
  }
  Clock::time_point begin = Clock::now();
  const auto compiled = core->compile_model(*model, "GPU", properties_of(arguments, 1));
  if (!compiled) return fail(compiled.error());
  std::printf("compile_ms %.3f\n", ms_since(begin));
  const auto request = (*compiled)->create_infer_request();
  if (!request) return fail(request.error());
  begin = Clock::now();
  const Status status = is_file ? (*request)->infer() : gpu_testing::run_and_check(**request);
  if (!status.ok()) return fail(status);
  std::printf("infer_ms %.3f\n", ms_since(begin));
  return 0;
}

/// Sets a variable of tests/opencl_layer; 0 for no failure.
void fail_from(const char* variable, int call) {
  setenv(variable, call > 0 ? std::to_string(call).c_str() : "", 1);
}

/// A compiled model of four kernels with a request that ran once.
struct Prepared {
  std::shared_ptr<Core> core = het::core();
  std::shared_ptr<CompiledModel> model;
  std::unique_ptr<InferRequest> request;
};

Result<Prepared> prepare(const Properties& properties) {
  Prepared prepared;
  HET_ASSIGN(prepared.model,
             prepared.core->compile_model(*gpu_testing::chains(4), "GPU", properties));
  HET_ASSIGN(prepared.request, prepared.model->create_infer_request());
  HET_TRY(gpu_testing::run_and_check(*prepared.request));
  return prepared;
}

/// allocations: all that a model needs, from compile to result, with the first allocation failing,
/// then the second, until there are no more; every failure says OutOfMemory and leaves a device
/// that works.
int allocations(const Arguments& arguments) {
  const Properties properties = properties_of(arguments, 0);
  const auto core = het::core();
  for (int call = 1; call < 200; ++call) {
    fail_from("HET_LAYER_FAIL_ALLOCATION", call);
    const auto prepared = prepare(properties);
    fail_from("HET_LAYER_FAIL_ALLOCATION", 0);
    if (prepared) {
      std::printf("allocations %d\n", call - 1);
      return 0;
    }
    if (prepared.error().code() != StatusCode::OutOfMemory) return fail(prepared.error());
    const auto again = prepare(properties);
    if (!again) return fail(again.error());
  }
  return 1;
}

/// requests VARIABLE CALL [KEY=VALUE ...]: requests in flight while the layer fails from a call on;
/// prints how they ended, and whether they work afterwards.
int requests(const Arguments& arguments) {
  const auto prepared = prepare(properties_of(arguments, 2));
  if (!prepared) return fail(prepared.error());
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (int i = 0; i < 4; ++i) {
    auto made = prepared->model->create_infer_request();
    if (!made) return fail(made.error());
    requests.push_back(*std::move(made));
    gpu_testing::fill_input(*requests.back());
  }
  fail_from(arguments.at(0).c_str(), std::stoi(arguments.at(1)));
  for (const auto& request : requests) {
    const Status status = request->start_async();
    if (!status.ok()) return fail(status);
  }
  for (const auto& request : requests) {
    const Status status = request->wait();
    std::printf("ended %s: %s\n", std::string(to_string(status.code())).c_str(),
                status.message().c_str());
    if (!status.ok()) continue;
    const Status values = gpu_testing::check_outputs(*request);
    if (!values.ok()) return fail(values);
  }
  fail_from(arguments[0].c_str(), 0);
  for (const auto& request : requests) {
    const Status status = gpu_testing::run_and_check(*request);
    if (!status.ok()) return fail(status);
  }
  return 0;
}

/// The outputs of products_of_bytes() on a device.
Result<std::vector<Tensor>> run_bytes(Core& core, const Model& model, const std::string& device,
                                      const Properties& properties) {
  HET_ASSIGN(const auto compiled, core.compile_model(model, device, properties));
  HET_ASSIGN(const auto request, compiled->create_infer_request());
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    const Tensor& input = request->input(i);
    for (size_t k = 0; k < input.size_bytes(); ++k) {
      input.bytes()[k] = static_cast<std::byte>(k * 37 + k / 7);
    }
  }
  HET_TRY(request->infer());
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < model.outputs().size(); ++i) {
    HET_ASSIGN(outputs.emplace_back(), request->output(i).clone());
  }
  if (device == "GPU") {
    HET_ASSIGN(const std::string int8, compiled->get_property("GPU_INT8"));
    std::printf("int8 %s\n", int8.c_str());
  }
  return outputs;
}

/// bytes [KEY=VALUE ...]: products of bytes; prints whether int8 kernels ran, what the device can
/// do and how many bytes differ from REF's.
int bytes(const Arguments& arguments) {
  set_log_sink(
      [](LogLevel, std::string_view message) {
        std::printf("log %s\n", std::string(message.substr(0, message.find('\n'))).c_str());
      },
      LogLevel::Debug);
  const auto core = het::core();
  const auto model = gpu_testing::products_of_bytes();
  const auto got = run_bytes(*core, *model, "GPU", properties_of(arguments, 0));
  if (!got) return fail(got.error());
  const auto wanted = run_bytes(*core, *model, "REF", {});
  if (!wanted) return fail(wanted.error());
  size_t different = 0;
  for (size_t i = 0; i < got->size(); ++i) {
    for (size_t k = 0; k < (*got)[i].size_bytes(); ++k) {
      different += (*got)[i].bytes()[k] != (*wanted)[i].bytes()[k] ? 1 : 0;
    }
  }
  std::printf("different %zu\n", different);
  const auto features = core->get_property("GPU", "GPU_FEATURES");
  if (!features) return fail(features.error());
  std::printf("features %s.\n", features->c_str());
  return 0;
}

double resident_mb() {
  long pages = 0;
  long resident = 0;
  FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
  std::fclose(file);
  return static_cast<double>(resident) * 4096e-6;
}

/// cycles COUNT [KEY=VALUE ...]: compiles, runs and releases a model that often; prints the growth
/// of the process from the first fifth on.
int cycles(const Arguments& arguments) {
  const int count = std::stoi(arguments.at(0));
  double early_mb = 0;
  for (int i = 0; i < count; ++i) {
    if (i == count / 5) early_mb = resident_mb();
    const auto prepared = prepare(properties_of(arguments, 1));
    if (!prepared) return fail(prepared.error());
  }
  std::printf("growth_mb %.2f\n", resident_mb() - early_mb);
  return 0;
}

const std::map<std::string, std::function<int(const Arguments&)>> kCommands = {
    {"devices", devices},         {"name", name},         {"compile", compile},
    {"allocations", allocations}, {"requests", requests}, {"cycles", cycles},
    {"surfaces", surfaces},       {"bytes", bytes}};

}  // namespace
}  // namespace het

int main(int count, char** values) {
  const het::Arguments arguments(values + std::min(count, 2), values + count);
  const auto command = het::kCommands.find(count > 1 ? values[1] : "");
  if (command == het::kCommands.end()) {
    std::fprintf(stderr, "usage: gpu_child COMMAND [ARGUMENT ...]\n");
    return 2;
  }
  return command->second(arguments);
}
