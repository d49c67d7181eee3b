#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "inference/core.h"

namespace het::gst_test {

/// A device "SCRIPTED" that does what a test wants. It converts pictures as every device does; its
/// first output is zero but for one row, whose place and class follow from the picture's content,
/// with objectness 0.8 and class score 1: one object a frame for the demo's detector.
class ScriptedDevice {
 public:
  /// Registers the device with the process' Core, which the plugin uses too.
  ScriptedDevice();

  /// Time that an execution takes. Every third one takes twice as long, so that requests end out of
  /// order.
  void set_delay(std::chrono::milliseconds delay);
  /// The execution with this number (from 0) and those after it fail; -1: none.
  void fail_from(int execution);
  int executions() const;
  int compiles() const;

  struct Script;

 private:
  std::shared_ptr<Core> core_;
  std::shared_ptr<Script> script_;
};

}  // namespace het::gst_test
