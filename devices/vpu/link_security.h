#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"

/// What keeps a link over TCP to those who share a key (protocol.md): a challenge both ways and a
/// code behind each frame, by HMAC-SHA256 (RFC 2104). Nothing is encrypted.
namespace het::vpu {

using Nonce = std::array<std::byte, 32>;
using Mac = std::array<std::byte, 32>;
/// Of one frame.
using FrameCode = std::array<std::byte, 16>;

/// Nobody has seen it before. Fails with Internal when the system has no random bytes.
Result<Nonce> new_nonce();

/// A secret that host and device share.
class LinkKey {
 public:
  /// The content of a file without the line's end. Fails with NotFound, or InvalidArgument for less
  /// than 32 bytes and for a file that everybody may read.
  static Result<LinkKey> from_file(const std::string& path);
  explicit LinkKey(std::vector<std::byte> secret) : secret_(std::move(secret)) {}

  /// HMAC of a purpose and these parts.
  Mac mac(std::string_view purpose, std::span<const std::byte> first,
          std::span<const std::byte> second, std::span<const std::byte> third = {}) const;

 private:
  std::vector<std::byte> secret_;
};

/// Without telling by its time where they differ.
bool is_equal(const Mac& a, const Mac& b);

/// Codes of the frames of one direction: each counts those before it, so that none can be left
/// out, repeated or moved.
class FrameCodes {
 public:
  struct Context;  ///< of the library that computes
  explicit FrameCodes(const Mac& key);
  FrameCode next(std::span<const std::byte> header, std::span<const std::byte> payload);

 private:
  std::shared_ptr<Context> context_;
  uint64_t count_ = 0;
};

/// Both sides of an exchange: what each proves, and the keys of the directions from then on.
struct LinkSecrets {
  Mac host_proof;
  Mac device_proof;
  Mac host_frames;
  Mac device_frames;
};
LinkSecrets link_secrets(const LinkKey& key, const Nonce& device, const Nonce& host,
                         std::span<const std::byte> hello);

}  // namespace het::vpu
