#pragma once

#include <functional>
#include <memory>

#include "hetinference/c.h"
#include "inference/base/status.h"
#include "inference/devices/properties.h"
#include "inference/tensors/image.h"
#include "inference/tensors/tensor.h"

namespace het::c_interface {

/// Runs the caller's callback when the last user lets go, if `kept` became true: before, the memory
/// is not the library's. Empty for no callback.
std::function<void()> release_of(HetRelease release, void* user, const std::shared_ptr<bool>& kept);

/// The caller's arrays and structs as the core's own. Each fails with InvalidArgument, naming what
/// is wrong.
Result<Properties> to_properties(const HetProperty* properties, size_t count);
Result<TensorDesc> to_desc(const HetTensor& tensor);
/// `kept`: as release_of() says.
Result<Tensor> to_tensor(const HetTensor& tensor, const std::shared_ptr<bool>& kept);
/// A picture of any memory; nothing is mapped.
Result<Image> to_image(const HetPicture& picture, const std::shared_ptr<bool>& kept);
/// `region` null: the whole picture.
Result<Rect> to_rect(const HetRegion* region, int width, int height);

}  // namespace het::c_interface
