#include "serving/launch/duration_option.h"

#include "serving/launch/duration.h"

namespace het::serving {

CLI::Option* add_duration(CLI::App& app, const std::string& name, double& target, double unit_s,
                          const std::string& text) {
  const auto take = [&target, unit_s, name](const CLI::results_t& words) {
    const auto seconds = parse_duration(words.front(), unit_s);
    if (!seconds) {
      throw CLI::ValidationError(
          name, "'" + words.front() + "' is no time; write it as 200ms, 90s, 5min or 1h");
    }
    target = *seconds / unit_s;
    return true;
  };
  return app.add_option(name, take, text)->type_name("TIME");
}

}  // namespace het::serving
