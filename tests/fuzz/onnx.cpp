#include <cstddef>
#include <cstdint>
#include <span>

#include "inference/passes/expose_state.h"
#include "inference/passes/prepare_model.h"
#include "inference/readers/onnx_reader.h"

/// The bytes of an ONNX file, from reading to shape inference and constant folding.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // No folder: external data, which needs files beside the model, fails by itself.
  auto model = het::read_onnx_bytes(std::as_bytes(std::span(data, size)), "", "fuzz.onnx");
  if (!model) return 0;
  if (het::has_state(**model)) (void)het::expose_state(*(*model)->clone());
  (void)het::prepare_model_for_query(**model);
  return 0;
}
