#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace het::gpu {

/// What a text of OpenCL C declares outside of functions.
struct DeclaredNames {
  std::set<std::string> names;   ///< functions, kernels, types and constants
  std::set<std::string> macros;  ///< of #define
  /// Where the definition of a kernel stands in the text.
  struct Kernel {
    std::string name;
    size_t begin = 0;
    size_t end = 0;  ///< behind its last brace
  };
  std::vector<Kernel> kernels;  ///< in their order
};

/// Reads as much of the language as that takes: comments, literals, braces, directives. Macros that
/// declare something escape it.
DeclaredNames declared_names(std::string_view text);

/// The text without the definitions of all kernels but one: compilers take their time for each that
/// is there, whether it is launched or not. Unchanged where that one is not found.
std::string with_one_kernel(std::string_view text, std::string_view kernel);

/// One text of a program with others beside it.
struct MergedPiece {
  std::string_view text;
  std::string suffix;  ///< behind all names that the text declares, kernels among them
};

/// The pieces one behind the other, each with names of its own, as many programs in one: a compiler
/// reads its own headers for every program, which takes PoCL 0.16 s. `options` are those of the
/// compiler, whose macros are left alone.
std::string merged_text(std::span<const MergedPiece> pieces, std::string_view options);

}  // namespace het::gpu
