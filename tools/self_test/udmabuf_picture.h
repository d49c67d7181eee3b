#pragma once

#include "inference/base/status.h"
#include "inference/tensors/image.h"

namespace het::self_test {

/// The picture in a DMA-BUF that the kernel makes of memory (/dev/udmabuf). Fails where it does
/// not, or not for this user.
Result<Image> udmabuf_picture(const Image& host);

}  // namespace het::self_test
