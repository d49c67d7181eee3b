#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace het::serving {

/// Makes lines of what comes out of a pipe in pieces. Longer ones than kMostBytes are cut into
/// several, so that a program that never ends a line does not fill the memory.
class LineBuffer {
 public:
  static constexpr size_t kMostBytes = size_t{64} << 10;
  using Take = std::function<void(std::string_view line)>;

  /// Gives every line that is complete now to `take`, without its end.
  void append(std::string_view bytes, const Take& take);
  /// Gives what is left, a last line without end.
  void finish(const Take& take);

 private:
  std::string rest_;
};

}  // namespace het::serving
