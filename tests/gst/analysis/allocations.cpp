/// What a running element allocates: nothing for a frame in which it finds nothing, and never
/// anything of the size of a picture.
#include <dlfcn.h>
#include <gst/gst.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "tests/gst/pipeline_run.h"
#include "tests/gst/test_files.h"

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace {

constexpr size_t kPictureBytes = 320 * 192 * 3 / 2;
/// While frames are counted; of all threads.
std::atomic<bool> g_counting{false};
std::atomic<size_t> g_own{0};
std::atomic<size_t> g_of_onednn{0};
std::atomic<size_t> g_large{0};

/// oneDNN gathers the arguments of every primitive in maps of its own.
bool is_in_onednn(void* caller) {
  Dl_info info;
  return dladdr(caller, &info) != 0 && info.dli_fname != nullptr &&
         std::strstr(info.dli_fname, "libdnnl") != nullptr;
}

void* counted(void* memory, size_t size) {
  if (g_counting && size >= kPictureBytes / 2) ++g_large;
  return memory;
}

}  // namespace

// What C allocates is GStreamer's, GLib's and libc's: only its size is looked at.
extern "C" {
void* malloc(size_t size) {
  return counted(__libc_malloc(size), size);
}
void* calloc(size_t count, size_t size) {
  return counted(__libc_calloc(count, size), count * size);
}
void* realloc(void* memory, size_t size) {
  return counted(__libc_realloc(memory, size), size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return counted(__libc_memalign(alignment, size), size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) {
  *memory = counted(__libc_memalign(alignment, size), size);
  return *memory ? 0 : 12;
}
}

void* operator new(size_t size) {
  if (g_counting) ++(is_in_onednn(__builtin_return_address(0)) ? g_of_onednn : g_own);
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  if (g_counting) ++(is_in_onednn(__builtin_return_address(0)) ? g_of_onednn : g_own);
  return std::malloc(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace het::gst_test {
namespace {

struct Counts {
  size_t own = 0;
  size_t of_onednn = 0;
  size_t large = 0;
};

constexpr int kWarmUp = 300;
constexpr int kFrames = 1000;

/// In 1,000 frames of `pattern`.
Counts count(const std::string& pattern) {
  PipelineRun run(
      "videotestsrc num-buffers=" + std::to_string(kWarmUp + kFrames + 20) + " pattern=" + pattern +
      " ! video/x-raw,format=NV12,width=320,height=192 ! heterodetect model=" + detector_model() +
      " model-proc=" + detector_proc() + " ! fakesink name=sink sync=false");
  int frames = 0;
  Counts before;
  Counts after;
  const auto now = [] { return Counts{g_own, g_of_onednn, g_large}; };
  run.on_buffer("sink", [&](GstBuffer*) {
    ++frames;
    if (frames == kWarmUp) {
      before = now();
      g_counting = true;
    } else if (frames == kWarmUp + kFrames) {
      g_counting = false;
      after = now();
    }
  });
  EXPECT_EQ(run.play().problem(), "");
  EXPECT_GT(frames, kWarmUp + kFrames);
  std::printf("%s: %zu allocations of ours, %zu of oneDNN's, %zu of the size of a picture\n",
              pattern.c_str(), after.own - before.own, after.of_onednn - before.of_onednn,
              after.large - before.large);
  return {after.own - before.own, after.of_onednn - before.of_onednn, after.large - before.large};
}

/// More frames in flight than ever before need some more, once: on a busy machine that may be after
/// the warm-up. The source's pool then makes a picture more, no more than there can be in flight.
constexpr size_t kGrowth = 20;
constexpr size_t kMorePictures = 4;

TEST(Allocations, AFrameInWhichNothingIsFoundNeedsNone) {
  const Counts counts = count("black");
  EXPECT_LE(counts.own, kGrowth);
  EXPECT_LE(counts.large, kMorePictures);
}

/// The counters count: objects become metadata, and a picture is one.
TEST(Allocations, OthersAreSeen) {
  const Counts before{g_own, g_of_onednn, g_large};
  g_counting = true;
  ::operator delete(::operator new(1));
  void* const picture = g_malloc(kPictureBytes);
  g_counting = false;
  g_free(picture);
  EXPECT_EQ(g_own, before.own + 1);
  EXPECT_EQ(g_large, before.large + 1);
}

}  // namespace
}  // namespace het::gst_test
