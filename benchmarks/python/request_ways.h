/// What the C++ programs that overhead.py runs share: the ways of running a request, timed and
/// printed alike. Includes nothing of either library.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace request_ways {

/// What one library does; each ends the program when it fails.
struct Request {
  std::function<void()> use_own_input;      ///< the next executions read the request's own memory
  std::function<void()> use_callers_input;  ///< they read the caller's
  std::function<void()> infer;
  std::function<void()> start_and_wait;
};

/// Memory of the one input and the one output, in bytes.
struct Memory {
  std::vector<std::byte>& callers_input;
  std::byte* own_input;
  const std::byte* own_output;
  size_t output_size;
};

inline double clock_us(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

/// Microseconds of a call by this clock: the median of batches of 100.
inline double microseconds(double seconds, clockid_t clock, const std::function<void()>& call) {
  const double end = clock_us(CLOCK_MONOTONIC) + seconds * 1e6;
  std::vector<double> batches;
  for (int i = 0; i < 100; ++i) call();
  do {
    const double start = clock_us(clock);
    for (int i = 0; i < 100; ++i) call();
    batches.push_back((clock_us(clock) - start) / 100);
  } while (clock_us(CLOCK_MONOTONIC) < end);
  std::nth_element(batches.begin(), batches.begin() + batches.size() / 2, batches.end());
  return batches[batches.size() / 2];
}

/// Prints a JSON object: microseconds by way, each measured for so many seconds; of asynchronous
/// ways, where threads wake each other, the processor time of all threads. The names are those of
/// python_side.py, which does the same in Python.
inline void print_costs(double seconds, const Request& request, const Memory& memory) {
  std::vector<std::byte> result(memory.output_size);
  const auto copy_in = [&] {
    std::memcpy(memory.own_input, memory.callers_input.data(), memory.callers_input.size());
  };
  const auto copy_out = [&] { std::memcpy(result.data(), memory.own_output, result.size()); };
  std::vector<std::pair<std::string, double>> costs;
  const auto add = [&](const char* way, const std::function<void()>& call,
                       clockid_t clock = CLOCK_MONOTONIC) {
    costs.emplace_back(way, microseconds(seconds, clock, call));
  };

  request.use_own_input();
  add("alone", request.infer);
  add("copied", [&] {
    copy_in();
    request.infer();
    copy_out();
  });
  add(
      "async copied",
      [&] {
        copy_in();
        request.start_and_wait();
      },
      CLOCK_PROCESS_CPUTIME_ID);
  add("shared", [&] {
    request.use_callers_input();
    request.infer();
  });
  add("called", [&] {
    request.use_callers_input();
    request.infer();
    copy_out();
  });
  add(
      "async shared",
      [&] {
        request.use_callers_input();
        request.start_and_wait();
      },
      CLOCK_PROCESS_CPUTIME_ID);

  const char* separator = "{";
  for (const auto& [way, cost] : costs) {
    std::cout << separator << '"' << way << "\": " << cost;
    separator = ", ";
  }
  std::cout << "}\n";
}

}  // namespace request_ways
