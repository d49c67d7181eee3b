#include "tools/npy.h"
#include "inference/base/new_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <string_view>
#include <vector>

namespace het {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicBytes = 6;
constexpr size_t kMaxHeaderBytes = 1 << 16;
constexpr uint64_t kMaxContentBytes = uint64_t{4} << 30;

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

struct TypeCode {
  ElementType type;
  std::string_view code;
};

constexpr std::array<TypeCode, 13> kTypeCodes{{
    {ElementType::Bool, "|b1"},
    {ElementType::Int8, "|i1"},
    {ElementType::UInt8, "|u1"},
    {ElementType::Int16, "<i2"},
    {ElementType::UInt16, "<u2"},
    {ElementType::Int32, "<i4"},
    {ElementType::UInt32, "<u4"},
    {ElementType::Int64, "<i8"},
    {ElementType::UInt64, "<u8"},
    {ElementType::Float16, "<f2"},
    {ElementType::Float32, "<f4"},
    {ElementType::Float64, "<f8"},
    {ElementType::Float32, "=f4"},
}};

/// The text after "'key':" in the header's dictionary, or empty.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::string quoted = "'" + std::string(key) + "':";
  const size_t at = header.find(quoted);
  if (at == std::string_view::npos) return {};
  std::string_view rest = header.substr(at + quoted.size());
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  return rest;
}

Result<TensorDesc> parse_header(std::string_view header, bool& fortran_order) {
  const auto failure = [&](std::string_view what) {
    return error(StatusCode::ParseError, "its header has {}: {}", what, header.substr(0, 200));
  };
  TensorDesc desc;
  std::string_view descr = value_of(header, "descr");
  if (descr.size() < 2 || descr.front() != '\'') return failure("no 'descr'");
  descr = descr.substr(1, descr.find('\'', 1) - 1);
  for (const TypeCode& row : kTypeCodes) {
    if (row.code == descr) desc.type = row.type;
  }
  if (desc.type == ElementType::Undefined) {
    return error(StatusCode::NotSupported, "its type '{}' is not supported", descr);
  }
  fortran_order = value_of(header, "fortran_order").substr(0, 4) == "True";
  std::string_view shape = value_of(header, "shape");
  const size_t close = shape.find(')');
  if (shape.empty() || shape.front() != '(' || close == std::string_view::npos) {
    return failure("no 'shape'");
  }
  shape = shape.substr(1, close - 1);
  while (!shape.empty()) {
    if (shape.front() == ' ' || shape.front() == ',') {
      shape.remove_prefix(1);
      continue;
    }
    int64_t dim = 0;
    const auto [end, code] = std::from_chars(shape.data(), shape.data() + shape.size(), dim);
    if (code != std::errc() || dim < 0 || desc.shape.size() >= 32) return failure("a bad shape");
    desc.shape.push_back(dim);
    shape.remove_prefix(static_cast<size_t>(end - shape.data()));
  }
  return desc;
}

Result<Tensor> read(std::FILE* file) {
  std::array<unsigned char, 12> start{};
  if (std::fread(start.data(), 1, 10, file) != 10 ||
      std::memcmp(start.data(), kMagic, kMagicBytes) != 0) {
    return error(StatusCode::ParseError, "it is not a NumPy .npy file");
  }
  size_t header_bytes = start[8] + (size_t{start[9]} << 8);
  if (start[6] >= 2) {
    if (std::fread(start.data() + 10, 1, 2, file) != 2) {
      return error(StatusCode::ParseError, "it ends inside its header");
    }
    header_bytes += (size_t{start[10]} << 16) + (size_t{start[11]} << 24);
  }
  if (header_bytes > kMaxHeaderBytes) {
    return error(StatusCode::ParseError, "its header of {} bytes is too long", header_bytes);
  }
  std::string header(header_bytes, '\0');
  if (std::fread(header.data(), 1, header_bytes, file) != header_bytes) {
    return error(StatusCode::ParseError, "it ends inside its header");
  }
  bool fortran_order = false;
  HET_ASSIGN(TensorDesc desc, parse_header(header, fortran_order));
  if (fortran_order) std::reverse(desc.shape.begin(), desc.shape.end());
  HET_ASSIGN(const size_t size, dense_size_bytes(desc));
  if (size > kMaxContentBytes) {
    return error(StatusCode::OutOfMemory, "its {} bytes are above the limit of {}", size,
                 kMaxContentBytes);
  }
  // Asked first: a header of a few bytes may promise gigabytes.
  struct stat status = {};
  const int64_t at = std::ftell(file);
  if (at >= 0 && fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) &&
      static_cast<int64_t>(size) > status.st_size - at) {
    return error(StatusCode::ParseError, "it ends before its {} bytes of values", size);
  }
  HET_ASSIGN(Tensor stored, Tensor::allocate(desc));
  if (size > 0 && std::fread(stored.bytes(), 1, size, file) != size) {
    return error(StatusCode::ParseError, "it ends before its {} bytes of values", size);
  }
  if (!fortran_order || desc.shape.size() < 2) return stored;
  // The file holds the transposed array; a strided view puts the axes right.
  std::vector<int64_t> strides = stored.strides_bytes();
  std::reverse(strides.begin(), strides.end());
  std::reverse(desc.shape.begin(), desc.shape.end());
  HET_ASSIGN(const Tensor view, Tensor::view(desc, stored.buffer(), 0, std::move(strides)));
  return view.clone();
}

Result<Tensor> without_bfloat16(const Tensor& tensor) {
  HET_ASSIGN(const std::vector<float> values, to_float_vector(tensor));
  return Tensor::from<float>(tensor.shape(), values);
}

}  // namespace

Result<Tensor> read_npy(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) {
    return error(StatusCode::NotFound, "cannot open '{}': {}", path, std::strerror(errno));
  }
  auto tensor = read(file.get());
  if (!tensor) return Failure(tensor.error().with_context(fmt::format("cannot read '{}'", path)));
  return tensor;
}

Status write_npy(const std::string& path, const Tensor& tensor) {
  Tensor dense = tensor;
  if (tensor.type() == ElementType::BFloat16) {
    HET_ASSIGN(dense, without_bfloat16(tensor));
  } else if (!tensor.is_dense()) {
    HET_ASSIGN(dense, tensor.clone());
  }
  std::string_view type_code;
  for (const TypeCode& row : kTypeCodes) {
    if (row.type == dense.type() && type_code.empty()) type_code = row.code;
  }
  if (type_code.empty()) {
    return error(StatusCode::NotSupported, "cannot write {} values to '{}'",
                 to_string(tensor.type()), path);
  }
  std::string shape;
  for (const int64_t dim : dense.shape()) shape += std::to_string(dim) + ",";
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type_code, shape);
  // The format wants the values to begin at a multiple of 64 bytes.
  const size_t used = kMagicBytes + 4 + header.size() + 1;
  header.append((64 - used % 64) % 64, ' ');
  header += '\n';
  HET_ASSIGN(NewFile file, NewFile::create(path));
  const unsigned char start[] = {1, 0, static_cast<unsigned char>(header.size() & 0xff),
                                 static_cast<unsigned char>(header.size() >> 8)};
  file.stream().write(reinterpret_cast<const char*>(kMagic), kMagicBytes);
  file.stream().write(reinterpret_cast<const char*>(start), sizeof start);
  file.stream() << header;
  file.stream().write(reinterpret_cast<const char*>(dense.bytes()),
                      static_cast<std::streamsize>(dense.size_bytes()));
  return file.keep();
}

}  // namespace het
