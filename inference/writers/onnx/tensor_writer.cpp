#include "inference/writers/onnx/tensor_writer.h"

#include <bit>

#include "inference/ops/onnx_type.h"
#include "inference/readers/onnx/proto.h"

namespace het::onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "raw tensors are little-endian");

void add_entry(protozero::pbf_writer& writer, const char* key, const std::string& value) {
  protozero::pbf_writer entry(writer, tensor_field::kExternalData);
  entry.add_string(entry_field::kKey, key);
  entry.add_string(entry_field::kValue, value);
}

}  // namespace

TensorWriter::TensorWriter(std::ostream& file, std::string path, std::string location,
                           size_t minimum_bytes)
    : path_(std::move(path)),
      location_(std::move(location)),
      minimum_bytes_(minimum_bytes),
      file_(&file) {}

Status TensorWriter::write(protozero::pbf_writer& writer, const std::string& name,
                           const Tensor& tensor, bool may_be_external) {
  if (tensor.empty() || tensor.bytes() == nullptr || onnx_type_code(tensor.type()) == 0) {
    return error(StatusCode::InvalidArgument, "tensor '{}' is not a host tensor with a known type",
                 name);
  }
  HET_ASSIGN(const Tensor dense, tensor.is_dense() ? Result<Tensor>(tensor) : tensor.clone());
  writer.add_packed_int64(tensor_field::kDims, dense.shape().begin(), dense.shape().end());
  writer.add_int32(tensor_field::kDataType, static_cast<int32_t>(onnx_type_code(dense.type())));
  if (!name.empty()) writer.add_string(tensor_field::kName, name);
  const size_t size_bytes = dense.size_bytes();
  if (size_bytes == 0) return {};
  if (may_be_external && !location_.empty() && size_bytes >= minimum_bytes_) {
    return write_external(writer, dense);
  }
  writer.add_bytes(tensor_field::kRawData, reinterpret_cast<const char*>(dense.bytes()),
                   size_bytes);
  return {};
}

Status TensorWriter::write_external(protozero::pbf_writer& writer, const Tensor& dense) {
  // Aligned, so that readers can refer to the content in the mapped file.
  static constexpr char kPadding[kHostAlignment] = {};
  const size_t padding = (kHostAlignment - offset_ % kHostAlignment) % kHostAlignment;
  file_->write(kPadding, static_cast<std::streamsize>(padding));
  offset_ += padding;
  const size_t size_bytes = dense.size_bytes();
  file_->write(reinterpret_cast<const char*>(dense.bytes()),
               static_cast<std::streamsize>(size_bytes));
  add_entry(writer, "location", location_);
  add_entry(writer, "offset", std::to_string(offset_));
  add_entry(writer, "length", std::to_string(size_bytes));
  writer.add_int32(tensor_field::kDataLocation, kExternalLocation);
  offset_ += size_bytes;
  return *file_ ? Status() : finish();
}

Status TensorWriter::finish() {
  if (location_.empty()) return {};
  file_->flush();
  if (*file_) return {};
  return error(StatusCode::Internal,
               "cannot write the weights to '{}' (at byte {}): check that the folder exists, is "
               "writable and has room",
               path_, offset_);
}

}  // namespace het::onnx
