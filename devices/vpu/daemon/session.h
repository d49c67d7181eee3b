#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "devices/vpu/daemon/delay_line.h"
#include "devices/vpu/daemon/device_model.h"
#include "devices/vpu/daemon/fault_plan.h"
#include "devices/vpu/daemon/profile.h"
#include "devices/vpu/daemon/unit_queue.h"
#include "devices/vpu/link_messages.h"
#include "devices/vpu/link_socket.h"
#include "devices/vpu/shared_memory.h"

namespace het::vpu {

/// What all sessions of a device program share.
struct DeviceSide {
  Profile profile;
  ModelLoader load;
  UnitQueue& units;
  FaultPlan& faults;
  SimulatedSpeed speed;
  std::atomic<bool> is_ending{false};  ///< the program ends: who hangs goes on
  std::atomic<bool> is_throttled{false};
  std::atomic<uint64_t> executions{0};
  std::atomic<uint64_t> memory_used{0};
};

/// One host's link, as the device sees it: answers its frames until it goes. Whatever the host
/// sends, it costs no more than the limits of the profile and of protocol.md; a host that breaks
/// the protocol loses its link.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(File socket, DeviceSide& device)
      : socket_(std::move(socket)),
        device_(device),
        to_device_(device.speed),
        to_host_(device.speed) {}
  ~Session();
  /// Returns when the link has ended.
  void run();
  /// Ends it, from any thread.
  void stop() { socket_.close(); }

 private:
  struct Load {
    LoadBegin begin;
    std::vector<std::byte> content;
  };
  struct Job;
  Status greet();
  /// A failure ends the link.
  Status take(Frame frame);
  Status begin_load(const Frame& frame);
  Status add_chunk(const Frame& frame);
  Status end_load(const Frame& frame);
  Status unload(const Frame& frame);
  Status map(Frame& frame);
  Status unmap(const Frame& frame);
  Status submit(Frame frame);
  Status reset(const Frame& frame);
  Result<Tensor> tensor_at(const TensorPlace& place, const TensorDesc& desc, bool is_input);
  Status bind(Job& job);
  void execute(const std::shared_ptr<Job>& job, uint32_t unit);
  void complete(uint64_t sequence, const Completed& completed, DeviceFault fault);
  /// Until the program ends.
  void hang();
  void answer(FrameType type, uint64_t sequence, const Bytes& payload);
  /// The command failed; the link goes on.
  void refuse(uint64_t sequence, const Status& status);

  LinkSocket socket_;
  DeviceSide& device_;
  std::map<uint32_t, Load> loads_;
  std::map<uint32_t, std::shared_ptr<DeviceModel>> models_;
  std::map<uint32_t, std::shared_ptr<SharedMemory>> memories_;
  uint64_t mapped_bytes_ = 0;
  std::mutex send_mutex_;             ///< one frame at a time; taken alone
  std::mutex running_mutex_;          ///< protects the next two; taken alone
  std::map<uint64_t, bool> running_;  ///< submitted requests, and whether they are cancelled
  DelayLine to_device_;               ///< of requests; what they use is above
  DelayLine to_host_;
};

}  // namespace het::vpu
