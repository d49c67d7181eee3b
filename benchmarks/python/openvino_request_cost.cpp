// The same as request_cost.cpp by OpenVINO's C++ interface. Not part of the build: overhead.py
// compiles it against the package of the peers' interpreter.
#include <openvino/openvino.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <vector>

#include "benchmarks/python/request_ways.h"

int main(int argc, char** argv) try {
  if (argc != 3) throw std::invalid_argument("give MODEL and SECONDS");
  ov::Core core;
  ov::CompiledModel compiled =
      core.compile_model(argv[1], "CPU", ov::num_streams(1), ov::inference_num_threads(1));
  ov::InferRequest request = compiled.create_infer_request();
  ov::Tensor own = request.get_input_tensor();
  std::vector<std::byte> input(own.get_byte_size());
  const ov::Tensor callers(own.get_element_type(), own.get_shape(), input.data());
  const ov::Tensor output = request.get_output_tensor();
  request_ways::print_costs(std::atof(argv[2]),
                            {[&] { request.set_input_tensor(own); },
                             [&] { request.set_input_tensor(callers); }, [&] { request.infer(); },
                             [&] {
                               request.start_async();
                               request.wait();
                             }},
                            {input, static_cast<std::byte*>(own.data()),
                             static_cast<const std::byte*>(output.data()), output.get_byte_size()});
} catch (const std::exception& failure) {
  std::cerr << "openvino_request_cost: " << failure.what() << "\n";
  return 2;
}
