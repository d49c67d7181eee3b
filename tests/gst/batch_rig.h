#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "batch_streams.h"
#include "element_rig.h"

namespace het::gst_test {

using Texts = std::vector<std::string>;

inline constexpr char kBatchBgr[] = "video/x-raw,format=BGR,width=64,height=48,framerate=25/1";
inline constexpr char kBatchNv12[] = "video/x-raw,format=NV12,width=128,height=72,framerate=50/1";
inline constexpr char kBatchI420[] = "video/x-raw,format=I420,width=32,height=40,framerate=25/1";

/// Properties of a detector on the scripted device, and `more`.
std::string batches_on_scripted(const std::string& more = "");

/// What comes out of a rig, stream by stream.
class LeavingBatches {
 public:
  LeavingBatches(ElementRig& rig, size_t streams);
  std::vector<std::vector<Texts>> batches;  ///< read it after EOS has come out
};

/// Counts what GStreamer and GLib complain of while it lives; there must be nothing.
class NoComplaints {
 public:
  NoComplaints();
  ~NoComplaints();
  NoComplaints(const NoComplaints&) = delete;
  NoComplaints& operator=(const NoComplaints&) = delete;

 private:
  GLogFunc before_;
};

/// EOS goes in and comes out, and no error was posted.
void finish_batches(ElementRig& rig);

/// The text of a frame that comes alone, in which something is found.
std::string found_alone(const std::string& caps, int number, int value);

}  // namespace het::gst_test
