#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "devices/vpu/vpu_link.h"
#include "inference/devices/device.h"
#include "inference/devices/properties.h"
#include "inference/devices/stream_executor.h"

namespace het::vpu {

/// A model in a device's memory, by one connection.
struct LoadedModel {
  std::shared_ptr<Connection> connection;
  uint32_t number = 0;
};

/// A model compiled for a VPU: keeps the file that the device was given, and gives it again after
/// the link was lost. Thread-safe.
class VpuCompiledModel final : public CompiledModel {
 public:
  /// `prepared` is the model as the device gets it. Fails with what the device refuses.
  static Result<std::shared_ptr<CompiledModel>> create(std::string device,
                                                       std::shared_ptr<VpuLink> link,
                                                       const Model& prepared,
                                                       const Properties& properties);
  ~VpuCompiledModel() override;

  Result<std::string> get_property(std::string_view name) const override;

  /// Where requests go. Loads the model where the link was lost in the meantime, which blocks.
  /// Fails with DeviceLost.
  Result<LoadedModel> loaded();
  /// The same without loading; nothing of a lost connection.
  LoadedModel loaded_now() const;
  /// What profiles of its requests tell.
  enum class Report : uint8_t { None, Stages, Layers };
  Report report() const { return report_; }
  /// One per node, as if none had run.
  const std::vector<ProfileRow>& rows() const { return rows_; }
  /// For what takes time before a request can be sent: pictures, a lost link.
  StreamExecutor& host_stream() const { return *host_stream_; }

 private:
  VpuCompiledModel(std::string device, std::shared_ptr<VpuLink> link, const Model& prepared,
                   const Properties& properties);
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override;
  Status load(Connection& connection, uint32_t number) const;

  const std::string device_;
  const std::shared_ptr<VpuLink> link_;
  const Properties properties_;
  const Report report_;
  std::string file_;
  std::vector<ProfileRow> rows_;
  mutable std::mutex mutex_;  ///< protects loaded_; before those of link and connection
  LoadedModel loaded_;
  std::unique_ptr<StreamExecutor> host_stream_;
};

}  // namespace het::vpu
