#pragma once

#include <gst/gst.h>
#include <sys/types.h>

#include <string>

namespace het::serving {

/// Processor time that video decoders take. Streaming threads: what an element spends in a push to
/// a decoder, without what that pushes on, by GStreamer's hooks for tracers. Decoders' own threads:
/// while a decoder works, its streaming thread has a name which threads that it starts inherit;
/// those that give themselves one are known (FFmpeg's, dav1d's). Thread-safe.
namespace decoder_clock {

/// Begins; after gst_init, before pipelines are started. Once begun it goes on.
void start();
/// Before an element starts: threads that a decoder makes when it learns its caps are its own.
void watch(GstElement* element);
/// Seconds that streaming threads have spent in decoders so far.
double streaming_s();
/// True for a decoder's own thread.
bool is_worker(pid_t thread, const std::string& name);

}  // namespace decoder_clock
}  // namespace het::serving
