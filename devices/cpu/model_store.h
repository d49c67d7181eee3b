#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <ostream>
#include <string>

#include "devices/cpu/device_parts.h"
#include "devices/cpu/plan/exported_plan.h"
#include "devices/cpu/plan/stream_settings.h"
#include "inference/devices/cache_folder.h"

namespace het::cpu {

/// The place in CACHE_DIR of one model, planned for one processor in one way: a file as
/// export_model() writes it, which every process maps that compiles the same (WEIGHT_SHARING). What
/// is the same says a key over the prepared graph, the content of its constants and everything that
/// decides about kernels and the form of their weights. Nothing here fails: what goes wrong is a
/// warning, and the model is compiled for this process alone. Immutable; thread-safe.
class ModelStore {
 public:
  /// Nothing where WEIGHT_SHARING is NO or CACHE_DIR empty, and for graphs that ONNX cannot
  /// express. `source` has not forgotten anything yet.
  static std::optional<ModelStore> create(const ExportSource& source, const Properties& properties,
                                          const StreamSettings& settings,
                                          const DeviceParts& device);

  const std::string& path() const { return path_; }
  const std::string& key() const { return key_; }
  bool exists() const;
  /// What the file has. Nothing where there is none, or a damaged one.
  std::optional<ExportedPlan> find() const;
  /// Says that what find() found does not fit.
  void refuse(std::string_view reason) const;
  /// So that one process packs and the others wait for it. Whoever waits too long packs as well.
  CacheTurn wait_for_turn() const;
  /// Puts a new file in place; `write` writes its content of about this size. False when that
  /// cannot be.
  bool replace(uint64_t bytes, const std::function<Status(std::ostream&)>& write) const;

 private:
  ModelStore(std::string folder, std::string path, std::string machine, std::string key)
      : folder_(std::move(folder)),
        path_(std::move(path)),
        machine_(std::move(machine)),
        key_(std::move(key)) {}

  std::string folder_;
  std::string path_;
  std::string machine_;
  std::string key_;
};

}  // namespace het::cpu
