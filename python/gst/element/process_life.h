#pragma once

#include <Python.h>

namespace het::python {

/// A visit to Python, which is not begun once Python ends in this process; Python's end waits for
/// those in progress, for a while. Any thread; visits may be nested.
class Visit {
 public:
  Visit();
  ~Visit();
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  bool is_allowed() const { return is_allowed_; }

 private:
  bool is_allowed_;
};

/// How many forks lie between the process that loaded the plugin and this one.
unsigned fork_count();

/// Python has been told of all of these forks (os.fork() does that), so it works here.
bool python_knows_forks();

/// Counts forks and ends visits when Python ends; once, with the GIL of the main interpreter. False
/// with an exception set.
bool watch_process();

/// Calls `finish` when this process exits, once no visit is in progress; its children do not.
void finish_at_exit(void (*finish)());

}  // namespace het::python
