#include "python/bindings/pictures.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "inference/tensors/tensor.h"
#include "python/bindings/arrays.h"
#include "python/bindings/failures.h"

namespace het::python {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  raise(Status(StatusCode::InvalidArgument, why));
}

ColorMatrix matrix_of(const std::string& name) {
  if (name == "bt601") return ColorMatrix::BT601;
  if (name == "bt709") return ColorMatrix::BT709;
  if (name == "bt2020") return ColorMatrix::BT2020;
  refuse(fmt::format("matrix '{}' is none of bt601, bt709 and bt2020", name));
}

int side(int64_t pixels) {
  constexpr int64_t kMost = int64_t{1} << 24;
  if (pixels > kMost) refuse(fmt::format("a picture cannot have a side of {} pixels", pixels));
  return static_cast<int>(pixels);
}

int64_t bytes_per_pixel(PixelFormat format) {
  return plane_row_bytes(format, 0, 2) / 2;
}

bool is_interleaved(PixelFormat format) {
  switch (format) {
    case PixelFormat::RGB:
    case PixelFormat::BGR:
    case PixelFormat::RGBx:
    case PixelFormat::BGRx:
    case PixelFormat::RGBA:
    case PixelFormat::BGRA:
    case PixelFormat::YUY2:
    case PixelFormat::UYVY:
      return true;
    default:
      return false;
  }
}

bool is_planar_rgb(PixelFormat format) {
  return format == PixelFormat::RGBP || format == PixelFormat::BGRP || format == PixelFormat::GBR;
}

/// By the shape alone.
PixelFormat assumed_format(const Tensor& array, bool is_bgr) {
  const Shape& shape = array.shape();
  if (shape.size() == 2 || (shape.size() == 3 && shape[2] == 1)) return PixelFormat::GRAY8;
  if (shape.size() == 3 && shape[2] == 3) return is_bgr ? PixelFormat::BGR : PixelFormat::RGB;
  if (shape.size() == 3 && shape[2] == 4) return is_bgr ? PixelFormat::BGRA : PixelFormat::RGBA;
  if (shape.size() == 3 && shape[0] == 3) return is_bgr ? PixelFormat::BGRP : PixelFormat::RGBP;
  refuse(
      fmt::format("an array of {} is no picture by its shape: (height, width, 3) and (3, height, "
                  "width) are colours, (height, width) is grey; format=\"NV12\" and the like "
                  "say what else it is",
                  to_string(array.desc())));
}

/// The same elements with the last `inner` dimensions packed, so that only rows have gaps.
Tensor with_packed_rows(Tensor array, size_t inner) {
  auto packed = static_cast<int64_t>(byte_width(array.type()));
  const Shape& shape = array.shape();
  for (size_t i = shape.size(); i-- > shape.size() - inner;) {
    if (shape[i] > 1 && array.strides_bytes()[i] != packed) return take(array.clone());
    packed *= shape[i];
  }
  for (size_t i = 0; i < shape.size() - inner; ++i) {
    // Broadcast and transposed arrays have strides that no picture has.
    if (shape[i] > 1 && array.strides_bytes()[i] < packed) return take(array.clone());
  }
  return array;
}

void check_elements(const Tensor& array, PixelFormat format) {
  const ElementType wanted = format == PixelFormat::P010 ? ElementType::UInt16 : ElementType::UInt8;
  if (array.type() == wanted) return;
  refuse(fmt::format("pictures of format {} have elements of type {}, not {}", to_string(format),
                     to_string(wanted), to_string(array.type())));
}

[[noreturn]] void refuse_shape(const Tensor& array, PixelFormat format, const char* wanted) {
  refuse(fmt::format("a picture of format {} is an array of {}, not of {}", to_string(format),
                     wanted, to_string(array.desc())));
}

void set_plane(Image& image, size_t index, const Tensor& rows, size_t row_dimension) {
  image.planes[index] = {rows.buffer(), rows.offset(), rows.strides_bytes()[row_dimension]};
}

Image interleaved(const Tensor& array, PixelFormat format) {
  const Shape& shape = array.shape();
  if (shape.size() != 3 || shape[2] != bytes_per_pixel(format)) {
    refuse_shape(array, format,
                 fmt::format("(height, width, {})", bytes_per_pixel(format)).c_str());
  }
  Image image;
  const Tensor rows = with_packed_rows(array, 2);
  image.height = side(shape[0]);
  image.width = side(shape[1]);
  set_plane(image, 0, rows, 0);
  return image;
}

Image grey(const Tensor& array) {
  const Shape& shape = array.shape();
  if (shape.size() != 2 && (shape.size() != 3 || shape[2] != 1)) {
    refuse_shape(array, PixelFormat::GRAY8, "(height, width)");
  }
  Image image;
  const Tensor rows = with_packed_rows(array, shape.size() - 1);
  image.height = side(shape[0]);
  image.width = side(shape[1]);
  set_plane(image, 0, rows, 0);
  return image;
}

Image planar(const Tensor& array, PixelFormat format) {
  const Shape& shape = array.shape();
  if (shape.size() != 3 || shape[0] != 3) refuse_shape(array, format, "(3, height, width)");
  Image image;
  const Tensor rows = with_packed_rows(array, 1);
  image.height = side(shape[1]);
  image.width = side(shape[2]);
  for (size_t i = 0; i < 3; ++i) {
    set_plane(image, i, rows, 1);
    image.planes[i].offset += i * static_cast<size_t>(rows.strides_bytes()[0]);
  }
  return image;
}

/// Y above UV (NV12, P010) or above U and V (I420) in one array, as OpenCV has it.
Image stacked_yuv(const Tensor& array, PixelFormat format) {
  const Shape& shape = array.shape();
  if (shape.size() != 2 || shape[0] % 3 != 0 || shape[1] % 2 != 0 || shape[0] == 0) {
    refuse_shape(array, format,
                 "(height * 3 / 2, width) with even height and width, or planes of its own: a "
                 "tuple of arrays");
  }
  const Tensor dense = array.is_dense() ? array : take(array.clone());
  const auto height = side(shape[0] / 3 * 2);
  const auto width = side(shape[1]);
  Image image = take(make_host_image(
      format, width, height, wrap_host_memory(dense.bytes(), dense.size_bytes(), [dense] {})));
  return image;
}

Image of_planes(const py::sequence& planes, PixelFormat format) {
  Image image;
  image.format = format;
  const auto count = static_cast<size_t>(plane_count(format));
  if (py::len(planes) != count) {
    refuse(fmt::format("a picture of format {} has {} planes, not {}", to_string(format), count,
                       py::len(planes)));
  }
  for (size_t i = 0; i < count; ++i) {
    Tensor plane = view_strided(planes[i]).tensor;
    check_elements(plane, format);
    if (plane.rank() < 2 || plane.rank() > 3)
      refuse_shape(plane, format, "two dimensions a plane, or three for U beside V");
    plane = with_packed_rows(plane, static_cast<size_t>(plane.rank()) - 1);
    if (i == 0) {
      image.height = side(plane.shape()[0]);
      image.width = side(plane.shape()[1]);
    }
    const auto row_bytes =
        static_cast<int64_t>(plane.size_bytes()) / std::max<int64_t>(plane.shape()[0], 1);
    const int number = static_cast<int>(i);
    if (plane.shape()[0] != plane_rows(format, number, image.height) ||
        row_bytes != plane_row_bytes(format, number, image.width)) {
      refuse(fmt::format("plane {} of a {}x{} picture of format {} has {} rows of {} bytes, not {}",
                         i, image.width, image.height, to_string(format),
                         plane_rows(format, number, image.height),
                         plane_row_bytes(format, number, image.width), to_string(plane.desc())));
    }
    set_plane(image, i, plane, 0);
  }
  return image;
}

/// Of PIL, by the methods that its images have.
bool is_pil(py::handle object) {
  return py::hasattr(object, "mode") && py::hasattr(object, "getbands") &&
         py::hasattr(object, "convert");
}

Image of_pil(py::object picture) {
  auto mode = py::str(picture.attr("mode")).cast<std::string>();
  if (mode != "RGB" && mode != "L" && mode != "RGBA") {
    picture = picture.attr("convert")("RGB");
    mode = "RGB";
  }
  const Tensor array = view_array(py::module_::import("numpy").attr("asarray")(picture)).tensor;
  const PixelFormat format = mode == "RGB" ? PixelFormat::RGB
                             : mode == "L" ? PixelFormat::GRAY8
                                           : PixelFormat::RGBA;
  Image image = format == PixelFormat::GRAY8 ? grey(array) : interleaved(array, format);
  image.format = format;
  return image;
}

Image of_array(py::handle object, const std::string& name) {
  // numpy's pictures are most often OpenCV's.
  const bool is_bgr = py::hasattr(object, "__array_interface__");
  const Tensor array = view_strided(object).tensor;
  const PixelFormat format =
      name.empty() ? assumed_format(array, is_bgr) : take(parse_pixel_format(name));
  check_elements(array, format);
  Image image;
  if (is_interleaved(format)) {
    image = interleaved(array, format);
  } else if (is_planar_rgb(format)) {
    image = planar(array, format);
  } else if (format == PixelFormat::GRAY8) {
    image = grey(array);
  } else {
    image = stacked_yuv(array, format);
  }
  image.format = format;
  return image;
}

}  // namespace

Image to_image(py::handle object, const PictureMeaning& meaning) {
  Image image;
  if (is_pil(object)) {
    image = of_pil(py::reinterpret_borrow<py::object>(object));
  } else if (py::isinstance<py::tuple>(object) || py::isinstance<py::list>(object)) {
    if (meaning.format.empty()) {
      refuse("several planes need format=, e.g. format=\"NV12\"; one picture is an array");
    }
    image = of_planes(py::reinterpret_borrow<py::sequence>(object),
                      take(parse_pixel_format(meaning.format)));
  } else {
    image = of_array(object, meaning.format);
  }
  if (image.width <= 0 || image.height <= 0) refuse("the picture has no pixels");
  image.plane_count = plane_count(image.format);
  image.matrix = matrix_of(meaning.matrix);
  image.range = meaning.full_range ? ColorRange::Full : ColorRange::Video;
  check(validate(image));
  return image;
}

}  // namespace het::python
