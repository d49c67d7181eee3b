#include "inference/preprocess/mapped_picture.h"

namespace het::preprocess_internal {

MappedPicture::~MappedPicture() {
  for (size_t i = mapping_count_; i-- > 0;) mappings_[i].buffer->unmap();
}

Result<const std::byte*> MappedPicture::address_of(Buffer& buffer) {
  if (buffer.host() != nullptr) return buffer.host();
  for (size_t i = 0; i < mapping_count_; ++i) {
    if (mappings_[i].buffer == &buffer) return mappings_[i].address;
  }
  HET_ASSIGN(const std::byte* const address, buffer.map(MapAccess::Read));
  if (address == nullptr) {
    return error(StatusCode::Internal, "mapping {} memory gave no address",
                 to_string(buffer.kind()));
  }
  mappings_[mapping_count_++] = {&buffer, address};
  return address;
}

Status check_planes_fit(const Image& image) {
  for (int p = 0; p < image.plane_count; ++p) {
    const ImagePlane& plane = image.planes[static_cast<size_t>(p)];
    const int64_t row = plane_row_bytes(image.format, p, image.width);
    const int64_t rows = plane_rows(image.format, p, image.height);
    int64_t end = 0;
    if (plane.stride_bytes < row || __builtin_mul_overflow(plane.stride_bytes, rows - 1, &end) ||
        __builtin_add_overflow(end, row, &end) || plane.offset > plane.buffer->size_bytes() ||
        static_cast<uint64_t>(end) > plane.buffer->size_bytes() - plane.offset) {
      return error(
          StatusCode::InvalidArgument,
          "plane {} of a {}x{} {} picture (offset {}, stride {}) does not fit the {} bytes "
          "of its {} memory",
          p, image.width, image.height, to_string(image.format), plane.offset, plane.stride_bytes,
          plane.buffer->size_bytes(), to_string(plane.buffer->kind()));
    }
  }
  return {};
}

Status MappedPicture::open(const Image& image) {
  HET_TRY(validate(image));
  HET_TRY(check_planes_fit(image));
  for (int p = 0; p < image.plane_count; ++p) {
    const ImagePlane& plane = image.planes[static_cast<size_t>(p)];
    auto address = address_of(*plane.buffer);
    if (!address) {
      return address.error().with_context(fmt::format("cannot read plane {} of a {}x{} {} picture",
                                                      p, image.width, image.height,
                                                      to_string(image.format)));
    }
    planes_[static_cast<size_t>(p)] = reinterpret_cast<const uint8_t*>(*address + plane.offset);
  }
  return {};
}

}  // namespace het::preprocess_internal
