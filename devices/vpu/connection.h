#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "devices/vpu/link_messages.h"
#include "devices/vpu/link_socket.h"
#include "inference/base/status.h"

namespace het::vpu {

/// A request on its way through a Connection; belongs to its owner, who keeps it until end() and
/// submits it once at a time.
class Submission {
 public:
  /// The execution has ended; `completed` is empty without an answer of the device. Called once a
  /// submit(), by any thread, possibly inside submit(). It may submit again.
  virtual void end(Status status, const Completed& completed) = 0;
  /// Asked with the connection's lock held when it is submitted: true ends it there. Who cancels
  /// sets this before Connection::cancel(), which finds what was submitted before.
  virtual bool is_cancelled() const { return false; }

 protected:
  virtual ~Submission() = default;
  Bytes payload_;       ///< an encoded Submit
  std::string stream_;  ///< that it names: streams take turns

 private:
  friend class Connection;
  uint64_t sequence_ = 0;
  std::chrono::steady_clock::time_point sent_;
};

/// The host's side of a link to one device. Thread-safe. One thread of its own receives; requests
/// are sent by whoever submits them, as many at a time as the device gives credits; among those
/// that wait, streams take turns. When the link fails, or the device answers a request for longer
/// than `patience`, everything ends with DeviceLost and the object is of no more use.
class Connection {
 public:
  struct Options {
    std::chrono::milliseconds patience{10000};       ///< with a request
    std::chrono::milliseconds call_patience{60000};  ///< with a command, which may compile a model
    std::chrono::milliseconds greeting_patience{2000};
    std::optional<LinkKey> key;  ///< for devices that ask for one
  };
  /// Connects and says hello. Fails with NotFound where nobody listens, DeviceLost where what
  /// listens is no device of this protocol.
  static Result<std::shared_ptr<Connection>> open(const std::string& address,
                                                  const Options& options);
  /// The same over a Unix socket that is connected already; `name` is for messages.
  static Result<std::shared_ptr<Connection>> greet(LinkSocket socket, const std::string& name,
                                                   const Options& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const Welcome& welcome() const;
  bool is_lost() const;
  /// How long a request may take from now on; Options::patience before.
  void set_patience(std::chrono::milliseconds patience);
  /// A number that no model or memory of this connection has.
  uint32_t new_number();
  /// Sends a command and waits for its answer, which is a frame of `wanted` type. What the device
  /// refuses is the Status that it gives.
  Result<Frame> call(FrameType type, ByteView payload, FrameType wanted, int file = -1);
  /// Sends a command whose answer nobody waits for.
  void tell(FrameType type, ByteView payload);
  void submit(Submission& submission);
  /// One that waits ends at once; one that the device has is asked to end early.
  void cancel(Submission& submission);

 private:
  struct State;
  explicit Connection(std::shared_ptr<State> state);
  static Result<std::shared_ptr<Connection>> greet(LinkSocket socket, const std::string& name,
                                                   bool is_tcp, const Options& options);
  static void send(State& state, FrameType type, uint64_t sequence, ByteView payload,
                   int file = -1);
  static void send_waiting(State& state);
  static void wait_for_senders(State& state);
  static void work(const std::shared_ptr<State>& state);
  static void take(State& state, Frame frame);
  static void lose(State& state, const Status& cause);

  std::shared_ptr<State> state_;
  std::thread thread_;
  pid_t process_;
};

}  // namespace het::vpu
