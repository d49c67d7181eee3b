#include "devices/vpu/link_security.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace het::vpu {
namespace {

constexpr size_t kLeastKeyBytes = 32;

void add(EVP_MAC_CTX* context, std::span<const std::byte> bytes) {
  EVP_MAC_update(context, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

/// HMAC-SHA256 with a key.
struct FrameCodes::Context {
  explicit Context(std::span<const std::byte> key) {
    EVP_MAC* const algorithm = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    hmac = EVP_MAC_CTX_new(algorithm);
    EVP_MAC_free(algorithm);
    char digest[] = "SHA256";
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end()};
    EVP_MAC_init(hmac, reinterpret_cast<const unsigned char*>(key.data()), key.size(), parameters);
  }
  ~Context() { EVP_MAC_CTX_free(hmac); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Mac finish() const {
    Mac mac{};
    size_t size = 0;
    EVP_MAC_final(hmac, reinterpret_cast<unsigned char*>(mac.data()), &size, mac.size());
    // The next code begins with the same key.
    EVP_MAC_init(hmac, nullptr, 0, nullptr);
    return mac;
  }

  EVP_MAC_CTX* hmac = nullptr;
};

Result<Nonce> new_nonce() {
  Nonce nonce{};
  if (::getrandom(nonce.data(), nonce.size(), 0) == static_cast<ssize_t>(nonce.size())) {
    return nonce;
  }
  return error(StatusCode::Internal, "the system gives no random bytes: {}", std::strerror(errno));
}

Result<LinkKey> LinkKey::from_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  struct stat state {};
  if (!file || ::stat(path.c_str(), &state) != 0) {
    return error(StatusCode::NotFound, "cannot read the key file '{}': {}", path,
                 std::strerror(errno));
  }
  if ((state.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
    return error(StatusCode::InvalidArgument,
                 "others may read or change the key file '{}'; take the rights away (chmod 600)",
                 path);
  }
  std::string secret((std::istreambuf_iterator<char>(file)), {});
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
  if (secret.size() < kLeastKeyBytes) {
    return error(StatusCode::InvalidArgument,
                 "the key in '{}' has {} bytes; use at least {} (openssl rand -hex 32)", path,
                 secret.size(), kLeastKeyBytes);
  }
  const auto bytes = bytes_of(secret);
  return LinkKey({bytes.begin(), bytes.end()});
}

Mac LinkKey::mac(std::string_view purpose, std::span<const std::byte> first,
                 std::span<const std::byte> second, std::span<const std::byte> third) const {
  const FrameCodes::Context context(secret_);
  add(context.hmac, bytes_of(purpose));
  for (const auto part : {first, second, third}) add(context.hmac, part);
  return context.finish();
}

bool is_equal(const Mac& a, const Mac& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

FrameCodes::FrameCodes(const Mac& key) : context_(std::make_shared<Context>(key)) {}

FrameCode FrameCodes::next(std::span<const std::byte> header, std::span<const std::byte> payload) {
  const uint64_t number = count_++;
  add(context_->hmac, std::as_bytes(std::span(&number, 1)));
  add(context_->hmac, header);
  add(context_->hmac, payload);
  const Mac mac = context_->finish();
  FrameCode code{};
  std::copy_n(mac.begin(), code.size(), code.begin());
  return code;
}

LinkSecrets link_secrets(const LinkKey& key, const Nonce& device, const Nonce& host,
                         std::span<const std::byte> hello) {
  return {key.mac("hetero-vpu 1 host", device, host, hello),
          key.mac("hetero-vpu 1 device", device, host, hello),
          key.mac("hetero-vpu 1 host frames", device, host),
          key.mac("hetero-vpu 1 device frames", device, host)};
}

}  // namespace het::vpu
