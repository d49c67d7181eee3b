/// ThreadSanitizer learns of a thread by its interceptor of pthread_create(), and GCC's has none of
/// C11's functions: the first allocation of a thread of librdkafka's would crash. In a build with
/// that sanitizer, and only there, these definitions come before glibc's, whose threads are the
/// same. The program has to export them for libraries that are loaded later.

#if defined(__SANITIZE_THREAD__)

#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <cstdint>
#include <memory>

namespace {

struct Start {
  thrd_start_t function;
  void* argument;
};

void* run(void* user) {
  const std::unique_ptr<Start> start(static_cast<Start*>(user));
  return reinterpret_cast<void*>(static_cast<intptr_t>(start->function(start->argument)));
}

}  // namespace

#define HET_EXPORTED __attribute__((visibility("default")))

extern "C" {

HET_EXPORTED int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  auto start = std::make_unique<Start>(Start{function, argument});
  const int status = pthread_create(thread, nullptr, run, start.get());
  if (status == 0) {
    start.release();
    return thrd_success;
  }
  return status == EAGAIN ? thrd_nomem : thrd_error;
}

HET_EXPORTED int thrd_join(thrd_t thread, int* result) {
  void* value = nullptr;
  if (pthread_join(thread, &value) != 0) return thrd_error;
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<intptr_t>(value));
  return thrd_success;
}

HET_EXPORTED int thrd_detach(thrd_t thread) {
  return pthread_detach(thread) == 0 ? thrd_success : thrd_error;
}

}  // extern "C"

#endif
