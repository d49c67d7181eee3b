#include "devices/vpu/daemon/fault_plan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace het::vpu {
namespace {

constexpr std::array kKinds = {
    std::pair{"crash", DeviceFault::Crash}, std::pair{"hang", DeviceFault::Hang},
    std::pair{"drop", DeviceFault::Drop},   std::pair{"corrupt", DeviceFault::Corrupt},
    std::pair{"slow", DeviceFault::Slow},   std::pair{"throttle", DeviceFault::Throttle},
};

}  // namespace

Result<std::vector<std::pair<uint64_t, DeviceFault>>> FaultPlan::parse(
    const std::vector<std::string>& texts) {
  std::vector<std::pair<uint64_t, DeviceFault>> faults;
  for (const std::string& text : texts) {
    const size_t colon = text.find(':');
    const std::string kind = text.substr(0, colon);
    uint64_t number = 1;
    bool is_number = true;
    if (colon != std::string::npos) {
      const char* const end = text.data() + text.size();
      const auto [rest, failure] = std::from_chars(text.data() + colon + 1, end, number);
      is_number = failure == std::errc() && rest == end && number > 0;
    }
    const auto known =
        std::ranges::find_if(kKinds, [&](const auto& entry) { return kind == entry.first; });
    if (known == kKinds.end() || !is_number ||
        std::ranges::count(faults, number, [](const auto& f) { return f.first; }) > 0) {
      return error(
          StatusCode::InvalidArgument,
          "'{}' is no fault: write crash, hang, drop, corrupt, slow or throttle, and behind "
          "a colon at which request, one each",
          text);
    }
    faults.emplace_back(number, known->second);
  }
  return faults;
}

DeviceFault FaultPlan::next() {
  const uint64_t request = ++requests_;
  for (const auto& [number, fault] : faults_) {
    if (number == request) return fault;
  }
  return DeviceFault::None;
}

}  // namespace het::vpu
