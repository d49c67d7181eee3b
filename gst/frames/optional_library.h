#pragma once

namespace het::gst {

/// A library of the system that is used where it is installed, so that nobody else needs it. Once
/// loaded it stays.
class OptionalLibrary {
 public:
  /// Loads it by the name that programs linked with it have: "libfoo-1.0.so.0".
  explicit OptionalLibrary(const char* name);

  /// False where the library or the function is missing; a line of the log at level Debug says
  /// which.
  template <class Function>
  bool find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(symbol(name));
    return function != nullptr;
  }

 private:
  void* symbol(const char* name) const;

  void* handle_;
};

}  // namespace het::gst
