#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "inference/base/status.h"

namespace het::gst {

/// An open file of the system; closed with the object.
class FpsHandle {
 public:
  explicit FpsHandle(int number = -1) : number_(number) {}
  ~FpsHandle() { reset(); }
  FpsHandle(const FpsHandle&) = delete;
  FpsHandle& operator=(const FpsHandle&) = delete;
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void reset(int number = -1);

 private:
  int number_;
};

/// Tells a process that reads a FIFO of each frame, in gvafpscounter's form: 64 bytes with the name
/// of the stream. frame() is called by one thread, the rest by any.
class FpsPipeWriter {
 public:
  /// Makes the FIFO where there is none. `stream` is cut so that it fits, with the process' number.
  /// Fails with InvalidArgument where something else has that path, NotFound where it cannot be
  /// made.
  static Result<std::unique_ptr<FpsPipeWriter>> create(const std::string& path,
                                                       const std::string& stream);

  /// Waits until somebody reads the FIFO and has room. Fails with Cancelled after interrupt(),
  /// NotFound when the reader has left.
  Status frame();
  /// A frame() that waits, and every later one, returns at once, until resume().
  void interrupt();
  void resume();

 private:
  FpsPipeWriter(std::string path, std::string message)
      : path_(std::move(path)), message_(std::move(message)) {}
  Status open_pipe();

  const std::string path_;
  const std::string message_;
  FpsHandle pipe_;
  FpsHandle interrupted_;  ///< readable after interrupt()
};

/// Hears of the frames of other processes through a FIFO, on a thread of its own.
class FpsPipeReader {
 public:
  struct Listener {
    std::function<void(const std::string& stream)> frame;
    /// The last writer has left, or the reader goes; nothing follows.
    std::function<void(const std::set<std::string>& streams)> end;
    std::function<void(const Status&)> warn;
  };
  /// Makes the FIFO where there is none. Fails as FpsPipeWriter::create().
  static Result<std::unique_ptr<FpsPipeReader>> create(const std::string& path, Listener listener);
  /// Waits for a listener that is being called, then removes the FIFO.
  ~FpsPipeReader();

 private:
  FpsPipeReader(std::string path, Listener listener)
      : path_(std::move(path)), listener_(std::move(listener)) {}
  void read_all();
  void take(const std::string& message);

  const std::string path_;
  const Listener listener_;
  FpsHandle pipe_;
  FpsHandle stopped_;              ///< readable when the thread has to end
  std::set<std::string> streams_;  ///< of the thread
  bool warned_ = false;
  std::thread thread_;
};

}  // namespace het::gst
