#include <cstddef>
#include <cstdint>
#include <string_view>

#include "inference/decoders/model_proc.h"

/// The text of a model-proc file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)het::parse_model_proc({reinterpret_cast<const char*>(data), size}, "fuzz.json");
  return 0;
}
