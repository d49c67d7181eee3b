#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inference/preprocess/preprocess.h"
#include "inference/tensors/image.h"
#include "inference/tensors/tensor.h"

namespace het::preprocess_tests {

inline constexpr PixelFormat kFormats[] = {
    PixelFormat::NV12,  PixelFormat::I420, PixelFormat::RGB,  PixelFormat::BGR,  PixelFormat::RGBx,
    PixelFormat::BGRx,  PixelFormat::RGBA, PixelFormat::BGRA, PixelFormat::RGBP, PixelFormat::BGRP,
    PixelFormat::GRAY8, PixelFormat::P010, PixelFormat::YUY2, PixelFormat::UYVY, PixelFormat::GBR};

/// Bytes of a host picture with this size and alignment of rows.
size_t picture_bytes(PixelFormat format, int width, int height, int stride_alignment);

/// A picture in guarded memory, rows packed unless an alignment is given, every byte random.
Image noise_picture(PixelFormat format, int width, int height, uint32_t seed,
                    int stride_alignment = 1);
/// The same with slow gradients and a fine texture.
Image smooth_picture(PixelFormat format, int width, int height, int stride_alignment = 1);

uint8_t* plane_bytes(const Image& image, int plane);
/// Sets one byte of a plane.
void set_byte(Image& image, int plane, int row, int byte, int value);
/// Sets every byte of a plane.
void set_plane(Image& image, int plane, int value);

/// A host tensor; the shape is [1,C,H,W] or [1,H,W,C] as the description's layout says.
Tensor picture_tensor(const PreprocessDesc& desc, ElementType type, int width, int height);

/// The largest difference of two tensors minus what rounding to their type explains, in levels of
/// 0..255 when `level` is what one level is in the tensor.
double largest_difference(const Tensor& a, const Tensor& b, double level);

/// "NV12 37x23 roi 3,5 7x9 -> uint8[1,3,20,24] NCHW stretch": names a case in a failure.
std::string describe(const Image& image, const Rect& roi, const PreprocessDesc& desc,
                     const Tensor& tensor);

}  // namespace het::preprocess_tests
