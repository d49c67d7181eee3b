// What a request costs in C++.
//
//   request_cost MODEL SECONDS
//
// A model with one input and one output on the CPU, one stream of one thread. Prints what
// request_ways.h says.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/python/request_ways.h"
#include "devices/register_devices.h"
#include "inference/requests/infer_request.h"

namespace {

void check(const het::Status& status) {
  if (status.ok()) return;
  std::cerr << "request_cost: " << status.message() << "\n";
  std::exit(2);
}

template <class T>
T take(het::Result<T> result) {
  if (!result) check(result.error());
  return std::move(*result);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) check(het::Status(het::StatusCode::InvalidArgument, "give MODEL and SECONDS"));
  const auto core = het::core();
  const auto model = take(core->read_model(argv[1]));
  const auto compiled = take(
      core->compile_model(*model, "CPU", {{"NUM_STREAMS", "1"}, {"INFERENCE_NUM_THREADS", "1"}}));
  const auto request = take(compiled->create_infer_request());
  const het::Tensor own = request->input(0);
  std::vector<std::byte> input(own.size_bytes());
  const het::Tensor callers =
      take(het::Tensor::wrap(own.desc(), input.data(), input.size(), [] {}));
  const het::Tensor output = request->output(0);
  request_ways::print_costs(
      std::atof(argv[2]),
      {[&] { check(request->set_input(0, own)); }, [&] { check(request->set_input(0, callers)); },
       [&] { check(request->infer()); },
       [&] {
         check(request->start_async());
         check(request->wait());
       }},
      {input, own.bytes(), output.bytes(), output.size_bytes()});
}
