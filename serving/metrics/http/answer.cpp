#include "serving/metrics/http/answer.h"

#include <algorithm>
#include <cctype>

namespace het::metrics {
namespace {

constexpr std::string_view kPlain = "text/plain; charset=utf-8";

/// Headers are the same in capitals and small letters.
bool has_word(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

/// OpenMetrics, unless only the older text is asked for.
TextFormat format_for(std::string_view accept) {
  if (has_word(accept, "application/openmetrics-text")) return TextFormat::OpenMetrics;
  return has_word(accept, "text/plain") ? TextFormat::Prometheus : TextFormat::OpenMetrics;
}

Answer plain(unsigned status, std::string text) {
  return {status, std::string(kPlain), std::move(text)};
}

}  // namespace

Answer answer(const Question& question, const Told& told) {
  if (question.method != "GET" && question.method != "HEAD") {
    Answer refused = plain(405, "only GET and HEAD are answered\n");
    refused.allows_get = true;
    return refused;
  }
  if (question.path == "/metrics") {
    const TextFormat format = format_for(question.accept);
    return {200, std::string(content_type(format)), told.metrics(format)};
  }
  if (question.path == "/health/live") return plain(200, "live\n");
  if (question.path == "/health/ready") {
    const std::string reason = told.not_ready();
    return reason.empty() ? plain(200, "ready\n") : plain(503, "not ready: " + reason + "\n");
  }
  return plain(404, "there are /metrics, /health/live and /health/ready\n");
}

}  // namespace het::metrics
