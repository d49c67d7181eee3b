#pragma once

#include <string>

namespace het {

/// Becomes the program hetero-NAME where argv[1] is the NAME of one beside this program or in
/// $PATH, as `git` does it: what needs more than the library (GStreamer) is a program of its own.
/// Returns where there is none, or where `NAME` is no plain word.
void become_other_program(char** argv);

/// The names of the programs beside this one, separated by ", "; for the help.
std::string other_programs();

}  // namespace het
