#pragma once

namespace het::gst {

/// Sends the library's messages to the GStreamer debug category "hetero" (GST_DEBUG=hetero:4 shows
/// what was chosen and why).
void connect_log();

}  // namespace het::gst
