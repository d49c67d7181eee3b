#include "serving/density/trial_order.h"

#include <fmt/format.h>

#include "serving/launch/json_object.h"

namespace het::density {

using nlohmann::json;

std::string TrialOrder::to_json() const {
  const json value = {{"streams", streams},
                      {"fps", fps},
                      {"warmup_s", warmup_s},
                      {"window_s", window_s},
                      {"lost_after_s", lost_after_s},
                      {"hopeless_s", hopeless_s},
                      {"device", device},
                      {"sink", sink},
                      {"pipeline", pipeline}};
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<TrialOrder> TrialOrder::parse(std::string_view text) {
  HET_ASSIGN(const json value, serving::parse_json_object(text, "an order of a trial"));
  TrialOrder order;
  serving::JsonObject object(value, "an order of a trial");
  object.read("streams", order.streams);
  object.read("fps", order.fps);
  object.read("warmup_s", order.warmup_s);
  object.read("window_s", order.window_s);
  object.read("lost_after_s", order.lost_after_s);
  object.read("hopeless_s", order.hopeless_s);
  object.read("device", order.device);
  object.read("sink", order.sink);
  if (const json* words = object.array("pipeline")) {
    for (const json& word : *words) {
      if (!word.is_string()) {
        object.fail(fmt::format("'pipeline' has {} among its words", word.type_name()));
        break;
      }
      order.pipeline.push_back(word.get<std::string>());
    }
  }
  HET_TRY(object.finish());
  if (order.streams == 0 || !(order.fps > 0) || !(order.window_s > 0)) {
    return error(StatusCode::ParseError,
                 "an order of a trial has {} streams, {} frames/s and a window of {} s; all have "
                 "to be above 0",
                 order.streams, order.fps, order.window_s);
  }
  return order;
}

}  // namespace het::density
