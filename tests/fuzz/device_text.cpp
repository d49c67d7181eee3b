#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "inference/device_registry.h"
#include "inference/devices/properties.h"
#include "inference/tensors/shape.h"

/// What users write: a device ("HETERO:CPU,REF"), properties ("nstreams=2"), a shape ("1,3,?,?").
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)het::parse_device_name(text);
  (void)het::parse_shape(text);
  if (const auto properties = het::parse_properties(text)) {
    const auto checked = het::validate_properties(*properties, "CPU");
    // Normalised text stays as it is.
    if (checked && het::validate_properties(*checked, "CPU").value() != *checked) abort();
    for (const het::PropertyDef& def : het::property_table()) {
      if (!checked) break;
      (void)het::property_integer(*checked, def.name);
      (void)het::property_boolean(*checked, def.name);
      (void)het::is_preparation_property(def.name);
    }
    // Whoever mistypes a name is told all of them.
    if (!checked) (void)het::supported_properties("CPU");
  }
  return 0;
}
