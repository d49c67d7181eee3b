#include "python/bindings/interpreter_end.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "python/bindings/gil.h"

namespace het::python {
namespace {

struct Ends {
  std::mutex mutex;  ///< protects the members below; taken alone
  std::map<unsigned, std::function<void()>> all;
  unsigned next = 1;
};

/// Never destroyed: requests may outlive static objects.
Ends& ends() {
  static Ends* const all = new Ends;
  return *all;
}

std::atomic<bool> has_ended{false};

std::atomic<bool> is_ending{false};
std::atomic<int> threads_aside{0};
/// The thread that ends Python; mostly the process' first one, but exit() may be called by any.
std::atomic<pid_t> ending_thread{0};

bool is_ending_thread() {
  const pid_t ending = ending_thread.load(std::memory_order_acquire);
  return ::gettid() == (ending != 0 ? ending : ::getpid());
}

void run_ends() {
  ending_thread.store(::gettid(), std::memory_order_release);
  is_ending.store(true, std::memory_order_release);
  std::map<unsigned, std::function<void()>> all;
  {
    const std::lock_guard lock(ends().mutex);
    all.swap(ends().all);
  }
  for (const auto& [number, end] : all) end();
  without_gil([] {
    while (threads_aside.load(std::memory_order_acquire) > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  has_ended.store(true, std::memory_order_release);
  // Daemon threads that wait for the GIL come by and stay out.
  for (int round = 0; round < 5; ++round) {
    without_gil([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  }
}

}  // namespace

bool python_is_there() {
  return !has_ended.load(std::memory_order_acquire) && Py_IsInitialized() != 0;
}

bool python_is_ending() {
  return is_ending.load(std::memory_order_acquire);
}

void watch_interpreter_end() {
  py::module_::import("atexit").attr("register")(py::cpp_function(run_ends));
}

void run_aside(std::function<void()> work) {
  if (!python_is_there()) return;
  threads_aside.fetch_add(1, std::memory_order_acq_rel);
  std::thread([work = std::move(work)]() mutable {
    {
      const GilHeld held;
      work();
      work = {};
    }
    threads_aside.fetch_sub(1, std::memory_order_acq_rel);
  }).detach();
}

unsigned at_interpreter_end(std::function<void()> end) {
  const std::lock_guard lock(ends().mutex);
  const unsigned number = ends().next++;
  ends().all.emplace(number, std::move(end));
  return number;
}

void forget_at_interpreter_end(unsigned number) {
  const std::lock_guard lock(ends().mutex);
  ends().all.erase(number);
}

void stay_out_of_the_end() {
  if (is_ending_thread()) return;
  PyEval_SaveThread();
  for (;;) ::pause();
}

GilReleased::~GilReleased() {
  while (!python_is_there() && !is_ending_thread()) ::pause();
  PyEval_RestoreThread(state_);
}

}  // namespace het::python
