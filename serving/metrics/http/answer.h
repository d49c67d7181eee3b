#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "serving/metrics/exposition/metric_text.h"

namespace het::metrics {

/// What a request asks for; views into memory of the server's.
struct Question {
  std::string_view method;
  std::string_view path;
  std::string_view accept;  ///< of the header Accept; empty: none
};

struct Answer {
  unsigned status = 200;
  std::string type;  ///< of the content
  std::string text;
  bool allows_get = false;  ///< says which methods there are
};

/// What a process can tell. Called on the server's thread.
struct Told {
  std::function<std::string(TextFormat)> metrics;
  /// Why it is not ready; empty: it is.
  std::function<std::string()> not_ready;
};

/// /metrics, /health/live and /health/ready by GET and HEAD; 404 and 405 for all else.
Answer answer(const Question& question, const Told& told);

}  // namespace het::metrics
