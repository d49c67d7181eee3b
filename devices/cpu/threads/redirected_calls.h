#pragma once

#include <span>

namespace het::cpu {

struct RedirectedCall {
  const char* name;  ///< of the function that a library calls
  void* function;    ///< what it calls from now on, of the same signature
};

/// Makes the shared library that `inside` lies in call others for these functions, by its table of
/// imported addresses: all of them or, where it does not import one, none (false). Other libraries
/// of the process are not touched. What is called instead stays loaded until the process ends.
bool redirect_calls(const void* inside, std::span<const RedirectedCall> calls);

}  // namespace het::cpu
