#pragma once

#include <functional>

namespace het::python {

/// True from the beginning of the interpreter's end on: nothing is started any more.
bool python_is_ending();

/// Does not return on threads other than the main one. For such as would go on working while the
/// interpreter ends around them. With the GIL.
void stay_out_of_the_end();

/// Registers with atexit what has to be over before the interpreter ends: executions that call back
/// into Python. Call it once, when the module is imported.
void watch_interpreter_end();

/// Runs `work` with the GIL on a thread of its own, for which the interpreter's end waits; not at
/// all once that has come.
void run_aside(std::function<void()> work);

/// Runs `end` at that time, with the GIL, unless it was taken back by then. Returns its number.
unsigned at_interpreter_end(std::function<void()> end);
void forget_at_interpreter_end(unsigned number);

}  // namespace het::python
