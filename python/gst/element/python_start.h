#pragma once

#include <string>

#include "inference/base/status.h"

namespace het::python {

/// Python runs in this process afterwards: the application's, or one that is started here, without
/// signal handlers and for the rest of the process, at whose exit `finish` is called. Any thread;
/// it may hold the GIL.
Status ensure_python(void (*finish)());

/// Its version and program, for a line in the log; with the GIL.
std::string python_in_words();

/// Without the GIL and without a state of the thread: whether Python is about to end, so that
/// nothing may be given back to it.
bool is_python_finalizing();

}  // namespace het::python
