#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "devices/register_devices.h"
#include "inference/requests/infer_request.h"

/// One load of one model in a fresh process: load MODEL '{"input": [1, 3, 224, 224]}'
/// [KEY=VALUE...] prints a JSON object; load.py starts it. Times in ms, memory in KiB.
namespace {

using Clock = std::chrono::steady_clock;

/// Fields of /proc/self/status.
nlohmann::json memory() {
  nlohmann::json fields;
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    for (const char* name : {"VmRSS", "VmHWM", "RssAnon", "RssFile"}) {
      if (line.rfind(std::string(name) + ":", 0) == 0) {
        fields[name] = std::stoll(line.substr(line.find(':') + 1));
      }
    }
  }
  return fields;
}

/// Processor time of all threads so far.
double processor_ms() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

struct Mark {
  Clock::time_point time = Clock::now();
  double processor = processor_ms();
};

nlohmann::json since(const Mark& start) {
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start.time).count();
  return {{"ms", ms}, {"processor_ms", processor_ms() - start.processor}};
}

het::Result<nlohmann::json> load(const std::string& path, const std::string& shapes_text,
                                 const het::Properties& properties) {
  nlohmann::json result;
  const std::shared_ptr<het::Core> core = het::core();
  HET_ASSIGN(const std::string device, core->get_property("CPU", "FULL_DEVICE_NAME"));
  std::map<std::string, het::Shape> shapes;
  const nlohmann::json given = nlohmann::json::parse(shapes_text);
  for (const auto& [name, dims] : given.items()) {
    shapes[name] = dims.get<het::Shape>();
  }
  std::ofstream("/proc/self/clear_refs") << "5";  // VmHWM starts again at what is in use now
  result["before"] = memory();

  const Mark start;
  HET_ASSIGN(auto model, core->read_model(path));
  result["read"] = since(start);
  if (!shapes.empty()) HET_TRY(model->reshape(shapes));
  HET_ASSIGN(const auto compiled, core->compile_model(*model, "CPU", properties));
  model.reset();
  result["load"] = since(start);
  result["loaded"] = memory();

  HET_ASSIGN(const auto request, compiled->create_infer_request());
  HET_TRY(request->infer());
  result["first"] = since(start);
  result["inferred"] = memory();
  for (const char* name : {"INFERENCE_PRECISION_HINT", "NUM_STREAMS", "INFERENCE_NUM_THREADS"}) {
    HET_ASSIGN(result["settings"][name], compiled->get_property(name));
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: load MODEL SHAPES [KEY=VALUE...]\n");
    return 2;
  }
  het::Properties properties;
  for (int i = 3; i < argc; ++i) {
    const std::string pair = argv[i];
    properties[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
  }
  const auto result = load(argv[1], argv[2], properties);
  if (!result) {
    std::fprintf(stderr, "load: %s\n", result.error().message().c_str());
    return 1;
  }
  std::printf("%s\n", result->dump().c_str());
  return 0;
}
