#include "inference/readers/openvino_ir/translate.h"

/// Control flow.
namespace het::ir {

std::span<const Translation> control_translations() {
  return {};
}

}  // namespace het::ir
