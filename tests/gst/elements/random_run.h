#pragma once

#include <gst/gst.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace het::gst_test {

/// Elements under one stream (or several) of everything that may come in any order and at any
/// moment: frames (some without timestamps), GAP and custom events, other caps, new segments and
/// streams, flushes of this and of another thread, ends, serialised queries, upstream events,
/// LATENCY queries and state changes to READY and back. One at a time: it listens to GLib's log.
class RandomRun {
 public:
  /// `elements` as gst-launch takes them, with one sink pad; heterometaaggregate gets two to four
  /// branches, each a thread.
  RandomRun(const std::string& elements, unsigned seed);
  ~RandomRun();
  RandomRun(const RandomRun&) = delete;
  RandomRun& operator=(const RandomRun&) = delete;

  /// False when it hangs; then nothing can be taken down any more.
  bool run();
  /// What was wrong; empty for nothing.
  std::string problem() const;

 private:
  static GstFlowReturn chain(GstPad* pad, GstObject*, GstBuffer* buffer);
  static gboolean event(GstPad* pad, GstObject*, GstEvent* event);
  static gboolean query(GstPad* pad, GstObject* parent, GstQuery* query);
  static void ask_latency(GstElement* element);
  bool plays(GstState state);
  void set_caps(GstPad* pad, int width);
  /// As elements that look for a pool.
  static void ask_for_pool(GstPad* pad, GstCaps* caps);
  static void drain(GstPad* pad);
  static void push_segment(GstPad* pad, GstClockTime base = 0);
  void begin_stream(GstPad* pad, size_t index, int width, GstClockTime base);
  /// The flush has begun: of what was pushed before, nothing need leave.
  void forget_before(guint64 number);
  void expect(guint64 number);
  void push_branch(size_t index, unsigned seed);

  /// As after a seek, whose flush another thread begins, the streaming thread goes on from here.
  void end_flush(GstPad* pad, guint64 number, int width, GstClockTime base, bool last = false);
  void begin_flush(GstPad* pad);

  /// What only elements with one sink pad are given.
  void do_something_else(GstPad* pad, std::mt19937& random, guint64 number, int width,
                         GstClockTime& base);

  /// Until the first branch has ended.
  void look_from_downstream(unsigned seed);

  void end_thread();
  void wait_until(GstClockTime running_time) const;

  std::mt19937 random_;
  bool is_aggregator_ = false;
  bool drops_late_frames_ = false;
  bool is_live_ = false;
  bool flushes_ = false;
  bool restarts_ = false;
  bool is_slow_ = false;  ///< what is downstream
  bool has_started_ = false;
  GLogFunc log_before_ = nullptr;
  GstElement* pipeline_ = nullptr;
  GstElement* element_ = nullptr;
  GstPad* sink_ = nullptr;
  std::vector<GstPad*> pads_;
  std::atomic<bool> first_has_ended_ = false;
  std::atomic<int> refused_ = 0;
  std::mutex flush_mutex_;  ///< protects the next two; taken before mutex_
  bool is_flushing_ = false;
  bool flush_may_begin_ = false;
  std::mutex mutex_;  ///< protects what follows
  std::condition_variable ended_;
  std::vector<guint64> must_leave_;  ///< numbers of frames and events, without those of flushes
  guint64 must_leave_from_ = 0;
  std::vector<guint64> left_;
  int width_ = 0;     ///< of the caps that left last
  guint64 base_ = 0;  ///< of the segment that left last
  int odd_frames_ = 0;
  int state_failures_ = 0;
  bool is_eos_ = false;
  size_t done_ = 0;
};

}  // namespace het::gst_test
