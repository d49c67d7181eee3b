#include "devices/vpu/greeting.h"

#include <utility>

namespace het::vpu {
namespace {

Result<Frame> next_frame(LinkSocket& socket, std::chrono::milliseconds patience) {
  HET_ASSIGN(std::optional<Frame> frame, socket.receive(patience));
  if (!frame) return error(StatusCode::DeviceLost, "it says nothing");
  return std::move(*frame);
}

Result<Frame> next_frame(LinkSocket& socket, std::chrono::milliseconds patience, FrameType wanted) {
  HET_ASSIGN(Frame frame, next_frame(socket, patience));
  if (frame.header.type == FrameType::Refused) {
    HET_ASSIGN(const Refusal refusal, Refusal::decode(frame.payload));
    return Failure(Status(refusal.code, "it refuses: " + refusal.text));
  }
  if (frame.header.type != wanted) {
    return error(StatusCode::DeviceLost, "it greets with a {} frame", to_string(frame.header.type));
  }
  return frame;
}

/// Proves the key and sees it proved.
Status exchange_proofs(LinkSocket& socket, const LinkKey& key, const Frame& asked, ByteView hello,
                       std::chrono::milliseconds patience) {
  HET_ASSIGN(const Challenge challenge, Challenge::decode(asked.payload));
  HET_ASSIGN(const Nonce nonce, new_nonce());
  const LinkSecrets secrets = link_secrets(key, challenge.nonce, nonce, hello);
  HET_TRY(socket.send(FrameType::ChallengeResponse, 0,
                      ChallengeResponse{nonce, secrets.host_proof}.encode()));
  HET_ASSIGN(const Frame answer, next_frame(socket, patience, FrameType::Proof));
  HET_ASSIGN(const Proof proof, Proof::decode(answer.payload));
  if (!is_equal(proof.mac, secrets.device_proof)) {
    return error(StatusCode::DeviceLost, "it does not have the key");
  }
  socket.secure(FrameCodes(secrets.host_frames), FrameCodes(secrets.device_frames));
  return {};
}

Result<Welcome> greeted(LinkSocket& socket, const std::optional<LinkKey>& key, bool is_tcp,
                        std::chrono::milliseconds patience) {
  const Bytes hello = Hello{kProtocolVersion, kProtocolVersion, "gst-hetero"}.encode();
  HET_TRY(socket.send(FrameType::Hello, 0, hello));
  HET_ASSIGN(Frame frame, next_frame(socket, patience));
  if (frame.header.type == FrameType::Challenge) {
    if (!key) {
      return error(StatusCode::InvalidArgument,
                   "it asks for a key: name its file with VPU_KEY_FILE (or HETERO_VPU_KEY_FILE)");
    }
    HET_TRY(exchange_proofs(socket, *key, frame, hello, patience));
    HET_ASSIGN(frame, next_frame(socket, patience, FrameType::Welcome));
  } else if (is_tcp) {
    return error(StatusCode::DeviceLost, "it asks for no key, which is not done over TCP");
  } else if (frame.header.type == FrameType::Refused) {
    HET_ASSIGN(const Refusal refusal, Refusal::decode(frame.payload));
    return Failure(Status(refusal.code, "it refuses: " + refusal.text));
  }
  if (frame.header.type != FrameType::Welcome) {
    return error(StatusCode::DeviceLost, "it greets with a {} frame", to_string(frame.header.type));
  }
  return Welcome::decode(frame.payload);
}

void refuse(LinkSocket& socket, const Status& status) {
  (void)socket.send(FrameType::Refused, 0, Refusal{status.code(), status.message()}.encode());
}

Status check_key(LinkSocket& socket, const LinkKey& key, ByteView hello,
                 std::chrono::milliseconds patience) {
  HET_ASSIGN(const Nonce nonce, new_nonce());
  HET_TRY(socket.send(FrameType::Challenge, 0, Challenge{nonce}.encode()));
  HET_ASSIGN(const Frame answer, next_frame(socket, patience, FrameType::ChallengeResponse));
  HET_ASSIGN(const ChallengeResponse response, ChallengeResponse::decode(answer.payload));
  const LinkSecrets secrets = link_secrets(key, nonce, response.nonce, hello);
  if (!is_equal(response.mac, secrets.host_proof)) {
    const Status wrong(StatusCode::InvalidArgument, "the key is another one");
    refuse(socket, wrong);
    return wrong;
  }
  HET_TRY(socket.send(FrameType::Proof, 0, Proof{secrets.device_proof}.encode()));
  socket.secure(FrameCodes(secrets.device_frames), FrameCodes(secrets.host_frames));
  return {};
}

}  // namespace

Result<Welcome> greet_device(LinkSocket& socket, const std::string& name,
                             const std::optional<LinkKey>& key, bool is_tcp,
                             std::chrono::milliseconds patience) {
  auto welcome = greeted(socket, key, is_tcp, patience);
  if (welcome) {
    socket.set_payload_limit(kMaxPayloadBytes);
    return welcome;
  }
  const Status& failure = welcome.error();
  if (failure.code() == StatusCode::DeviceLost || failure.code() == StatusCode::ParseError) {
    return error(StatusCode::DeviceLost, "what listens at '{}' is no VPU: {}", name,
                 failure.message());
  }
  return Failure(failure.with_context(fmt::format("no link to the VPU at '{}'", name)));
}

Status greet_host(LinkSocket& socket, const Welcome& welcome, const std::optional<LinkKey>& key,
                  std::chrono::milliseconds patience) {
  HET_ASSIGN(const Frame frame, next_frame(socket, patience, FrameType::Hello));
  HET_ASSIGN(const Hello hello, Hello::decode(frame.payload));
  if (hello.first_version > kProtocolVersion || hello.last_version < kProtocolVersion) {
    refuse(socket, error(StatusCode::NotSupported, "this device speaks version {} of the protocol",
                         kProtocolVersion));
    return error(StatusCode::NotSupported, "it speaks versions {} to {}", hello.first_version,
                 hello.last_version);
  }
  if (key) HET_TRY(check_key(socket, *key, frame.payload, patience));
  HET_TRY(socket.send(FrameType::Welcome, 0, welcome.encode()));
  socket.set_payload_limit(kMaxPayloadBytes);
  return {};
}

}  // namespace het::vpu
