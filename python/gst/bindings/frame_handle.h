#pragma once

#include <Python.h>
#include <gst/video/video.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "gst/bindings/frame_access.h"
#include "objects.h"

namespace het::python {

struct RegionObject;
class FrameHandle;

/// The frames that Python has hold of, so that two VideoFrames of one buffer share what they know.
using FrameTable = std::unordered_map<GstBuffer*, std::weak_ptr<FrameHandle>>;

/// A buffer with its format, as VideoFrames, regions, tensors and pixels share it. Used with the
/// GIL of one interpreter.
class FrameHandle {
 public:
  /// A buffer that somebody else owns alone until end_loan().
  static std::shared_ptr<FrameHandle> lent(std::shared_ptr<FrameTable> table, GstBuffer* buffer,
                                           GstCaps* caps, const GstVideoInfo* info);
  /// The buffer of a Gst.Buffer, which the handle keeps; the one that is known already, if any.
  static std::shared_ptr<FrameHandle> wrapped(const std::shared_ptr<FrameTable>& table,
                                              GstBuffer* buffer, PyObject* wrapper);
  FrameHandle(const FrameHandle&) = delete;
  FrameHandle& operator=(const FrameHandle&) = delete;
  ~FrameHandle();

  GstBuffer* buffer() const { return buffer_; }
  GstCaps* caps() const { return caps_; }
  /// Null where the format is not known.
  const GstVideoInfo* info() const { return has_info_ ? &info_ : nullptr; }
  void set_format(GstCaps* caps, const GstVideoInfo* info);

  /// A Gst.Buffer; null with an exception. While the frame is lent it has no reference of its own,
  /// so that the buffer stays writable.
  PyObject* new_buffer_object();
  /// False, with an exception that says what to do, where others use the buffer, too.
  bool check_writable() const;
  /// From now on the handle has a reference. False with an exception where pixels that may be
  /// written are still mapped.
  bool end_loan();

  void add_region(RegionObject* region) { regions_.push_back(region); }
  void forget_region(RegionObject* region);
  /// Takes the region away, and tells the objects of the others where theirs are now.
  void remove_region(RegionObject& region);
  /// After params were added: a region may have got its place for them just now.
  void refresh_regions();

  int written_mappings = 0;  ///< of pixels that may be written

 private:
  FrameHandle(std::shared_ptr<FrameTable> table, GstBuffer* buffer);
  /// Of a lent frame: the Gst.Buffer may have been kept.
  void give_up_wrapper();

  enum class Hold { Lent, Wrapped, Owned };
  std::shared_ptr<FrameTable> table_;
  GstBuffer* buffer_;
  Hold hold_ = Hold::Lent;
  Owned wrapper_;  ///< Wrapped: keeps the buffer; Lent: what new_buffer_object() gave
  GstCaps* caps_ = nullptr;
  GstVideoInfo info_ = {};
  bool has_info_ = false;
  std::vector<RegionObject*> regions_;  ///< those that live
};

}  // namespace het::python
