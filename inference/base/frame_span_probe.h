#pragma once

// What USDT's tools see of a frame, as probes.h has it of a node: provider "hetero",
// frame_span(part, where, frame, begin, end) when a part of a frame's way has ended; it has a
// semaphore, so that nothing is done while nobody has it. Included by frame_span.cpp only.
#if __has_include(<sys/sdt.h>)
// NOLINTNEXTLINE: sys/sdt.h asks for it.
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#define HET_SDT 1
extern "C" {
__attribute__((visibility("hidden"),
               section(".probes"))) unsigned short hetero_frame_span_semaphore = 0;
}
#endif

#include <string>

#include "inference/base/frame_span.h"

namespace het {

inline bool probe_is_wanted() {
#ifdef HET_SDT
  // Written by the tool, from outside of the program.
  return *const_cast<volatile unsigned short*>(&hetero_frame_span_semaphore) != 0;
#else
  return false;
#endif
}

inline void fire_probe([[maybe_unused]] const FrameSpan& span) {
#ifdef HET_SDT
  if (!probe_is_wanted()) return;
  const std::string where(span.where);
  DTRACE_PROBE5(hetero, frame_span, to_string(span.part).data(), where.c_str(), span.frame,
                span.begin.time_since_epoch().count(), span.end.time_since_epoch().count());
#endif
}

}  // namespace het
