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
/// Threads that work in Python by way of us, or are about to (InPython, GilHeld).
std::atomic<int> threads_inside{0};
/// Whether this one is among them.
thread_local bool is_inside = false;
/// The most that the end waits for them: one may be in code of a user that does not end.
constexpr std::chrono::milliseconds kMostWait{2000};
/// The thread that ends Python; mostly the process' first one, but exit() may be called by any.
std::atomic<pid_t> ending_thread{0};

bool is_ending_thread() {
  const pid_t ending = ending_thread.load(std::memory_order_acquire);
  return ::gettid() == (ending != 0 ? ending : ::getpid());
}

/// False once the interpreter ends: who asks for the GIL then would never get it.
bool python_is_there() {
  return !has_ended.load() && Py_IsInitialized() != 0;
}

/// False where it was inside already.
bool go_inside() {
  if (is_inside) return false;
  is_inside = true;
  threads_inside.fetch_add(1);
  return true;
}

/// False where it was not inside.
bool go_outside() {
  if (!is_inside) return false;
  is_inside = false;
  threads_inside.fetch_sub(1);
  return true;
}

[[noreturn]] void stop_for_good() {
  go_outside();
  for (;;) ::pause();
}

void pause_shortly() {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
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
    while (threads_aside.load(std::memory_order_acquire) > 0) pause_shortly();
  });
  has_ended.store(true);
  without_gil([] {
    for (int ms = 0; threads_inside.load() > 0 && ms < kMostWait.count(); ++ms) pause_shortly();
  });
}

}  // namespace

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
      if (held) work();
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
  stop_for_good();
}

// Each counts itself before it looks: run_ends() sees it, or it sees that Python has ended.

InPython::InPython() : is_outermost_(go_inside()) {
  if (is_outermost_ && !python_is_there()) stay_out_of_the_end();
}

InPython::~InPython() {
  if (is_outermost_) go_outside();
}

GilReleased::GilReleased() : was_inside_(go_outside()), state_(PyEval_SaveThread()) {}

GilReleased::~GilReleased() {
  go_inside();
  if (!python_is_there() && !is_ending_thread()) stop_for_good();
  PyEval_RestoreThread(state_);
  if (!was_inside_) go_outside();
}

GilHeld::GilHeld() : is_outermost_(go_inside()) {
  if (python_is_there()) state_ = PyGILState_Ensure();
}

GilHeld::~GilHeld() {
  if (state_) PyGILState_Release(*state_);
  if (is_outermost_) go_outside();
}

}  // namespace het::python
