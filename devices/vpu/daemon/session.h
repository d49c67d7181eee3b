#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "devices/vpu/daemon/device_side.h"
#include "devices/vpu/link_messages.h"
#include "devices/vpu/link_socket.h"
#include "devices/vpu/shared_memory.h"

namespace het::vpu {

/// One host's link, as the device sees it: answers its frames until it goes. Whatever the host
/// sends, it costs no more than the limits of the profile and of protocol.md; a host that breaks
/// the protocol loses its link.
class Session : public std::enable_shared_from_this<Session> {
 public:
  /// With a key the host has to have the same one; without `shares_memory` tensors come in frames.
  Session(File socket, DeviceSide& device, std::optional<LinkKey> key = {},
          bool shares_memory = true);
  ~Session();
  /// Returns when the link has ended and nothing of it is executed any more.
  void run();
  /// Ends it, from any thread.
  void stop() { socket_.close(); }

 private:
  struct Load {
    LoadBegin begin;
    std::vector<std::byte> content;
  };
  struct Held {
    std::shared_ptr<DeviceModel> model;
    PlacedModel place;
  };
  struct Job;
  void serve();
  /// A failure ends the link.
  Status take(Frame frame);
  Status begin_load(const Frame& frame);
  Status add_chunk(const Frame& frame);
  Status end_load(const Frame& frame);
  Result<Held> load_model(const LoadBegin& begin, std::span<const std::byte> content);
  Status unload(const Frame& frame);
  Status map(Frame& frame);
  Status unmap(const Frame& frame);
  Status submit(Frame frame);
  void cancel(uint64_t sequence);
  Status reset(const Frame& frame);
  Result<Tensor> tensor_at(const TensorPlace& place, const TensorDesc& desc, bool is_input);
  Status bind(Job& job);
  void start(const std::shared_ptr<Job>& job, uint32_t unit);
  /// The model has ended the execution; simulated devices take more time.
  void end(const std::shared_ptr<Job>& job, const Status& status);
  void complete(const std::shared_ptr<Job>& job, const Status& status);
  void send_completed(const Job& job, const Completed& completed);
  /// Ends what takes longer than the profile allows.
  void end_late_jobs();
  void let_go(const Held& held);
  /// Until the program ends.
  void hang();
  void answer(FrameType type, uint64_t sequence, const Bytes& payload);
  /// The command failed; the link goes on.
  void refuse(uint64_t sequence, const Status& status);

  LinkSocket socket_;
  DeviceSide& device_;
  const std::optional<LinkKey> key_;
  const bool shares_memory_;
  const std::string name_;  ///< of its flows
  std::map<uint32_t, Load> loads_;
  std::map<uint32_t, Held> models_;
  std::map<uint32_t, std::shared_ptr<SharedMemory>> memories_;
  uint64_t mapped_bytes_ = 0;
  std::mutex send_mutex_;     ///< one frame at a time; taken alone
  std::mutex running_mutex_;  ///< protects what follows and the jobs' states; before a model's own
  std::condition_variable changed_;
  std::map<uint64_t, std::shared_ptr<Job>> running_;  ///< submitted and not completed
  size_t executing_ = 0;                              ///< jobs that a model has
  /// Models of ended executions: they go on the session's thread, not on one of their own.
  std::vector<std::shared_ptr<DeviceModel>> ended_models_;
  DelayLine to_device_;
  DelayLine to_host_;
};

}  // namespace het::vpu
