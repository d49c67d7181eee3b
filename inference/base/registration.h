#pragma once

/// Before the definition of a register_<word>(): the linker puts all of them side by side, so that
/// filling a registry reads in a few pages of code and not one or more of every file.
#define HET_REGISTRATION [[gnu::section(".text.startup")]]
