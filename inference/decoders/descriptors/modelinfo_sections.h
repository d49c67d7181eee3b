#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "inference/decoders/descriptors/key_file.h"
#include "inference/tensors/tensor.h"

namespace het {

/// An input or output as a .modelinfo file may describe it.
struct DescribedTensor {
  std::string name;
  TensorDesc desc;
};

/// For each of the model's `tensors` of one `direction` ("input" or "output") the section that
/// describes it, or null. A section belongs to the tensor with its name unless its dims contradict
/// the tensor's; the others, in their order, to tensors of their type and dims that are left, each
/// to one. What belongs to none, or contradicts, is told in a warning. `origin` names the file.
///
/// Unlike GStreamer, which takes the first section with such dims for all outputs that have none of
/// their name, and for which type and dims have to be the file's also where the name is: a model
/// that was converted or quantised has others.
std::vector<const KeyFileSection*> match_sections(const std::vector<KeyFileSection>& sections,
                                                  std::string_view direction,
                                                  const std::vector<DescribedTensor>& tensors,
                                                  std::string_view origin);

}  // namespace het
