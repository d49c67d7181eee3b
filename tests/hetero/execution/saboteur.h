#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "tests/hetero/wrapped_device.h"

namespace het::hetero {

/// A fault of a device, to come.
struct Fault {
  DeviceCall call = DeviceCall::Callback;
  size_t after = 0;        ///< so many calls of that kind go well before
  bool is_lasting = true;  ///< every later call fails too, until mend()
  StatusCode code = StatusCode::DeviceLost;
};

std::string_view to_string(DeviceCall call);

/// Makes a WrappedDevice fail, and remembers what has happened. Thread-safe.
class Saboteur {
 public:
  /// Takes the behaviour's fault over.
  explicit Saboteur(const std::shared_ptr<WrappedBehaviour>& behaviour);

  void plan(const Fault& fault);
  /// The device works, and nothing is planned.
  void mend();
  /// Calls of the kind that began a fault.
  size_t hits(DeviceCall call) const;
  /// Calls that have failed and could say so.
  size_t errors() const;

 private:
  struct State {
    std::mutex mutex;  ///< protects the members below; taken alone
    std::optional<Fault> planned;
    bool is_broken = false;
    std::array<size_t, kDeviceCalls> hits{};
    size_t errors = 0;
  };
  static Status answer(State& state, DeviceCall call);

  std::shared_ptr<State> state_ = std::make_shared<State>();  ///< with the behaviour
};

}  // namespace het::hetero
