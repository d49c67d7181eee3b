#include "devices/vpu/link_messages.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace {

template <class T>
void decode(std::span<const std::byte> bytes) {
  if (const auto message = T::decode(bytes)) (void)message->encode();
}

}  // namespace

/// Every message of the link: one byte says which.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace het::vpu;
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  using Decoder = void (*)(std::span<const std::byte>);
  constexpr Decoder kDecoders[] = {decode<Hello>,
                                   decode<Welcome>,
                                   decode<Refusal>,
                                   decode<LoadBegin>,
                                   decode<LoadChunk>,
                                   decode<Number>,
                                   decode<Loaded>,
                                   decode<MapMemory>,
                                   decode<Submit>,
                                   decode<Completed>,
                                   decode<Telemetry>,
                                   decode<Challenge>,
                                   decode<ChallengeResponse>,
                                   decode<Proof>};
  kDecoders[data[0] % std::size(kDecoders)](bytes);
  return 0;
}
