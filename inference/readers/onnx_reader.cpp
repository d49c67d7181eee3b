#include "inference/readers/onnx_reader.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <new>
#include <string_view>
#include <vector>

#include "inference/base/log.h"
#include "inference/ops/op.h"
#include "inference/readers/mapped_file.h"
#include "inference/readers/onnx/external_file.h"
#include "inference/readers/onnx/external_locations.h"
#include "inference/readers/onnx/functions.h"
#include "inference/readers/onnx/graph.h"
#include "inference/readers/onnx/limits.h"
#include "inference/readers/onnx/parse.h"
#include "inference/readers/onnx/tensor.h"

namespace het {
namespace {

/// The oldest opset whose changes the lift rules know completely.
constexpr int64_t kOldestOpset = 7;
/// Files of older IR versions may leave their opset out; it is 1 then.
constexpr int64_t kFirstIrVersionWithOpsets = 3;

constexpr std::string_view kLfsPointer = "version https://git-lfs";

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool uses_default_domain(const onnx::ParsedGraph& graph) {
  for (const onnx::ParsedNode& node : graph.nodes) {
    if (node.opset == 0 && (node.domain.empty() || node.domain == "ai.onnx")) return true;
  }
  return false;
}

/// The newest opset of ai.onnx in which an operator changed that this build has.
int64_t newest_opset() {
  static const int64_t newest = [] {
    int64_t most = 0;
    for (const OpDef* def : op_registry().all()) {
      if (def->domain.empty()) most = std::max<int64_t>(most, def->since_version);
    }
    return most;
  }();
  return newest;
}

Result<int64_t> default_opset(const onnx::ParsedModel& parsed, const std::string& origin) {
  const auto found = parsed.opsets.find("");
  if (found == parsed.opsets.end()) {
    if (parsed.ir_version >= kFirstIrVersionWithOpsets && uses_default_domain(parsed.graph)) {
      return error(StatusCode::ParseError,
                   "ONNX model '{}' does not say which opset of ai.onnx it uses (opset_import)",
                   origin);
    }
    return 1;
  }
  if (found->second < 1) {
    return error(StatusCode::ParseError, "ONNX model '{}' declares opset {}", origin,
                 found->second);
  }
  if (found->second < kOldestOpset) {
    log(LogLevel::Warning,
        "ONNX model '{}' is of opset {}; before {} not every operator is translated", origin,
        found->second, kOldestOpset);
  }
  if (found->second > newest_opset()) {
    log(LogLevel::Warning,
        "ONNX model '{}' is of opset {}, and this build knows opsets up to {}: operators that have "
        "changed since then are read as they were; trying",
        origin, found->second, newest_opset());
  }
  return found->second;
}

Result<std::unique_ptr<Model>> build_model(std::string_view bytes,
                                           const std::shared_ptr<const void>& owner,
                                           const onnx::ModelFolder& folder,
                                           const std::string& origin,
                                           const std::vector<std::string>& overridden) {
  HET_ASSIGN(onnx::ParsedModel parsed, onnx::parse_model(bytes, origin));
  std::deque<std::string> made_names;
  HET_TRY(onnx::expand_functions(parsed, made_names)
              .with_context(fmt::format("ONNX model '{}'", origin)));
  HET_ASSIGN(const int64_t opset, default_opset(parsed, origin));
  onnx::FileContext file{origin,
                         opset,
                         onnx::only_float_type(parsed.graph),
                         onnx::TensorReader(owner, bytes.size(), folder),
                         {overridden.begin(), overridden.end()}};
  auto model = onnx::GraphBuilder(file, parsed.graph, nullptr).build();
  if (!model) {
    return Failure(model.error().with_context(fmt::format("ONNX model '{}'", origin)));
  }
  for (const auto& [key, value] : parsed.metadata) {
    (*model)->metadata()[std::string(key)] = std::string(value);
  }
  return model;
}

Result<std::unique_ptr<Model>> read_bytes(std::span<const std::byte> bytes,
                                          const std::shared_ptr<const void>& owner,
                                          const onnx::ModelFolder& folder,
                                          const std::string& origin,
                                          const std::vector<std::string>& overridden) {
  const std::string_view text = text_of(bytes);
  if (text.empty()) return error(StatusCode::ParseError, "ONNX model '{}' is empty", origin);
  if (text.substr(0, kLfsPointer.size()) == kLfsPointer) {
    return error(StatusCode::ParseError,
                 "'{}' is a Git LFS pointer, not the model itself: run `git lfs pull`", origin);
  }
  if (bytes.size() > onnx::kMaxModelBytes) {
    return error(StatusCode::OutOfMemory,
                 "ONNX model '{}' has {} bytes; the format allows {} (use external data)", origin,
                 bytes.size(), onnx::kMaxModelBytes);
  }
  try {
    return build_model(text, owner, folder, origin, overridden);
  } catch (const std::bad_alloc&) {
    return error(StatusCode::OutOfMemory, "ONNX model '{}' does not fit into memory", origin);
  }
}

}  // namespace

Result<std::unique_ptr<Model>> read_onnx(const std::string& path,
                                         const std::vector<std::string>& overridden) {
  HET_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  auto model = read_bytes(file->bytes(), file, onnx::folder_of_model(path), path, overridden);
  // Weights are referenced or copied by now; those referenced are read when they are used.
  release_file_pages(file->bytes());
  return model;
}

Result<std::unique_ptr<Model>> read_onnx_bytes(std::span<const std::byte> bytes,
                                               const std::string& folder, const std::string& origin,
                                               const std::vector<std::string>& overridden) {
  return read_bytes(bytes, nullptr, {folder, {}}, origin, overridden);
}

Result<std::vector<std::string>> onnx_external_files(const std::string& path) {
  HET_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  const std::string_view bytes = text_of(file->bytes());
  try {
    HET_ASSIGN(const onnx::ParsedModel parsed, onnx::parse_model(bytes, path));
    const onnx::ExternalFiles beside(onnx::folder_of_model(path));
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::vector<std::string> files;
    for (const std::string_view location : onnx::external_locations(parsed)) {
      if (beside.find(location)) files.push_back((folder / location).string());
    }
    release_file_pages(file->bytes());
    return files;
  } catch (const std::bad_alloc&) {
    return error(StatusCode::OutOfMemory, "ONNX model '{}' does not fit into memory", path);
  }
}

Result<Tensor> read_onnx_tensor(const std::string& path) {
  HET_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  const std::string_view bytes = text_of(file->bytes());
  try {
    HET_ASSIGN(const onnx::ParsedTensor parsed, onnx::parse_tensor(bytes, path));
    onnx::TensorReader reader(file, bytes.size(), {});
    auto tensor = reader.read(parsed);
    if (!tensor) return Failure(tensor.error().with_context(fmt::format("file '{}'", path)));
    return tensor;
  } catch (const std::bad_alloc&) {
    return error(StatusCode::OutOfMemory, "the tensor in '{}' does not fit into memory", path);
  }
}

}  // namespace het
