#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "serving/metrics/exposition/metric_text.h"
#include "serving/metrics/http/connections.h"

namespace {

using het::metrics::Connections;
using het::metrics::Told;

/// What a client has sent so far, for labels of the answer.
std::string& sent() {
  static std::string text;
  return text;
}

std::string metrics_of(het::metrics::TextFormat format) {
  het::metrics::MetricText text(format);
  het::metrics::TimeHistogram times;
  times.take(0.01 * static_cast<double>(sent().size()));
  text.add("target", {{"service_name", sent()}}, 1);
  text.add("process_cpu_seconds", {}, 0.5);
  text.add("gst_pipeline_ready", {{"pipeline", sent()}}, static_cast<double>(sent().size()));
  text.add("gst_element_latency_seconds", {{"pipeline", sent()}, {"element", "e"}}, times);
  std::string done = text.finish();
  const bool is_open = format == het::metrics::TextFormat::OpenMetrics;
  if (done.ends_with("# EOF\n") != is_open) std::abort();
  return done;
}

Connections& server() {
  static const Told told{metrics_of, [] { return sent().size() % 2 ? "odd" : ""; }};
  static const auto made = [] {
    auto created = Connections::create(-1, told);
    if (!created) std::abort();
    return std::move(*created);
  }();
  return *made;
}

/// What came back; the server is done when its end is closed or nothing more comes.
void drain(int client, std::string& answers) {
  std::array<char, 65536> bytes;
  for (int quiet = 0; quiet < 2;) {
    server().run();
    const ssize_t count = ::recv(client, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN)) return;
    quiet = count < 0 ? quiet + 1 : 0;
    if (count > 0) answers.append(bytes.data(), static_cast<size_t>(count));
  }
}

}  // namespace

/// A client of the tracer heterometrics: the first byte says in how many parts the others are sent.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t part = 1 + (size - 1) / (1 + data[0] % 8);
  sent().assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
    std::abort();
  if (!server().take(ends[1]).ok()) std::abort();
  std::string answers;
  for (std::string_view left = sent(); !left.empty();) {
    const std::string_view now = left.substr(0, part);
    const ssize_t count = ::send(ends[0], now.data(), now.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno != EAGAIN) break;  // refused
    left.remove_prefix(count > 0 ? static_cast<size_t>(count) : 0);
    drain(ends[0], answers);
  }
  if (!answers.empty() && !answers.starts_with("HTTP/1.")) std::abort();
  ::close(ends[0]);
  for (int i = 0; i < 3; ++i) server().run();
  return 0;
}
