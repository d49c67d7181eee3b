// A process that shares CACHE_DIR with others like it (weight_sharing.cpp): cpu_child FOLDER SEED.
// Models of more than a MiB each are compiled and run under a bound of 4 MiB. Exit status: 0 when
// each computed what it computes alone.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cpu_testing.h"
#include "inference/base/log.h"

namespace het::cpu_testing {
namespace {

std::vector<Tensor> run(Device& device, const Model& model, const Properties& properties) {
  const auto compiled = device.compile_model(model, properties, nullptr);
  if (!compiled) {
    std::fprintf(stderr, "%s\n", compiled.error().message().c_str());
    std::exit(1);
  }
  auto request = (*compiled)->create_infer_request();
  if (!request || !(*request)->set_input(0, random_tensor({1, 512}, 1)).ok() ||
      !(*request)->infer().ok()) {
    std::exit(2);
  }
  return {*(*request)->output(0).clone()};
}

int work(const std::string& folder, unsigned seed) {
  Core core;
  const std::shared_ptr<Device> device = *cpu::make_device(core, "");
  set_log_sink(
      [](LogLevel, std::string_view text) {
        std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
        std::exit(3);  // files that come and go are no reason to warn
      },
      LogLevel::Warning);
  std::mt19937 generator(seed);
  for (int i = 0; i < 24; ++i) {
    const auto which = static_cast<unsigned>(generator() % 6);
    ModelMaker maker;
    Value* weights = maker.constant(random_tensor({512, 640}, which));
    maker.output(maker.op("Relu", {maker.op("MatMul", {maker.input({1, 512}), weights})}));
    const Properties alone = {{"CACHE_DIR", ""}, {"INFERENCE_NUM_THREADS", "1"}};
    const Properties sharing = {{"CACHE_DIR", folder},
                                {"CACHE_MAX_MIB", "4"},
                                {"WEIGHT_SHARING", "MACHINE"},
                                {"INFERENCE_NUM_THREADS", "1"},
                                {"DETERMINISTIC", "YES"}};
    const std::vector<Tensor> wanted = run(*device, maker.model(), alone);
    const std::vector<Tensor> got = run(*device, maker.model(), sharing);
    if (std::memcmp(got[0].bytes(), wanted[0].bytes(), wanted[0].size_bytes()) != 0) return 4;
  }
  return 0;
}

}  // namespace
}  // namespace het::cpu_testing

int main(int count, char** arguments) {
  if (count != 3) return 64;
  return het::cpu_testing::work(arguments[1], static_cast<unsigned>(std::atoi(arguments[2])));
}
