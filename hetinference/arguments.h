#pragma once

#include "hetinference/c.h"
#include "inference/image.h"
#include "inference/properties.h"
#include "inference/status.h"
#include "inference/tensor.h"

namespace het::c_interface {

/// The caller's arrays and structs as the core's own. Each fails with InvalidArgument, naming what
/// is wrong.
Result<Properties> to_properties(const HetProperty* properties, size_t count);
Result<TensorDesc> to_desc(const HetTensor& tensor);
/// `kept` becomes true once the caller's memory belongs to the call that takes the tensor: before,
/// the release callback does not run.
Result<Tensor> to_tensor(const HetTensor& tensor, const std::shared_ptr<bool>& kept);
Result<Image> to_image(const HetPicture& picture, const std::shared_ptr<bool>& kept);
/// `region` null: the whole picture.
Result<Rect> to_rect(const HetRegion* region, int width, int height);

}  // namespace het::c_interface
