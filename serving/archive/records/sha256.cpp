#include "serving/archive/records/sha256.h"

#include <fcntl.h>
#include <glib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace het::archive {

struct Sha256::State {
  struct Free {
    void operator()(GChecksum* sum) const { g_checksum_free(sum); }
  };
  std::unique_ptr<GChecksum, Free> sum{g_checksum_new(G_CHECKSUM_SHA256)};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::add(std::string_view bytes) {
  if (bytes.empty()) return;  // of which GLib would take the length itself
  g_checksum_update(state_->sum.get(), reinterpret_cast<const guchar*>(bytes.data()),
                    static_cast<gssize>(bytes.size()));
}

void Sha256::add_text(std::string_view text) {
  add(std::to_string(text.size()) + ":");
  add(text);
}

std::string Sha256::digits() {
  return g_checksum_get_string(state_->sum.get());
}

std::string sha256_of(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.digits();
}

Result<FileDigest> digest_file(const std::string& path, const std::function<bool()>& is_stopped) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return error(StatusCode::NotFound, "cannot read '{}': {}", path, std::strerror(errno));
  }
  Sha256 sum;
  FileDigest digest;
  std::vector<char> bytes(size_t{1} << 20);
  ssize_t count = 0;
  while ((count = ::read(fd, bytes.data(), bytes.size())) != 0) {
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    if (is_stopped && is_stopped()) {
      ::close(fd);
      return error(StatusCode::Cancelled, "stopped while reading '{}'", path);
    }
    const std::string_view piece(bytes.data(), static_cast<size_t>(count));
    sum.add(piece);
    digest.bytes += piece.size();
    digest.lines += static_cast<uint64_t>(std::ranges::count(piece, '\n'));
  }
  const int reason = errno;
  ::close(fd);
  if (count < 0) {
    return error(StatusCode::NotFound, "cannot read '{}': {}", path, std::strerror(reason));
  }
  digest.sha256 = sum.digits();
  return digest;
}

}  // namespace het::archive
