#include "inference/writers/onnx_writer.h"

#include <filesystem>
#include <new>
#include <optional>
#include <ostream>
#include <protozero/pbf_writer.hpp>
#include <system_error>

#include "inference/base/new_file.h"
#include "inference/model/source_path.h"
#include "inference/ops/onnx_type.h"
#include "inference/passes/infer_shapes.h"
#include "inference/readers/onnx/graph.h"
#include "inference/readers/onnx/limits.h"
#include "inference/readers/onnx/proto.h"
#include "inference/writers/onnx/graph_writer.h"
#include "inference/writers/onnx/tensor_writer.h"

namespace het {
namespace {

/// The version of the file format that came with onnx::kNewestOpset.
constexpr int64_t kIrVersion = 13;

int64_t opset_of(const std::string& domain, int64_t of_onnx) {
  if (domain.empty()) return of_onnx != 0 ? of_onnx : onnx::kNewestOpset;
  return domain == "ai.onnx.ml" ? 5 : 1;
}

/// The model's outputs when its unknown dimensions are `first` (axis 0) and `other`.
std::vector<TensorDesc> outputs_at(const Model& model, int64_t first, int64_t other) {
  const std::unique_ptr<Model> probe = model.clone();
  for (const ModelInput& input : probe->inputs()) {
    TensorDesc desc = input.value->desc();
    for (size_t axis = 0; axis < desc.shape.size(); ++axis) {
      if (desc.shape[axis] == kUnknownDim) desc.shape[axis] = axis == 0 ? first : other;
    }
    probe->set_desc(input.value, std::move(desc));
  }
  std::vector<NodeFailure> failures;
  const Status status = infer_shapes(*probe, &failures);
  std::vector<TensorDesc> descs;
  for (const ModelOutput& output : probe->outputs()) {
    descs.push_back(status.ok() ? output.value->desc() : TensorDesc{});
  }
  return descs;
}

/// Types of the outputs, which ONNX wants declared. Shapes are inferred from bound inputs only, so
/// two sizes are tried: dimensions that differ are unknown. Where nothing can be inferred, what the
/// model's own file declares holds.
std::vector<onnx::DeclaredOutput> declared_outputs(const Model& model) {
  std::vector<TensorDesc> descs = outputs_at(model, 1, 320);
  bool is_bound = true;
  for (const ModelInput& input : model.inputs()) {
    is_bound = is_bound && is_static(input.value->desc().shape);
  }
  const std::vector<TensorDesc> others = is_bound ? descs : outputs_at(model, 2, 352);
  std::vector<onnx::DeclaredOutput> declared;
  for (size_t i = 0; i < descs.size(); ++i) {
    if (descs[i].shape.size() != others[i].shape.size()) descs[i] = {};
    for (size_t axis = 0; axis < descs[i].shape.size(); ++axis) {
      if (descs[i].shape[axis] != others[i].shape[axis]) descs[i].shape[axis] = kUnknownDim;
    }
    if (descs[i].type == ElementType::Undefined) descs[i] = model.outputs()[i].declared;
    declared.push_back({onnx_type_code(descs[i].type), std::nullopt});
    if (descs[i].type != ElementType::Undefined) declared.back().shape = descs[i].shape;
  }
  return declared;
}

size_t constant_bytes(const Model& model) {
  size_t bytes = 0;
  for (const auto& value : model.values()) {
    if (value->is_constant()) bytes += value->constant().size_bytes();
  }
  return bytes;
}

Result<std::string> model_bytes(const Model& model, onnx::TensorWriter& tensors,
                                int64_t opset = 0) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_int64(onnx::model_field::kIrVersion, kIrVersion);
  writer.add_string(onnx::model_field::kProducer, "gst-hetero");
  std::set<std::string> domains;
  {
    protozero::pbf_writer graph(writer, onnx::model_field::kGraph);
    HET_TRY(onnx::GraphWriter(tensors, domains).write(graph, model, declared_outputs(model)));
  }
  domains.insert("");
  for (const std::string& domain : domains) {
    protozero::pbf_writer import(writer, onnx::model_field::kOpsetImport);
    if (!domain.empty()) import.add_string(onnx::opset_field::kDomain, domain);
    import.add_int64(onnx::opset_field::kVersion, opset_of(domain, opset));
  }
  for (const auto& [key, value] : model.metadata()) {
    if (key == kSourcePathKey) continue;
    protozero::pbf_writer entry(writer, onnx::model_field::kMetadata);
    entry.add_string(onnx::entry_field::kKey, key);
    entry.add_string(onnx::entry_field::kValue, value);
  }
  if (bytes.size() > onnx::kMaxModelBytes) {
    return error(StatusCode::NotSupported,
                 "the file would have {} bytes, the format allows {}: write it to a path with "
                 "external data",
                 bytes.size(), onnx::kMaxModelBytes);
  }
  return bytes;
}

/// Runs `make` and says which model failed; memory that is not there is an error too.
template <class T, class Make>
Result<T> guard(const Model& model, const Make& make) {
  const auto context = [&] { return fmt::format("cannot write model '{}' as ONNX", model.name()); };
  try {
    Result<T> result = make();
    if (!result) return Failure(result.error().with_context(context()));
    return result;
  } catch (const std::bad_alloc&) {
    return error(StatusCode::OutOfMemory, "{}: it does not fit into memory", context());
  }
}

Result<bool> write_files(const Model& model, const std::string& path,
                         const OnnxWriteOptions& options) {
  const bool is_external =
      options.external_data || constant_bytes(model) > options.inline_limit_bytes;
  HET_ASSIGN(NewFile file, NewFile::create(path));
  std::optional<NewFile> weights;
  onnx::TensorWriter tensors;
  if (is_external) {
    HET_ASSIGN(NewFile created, NewFile::create(path + ".data"));
    weights.emplace(std::move(created));
    const std::string location = std::filesystem::path(path).filename().string() + ".data";
    tensors = onnx::TensorWriter(weights->stream(), path + ".data", location,
                                 options.external_minimum_bytes);
  }
  HET_ASSIGN(const std::string bytes, model_bytes(model, tensors, options.opset));
  HET_TRY(tensors.finish());
  file.stream().write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (weights) HET_TRY(weights->keep());
  HET_TRY(file.keep());
  return true;
}

}  // namespace

Status write_onnx(const Model& model, const std::string& path, const OnnxWriteOptions& options) {
  const auto written = guard<bool>(model, [&] { return write_files(model, path, options); });
  return written ? Status() : written.error();
}

Status write_onnx(const Model& model, std::ostream& stream) {
  HET_ASSIGN(const std::string bytes, write_onnx_bytes(model));
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (stream) return {};
  return error(StatusCode::Internal, "cannot write the {} bytes of model '{}' into the stream",
               bytes.size(), model.name());
}

Result<std::string> write_onnx_bytes(const Model& model) {
  return guard<std::string>(model, [&]() -> Result<std::string> {
    onnx::TensorWriter tensors;
    if (constant_bytes(model) > OnnxWriteOptions{}.inline_limit_bytes) {
      return error(StatusCode::NotSupported,
                   "its constants have {} bytes, one file holds 2 GiB: write it to a path, with "
                   "external data",
                   constant_bytes(model));
    }
    return model_bytes(model, tensors);
  });
}

}  // namespace het
