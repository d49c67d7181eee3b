#pragma once

#include <Python.h>
#include <gst/video/video.h>

#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "python/gst/element/interpreter.h"
#include "python/gst/frame_loan.h"

namespace het::python {

/// What the user set.
struct ScriptSettings {
  std::string module;
  std::string class_name;
  std::string function = "process_frame";
  std::vector<std::string> args;    ///< JSON texts, each as it was set
  std::vector<std::string> kwargs;  ///< likewise
  InterpreterKind interpreter = InterpreterKind::Shared;
};

/// Why a script cannot start or go on.
struct ScriptFailure {
  std::string message;
  std::string traceback;    ///< empty where no exception of Python's is behind it
  bool is_setting = false;  ///< the user has to set something otherwise
};

/// A user's function or method, which is called with each frame. One thread at a time, any thread;
/// it takes the GIL by itself, so no lock may be held that Python's threads wait for.
class Script {
 public:
  static tl::expected<std::unique_ptr<Script>, ScriptFailure> open(const ScriptSettings& settings);
  ~Script();
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  enum class Verdict {
    Pass,
    Drop,
    Failed,  ///< the failure says why
    Ended,   ///< Python ends in this process
  };
  /// Lends the frame to the function. The buffer has to be writable; `info` may be null. A child
  /// that the function forked does not come back: it ends with the function.
  Verdict call(GstBuffer* buffer, GstCaps* caps, const GstVideoInfo* info, ScriptFailure& failure);

  /// Lets go of the user's objects and ends an interpreter of its own. What went wrong with that,
  /// else an empty text.
  std::string close();
  /// Which Python calls what, for the log.
  const std::string& description() const { return description_; }

 private:
  Script() = default;
  ScriptFailure open_here(const ScriptSettings& settings);
  std::string close_here();
  ScriptFailure load(const ScriptSettings& settings);
  ScriptFailure use_extension();

  InterpreterKind kind_ = InterpreterKind::Shared;
  std::unique_ptr<Interpreter> interpreter_;
  std::string module_;
  std::string function_;
  std::string description_;
  PyObject* extension_ = nullptr;
  PyObject* callable_ = nullptr;
  const FrameLoans* loans_ = nullptr;
};

}  // namespace het::python
