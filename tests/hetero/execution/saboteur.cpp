#include "tests/hetero/execution/saboteur.h"

namespace het::hetero {

std::string_view to_string(DeviceCall call) {
  constexpr std::array<std::string_view, kDeviceCalls> kNames = {
      "compile", "request", "submit", "callback", "wait", "map", "release"};
  return kNames[static_cast<size_t>(call)];
}

Saboteur::Saboteur(const std::shared_ptr<WrappedBehaviour>& behaviour) {
  behaviour->fault = [state = state_](DeviceCall call) { return answer(*state, call); };
}

Status Saboteur::answer(State& state, DeviceCall call) {
  std::lock_guard lock(state.mutex);
  Status status;
  if (state.planned && state.planned->call == call && state.planned->after-- == 0) {
    status = error(state.planned->code, "fault at {}", to_string(call));
    ++state.hits[static_cast<size_t>(call)];
    state.is_broken = state.planned->is_lasting;
    state.planned.reset();
  } else if (state.is_broken) {
    status = error(StatusCode::DeviceLost, "gone at {}", to_string(call));
  }
  if (!status.ok() && call != DeviceCall::Release) ++state.errors;
  return status;
}

void Saboteur::plan(const Fault& fault) {
  std::lock_guard lock(state_->mutex);
  state_->planned = fault;
}

void Saboteur::mend() {
  std::lock_guard lock(state_->mutex);
  state_->planned.reset();
  state_->is_broken = false;
}

size_t Saboteur::hits(DeviceCall call) const {
  std::lock_guard lock(state_->mutex);
  return state_->hits[static_cast<size_t>(call)];
}

size_t Saboteur::errors() const {
  std::lock_guard lock(state_->mutex);
  return state_->errors;
}

}  // namespace het::hetero
