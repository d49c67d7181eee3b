#pragma once

#include <utility>

namespace het::vpu {

/// A file descriptor with an owner.
class File {
 public:
  explicit File(int number = -1) : number_(number) {}
  ~File();
  File(File&& other) noexcept : number_(other.release()) {}
  File& operator=(File&& other) noexcept;
  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int release();

 private:
  int number_;
};

}  // namespace het::vpu
