// What the way to a VPU and back costs a request, without the device's own work:
//
//   bench_link [SECONDS]        HETERO_VPU_FOLDER names the folder of its socket
//
// One request after the other of a model that does next to nothing: round trip with 4 bytes, with a
// 640x640x3 u8 picture that lies in the request's own memory, and with one that is copied there
// from the application's; and the first again with a pause of 10 ms between. Prints medians in us,
// and the processor time of the receiving thread, which looks for answers without sleeping while
// they come soon.
#include <dirent.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "devices/register_devices.h"
#include "inference/requests/infer_request.h"

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const het::Status& status) {
  std::fprintf(stderr, "bench_link: %s\n", status.message().c_str());
  std::exit(2);
}

/// One element of a picture, so that the device reads hardly any of it.
std::unique_ptr<het::Model> first_element(const het::Shape& shape, het::ElementType type) {
  auto model = std::make_unique<het::Model>("first_element");
  het::Value* x = model->add_input("x", {type, shape});
  const auto ints = [&](const char* name, int64_t value) {
    const std::vector<int64_t> values(shape.size(), value);
    return model->add_constant(
        name, het::Tensor::from<int64_t>({static_cast<int64_t>(values.size())}, values));
  };
  het::Node* slice =
      model->add_node("slice", "Slice", "", {x, ints("begin", 0), ints("end", 1)}, {"y"});
  model->add_output("y", slice->output());
  return model;
}

/// CPU seconds of this process' threads with the name.
double thread_seconds(const std::string& name) {
  double seconds = 0;
  DIR* const folder = opendir("/proc/self/task");
  while (const dirent* entry = folder ? readdir(folder) : nullptr) {
    const std::string path = std::string("/proc/self/task/") + entry->d_name;
    std::string comm;
    std::getline(std::ifstream(path + "/comm"), comm);
    if (comm != name) continue;
    double run = 0;
    std::ifstream(path + "/schedstat") >> run;
    seconds += run * 1e-9;
  }
  if (folder) closedir(folder);
  return seconds;
}

void measure(const char* title, double limit, const std::function<het::Status()>& once,
             std::chrono::milliseconds pause = {}) {
  for (int i = 0; i < 200; ++i)
    if (const het::Status status = once(); !status.ok()) fail(status);
  std::vector<double> us;
  const double cpu = thread_seconds("vpu-link");
  const auto start = Clock::now();
  double total = 0;
  while (total < limit) {
    const auto begin = Clock::now();
    if (const het::Status status = once(); !status.ok()) fail(status);
    const auto end = Clock::now();
    us.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    total = std::chrono::duration<double>(end - start).count();
  }
  const double share = (thread_seconds("vpu-link") - cpu) / total;
  std::sort(us.begin(), us.end());
  std::printf("%-34s %8.1f us [10 %%: %.1f, 90 %%: %.1f], receiving thread %.1f %% of a core\n",
              title, us[us.size() / 2], us[us.size() / 10], us[us.size() * 9 / 10], 100 * share);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3.0;
  const auto core = het::core();
  const het::Shape picture{1, 640, 640, 3};
  const auto small = core->compile_model(*first_element({1}, het::ElementType::Float32), "VPU");
  const auto large = core->compile_model(*first_element(picture, het::ElementType::UInt8), "VPU");
  if (!small) fail(small.error());
  if (!large) fail(large.error());
  const auto empty = *(*small)->create_infer_request();
  const auto in_place = *(*large)->create_infer_request();
  const auto copied = *(*large)->create_infer_request();
  const het::Tensor own = *het::Tensor::allocate({het::ElementType::UInt8, picture});
  if (const het::Status status = copied->set_input(0, own); !status.ok()) fail(status);
  measure("4 bytes", seconds, [&] { return empty->infer(); });
  measure("640x640x3 u8 in the request's memory", seconds, [&] { return in_place->infer(); });
  measure("640x640x3 u8 of the application", seconds, [&] { return copied->infer(); });
  measure(
      "4 bytes, 100 a second", seconds, [&] { return empty->infer(); },
      std::chrono::milliseconds(10));
}
