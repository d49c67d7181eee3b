#include "serving/launch/plan/launch_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "inference/devices/properties.h"
#include "serving/launch/plan/nearest_first.h"
#include "serving/launch/plan/number_list.h"
#include "serving/launch/plan/placeholders.h"
#include "serving/launch/plan/yaml_source.h"

namespace het::serving {
namespace {

constexpr size_t kMostStreams = 4096;
constexpr size_t kLongestPipeline = 64 * 1024;
constexpr size_t kMostFilledBytes = 64 << 20;
constexpr size_t kMostInstances = 4096;
constexpr size_t kMostNode = 4095;
constexpr size_t kMostThreads = 1024;
constexpr double kMostProcessors = 4096;

constexpr std::array<std::string_view, 11> kFileKeys = {
    "back-off",   "cpus",    "instances", "measure",      "name",     "pipeline",
    "properties", "restart", "streams",   "stop-timeout", "variables"};
constexpr std::array<std::string_view, 5> kStreamKeys = {"cost", "decoder-threads", "name", "node",
                                                         "pipeline"};
constexpr std::array<std::string_view, 4> kBackOffKeys = {"first", "longest", "most", "stable"};
constexpr std::array<std::string_view, 3> kRestartWords = {"on-failure", "always", "no"};
constexpr std::array<std::string_view, 3> kPlaceNames = {"instance", "name", "node"};
constexpr std::string_view kNameRule =
    "letters, digits, '.', '_' and '-', at most 64, no '.' first";

/// A template and what it asks for.
struct PipelineTemplate {
  std::string text;
  YAML::Mark mark;
  std::set<std::string, std::less<>> names;
};

template <class Words>
bool is_one_of(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

class LaunchFileReader {
 public:
  explicit LaunchFileReader(const std::string& path) : source_(path) {}

  Result<LaunchSettings> run() {
    HET_ASSIGN(const YAML::Node root, source_.read());
    HET_ASSIGN(const std::vector<YamlEntry> entries,
               source_.entries(root, root.Mark(), "a launch file"));
    settings_.replicate = false;
    const YamlEntry* streams = nullptr;
    for (const YamlEntry& entry : entries) {
      if (entry.key == "streams") {
        streams = &entry;
      } else {
        HET_TRY(read_key(entry));
      }
    }
    if (streams == nullptr) {
      return source_.wrong(StatusCode::InvalidArgument, root.Mark(),
                           "there are no 'streams'; write a list, '- name: door' an entry");
    }
    HET_TRY(read_streams(*streams));
    return check_defaults() ? Result<LaunchSettings>(std::move(settings_)) : unused_default();
  }

 private:
  Status read_key(const YamlEntry& entry) {
    if (entry.key == "pipeline") {
      HET_ASSIGN(pipeline_, read_template(entry));
      has_pipeline_ = true;
    } else if (entry.key == "variables") {
      return read_defaults(entry);
    } else if (entry.key == "name") {
      HET_ASSIGN(settings_.name, read_name(entry));
    } else if (entry.key == "instances") {
      return read_instances(entry);
    } else if (entry.key == "cpus") {
      HET_ASSIGN(settings_.processors, source_.text(entry));
      if (!parse_number_list(settings_.processors)) {
        return source_.expected(entry, "a list of processors, as 0-3,8");
      }
    } else if (entry.key == "restart") {
      HET_ASSIGN(const size_t word, source_.word(entry, kRestartWords));
      constexpr std::array kPolicies = {RestartPolicy::OnFailure, RestartPolicy::Always,
                                        RestartPolicy::Never};
      settings_.restart = kPolicies[word];
    } else if (entry.key == "back-off") {
      return read_back_off(entry);
    } else if (entry.key == "stop-timeout") {
      HET_ASSIGN(settings_.stop_timeout_s, source_.seconds(entry));
    } else if (entry.key == "measure") {
      const bool is_off = entry.value.IsScalar() && entry.value.Scalar() == "no";
      HET_ASSIGN(settings_.measure_s, is_off ? Result<double>(0.0) : read_measure(entry));
    } else if (entry.key == "properties") {
      return read_properties(entry);
    } else {
      return source_.unknown_key(entry, "a launch file", kFileKeys);
    }
    return {};
  }

  Result<double> read_measure(const YamlEntry& entry) {
    const Result<double> seconds = source_.seconds(entry);
    if (!seconds) return source_.expected(entry, "seconds of one measurement, or no");
    return *seconds;
  }

  Result<std::string> read_name(const YamlEntry& entry) {
    HET_ASSIGN(std::string name, source_.text(entry));
    if (!is_launch_name(name)) return source_.expected(entry, kNameRule);
    return name;
  }

  Result<PipelineTemplate> read_template(const YamlEntry& entry) {
    PipelineTemplate result;
    HET_ASSIGN(result.text, source_.text(entry, kLongestPipeline, true));
    if (result.text.find_first_not_of(" \t\r\n") == std::string::npos) {
      return source_.expected(entry, "a pipeline as for gst-launch-1.0");
    }
    result.mark = entry.mark;
    result.names = placeholder_names(result.text);
    return result;
  }

  Status read_instances(const YamlEntry& entry) {
    HET_ASSIGN(const std::string text, source_.text(entry));
    if (text != "node" && text != "auto" && !source_.count(entry, 1, kMostInstances)) {
      return source_.expected(entry,
                              fmt::format("node, auto or a number from 1 to {}", kMostInstances));
    }
    settings_.instances = text;
    return {};
  }

  Status read_back_off(const YamlEntry& entry) {
    HET_ASSIGN(const std::vector<YamlEntry> entries,
               source_.entries(entry.value, entry.mark, "'back-off'"));
    BackOff& back_off = settings_.back_off;
    for (const YamlEntry& part : entries) {
      if (part.key == "first") {
        HET_ASSIGN(back_off.first_s, source_.seconds(part));
      } else if (part.key == "longest") {
        HET_ASSIGN(back_off.longest_s, source_.seconds(part));
      } else if (part.key == "stable") {
        HET_ASSIGN(back_off.stable_s, source_.seconds(part));
      } else if (part.key == "most") {
        HET_ASSIGN(back_off.most, source_.count(part, 0, 1000000));
      } else {
        return source_.unknown_key(part, "'back-off'", kBackOffKeys);
      }
    }
    return {};
  }

  Status read_properties(const YamlEntry& entry) {
    HET_ASSIGN(const std::vector<YamlEntry> devices,
               source_.entries(entry.value, entry.mark, "'properties'"));
    for (const YamlEntry& device : devices) {
      HET_ASSIGN(const std::vector<YamlEntry> values,
                 source_.entries(device.value, device.mark, "the properties of a device"));
      Properties& properties = settings_.properties[device.key];
      for (const YamlEntry& value : values) {
        HET_ASSIGN(properties[value.key], source_.text(value));
        // Devices of users' libraries are not there yet, and check theirs when they are.
        if (device.key != "CPU" && device.key != "REF" && !device.key.starts_with("GPU")) continue;
        const auto valid = validate_properties({{value.key, properties[value.key]}}, device.key);
        if (!valid) {
          return source_.wrong(valid.error().code(), value.mark, valid.error().message());
        }
      }
    }
    return {};
  }

  Status read_defaults(const YamlEntry& entry) {
    HET_ASSIGN(const std::vector<YamlEntry> entries,
               source_.entries(entry.value, entry.mark, "'variables'"));
    for (const YamlEntry& variable : entries) {
      if (is_one_of(kPlaceNames, variable.key) || is_one_of(kStreamKeys, variable.key)) {
        return source_.wrong(
            StatusCode::InvalidArgument, variable.mark,
            fmt::format("'{}' has a meaning of its own and cannot be a variable", variable.key));
      }
      HET_TRY(check_variable_name(variable));
      HET_ASSIGN(defaults_[variable.key], source_.text(variable));
      default_marks_[variable.key] = variable.mark;
    }
    return {};
  }

  Status check_variable_name(const YamlEntry& variable) {
    if (variable.key.size() <= 64 && is_placeholder_name(variable.key)) return {};
    return source_.wrong(StatusCode::InvalidArgument, variable.mark,
                         fmt::format("'{}' cannot be a variable: names begin with a lower case "
                                     "letter and have such, digits, '-' and '_', at most 64",
                                     variable.key.substr(0, 64)));
  }

  Status read_streams(const YamlEntry& entry) {
    if (!entry.value.IsSequence() || entry.value.size() == 0) {
      return source_.expected(entry, "a list with a stream at least, '- name: door' an entry");
    }
    if (entry.value.size() > kMostStreams) {
      return source_.expected(entry, fmt::format("at most {} streams", kMostStreams));
    }
    for (const auto& node : entry.value) {
      HET_TRY(read_stream(node, node.Mark().is_null() ? entry.mark : node.Mark()));
    }
    return {};
  }

  Status read_stream(const YAML::Node& node, const YAML::Mark& mark) {
    HET_ASSIGN(const std::vector<YamlEntry> entries, source_.entries(node, mark, "a stream"));
    StreamSettings stream;
    stream.name = std::to_string(settings_.streams.size());
    PipelineTemplate own;
    std::vector<const YamlEntry*> variables;
    for (const YamlEntry& entry : entries) {
      if (entry.key == "name") {
        HET_ASSIGN(stream.name, read_name(entry));
      } else if (entry.key == "cost") {
        HET_ASSIGN(stream.cost, source_.number(entry, 0, kMostProcessors));
      } else if (entry.key == "node") {
        HET_ASSIGN(stream.node, source_.count(entry, 0, kMostNode));
      } else if (entry.key == "decoder-threads") {
        HET_ASSIGN(stream.decoder_threads, source_.count(entry, 1, kMostThreads));
      } else if (entry.key == "pipeline") {
        HET_ASSIGN(own, read_template(entry));
      } else {
        variables.push_back(&entry);
      }
    }
    if (!names_.insert(stream.name).second) {
      return source_.wrong(StatusCode::InvalidArgument, mark,
                           fmt::format("there is a stream '{}' already", stream.name));
    }
    if (own.text.empty() && !has_pipeline_) {
      return source_.wrong(
          StatusCode::InvalidArgument, mark,
          fmt::format("stream '{}' has no pipeline, nor has the file: give 'pipeline'",
                      stream.name));
    }
    const PipelineTemplate& pipeline = own.text.empty() ? pipeline_ : own;
    for (const YamlEntry* variable : variables) {
      HET_TRY(read_variable(*variable, pipeline, stream));
    }
    take_defaults(pipeline, stream);
    HET_TRY(check_filled(pipeline, stream));
    stream.pipeline = {pipeline.text};
    settings_.streams.push_back(std::move(stream));
    return {};
  }

  Status read_variable(const YamlEntry& entry, const PipelineTemplate& pipeline,
                       StreamSettings& stream) {
    if (entry.key == "instance") {
      return source_.wrong(StatusCode::InvalidArgument, entry.mark,
                           "'instance' is where a stream runs and cannot be a variable");
    }
    if (pipeline.names.count(entry.key) == 0) {
      std::vector<std::string_view> known(kStreamKeys.begin(), kStreamKeys.end());
      for (const std::string& name : pipeline.names) {
        if (!is_one_of(kPlaceNames, name)) known.push_back(name);
      }
      return source_.wrong(
          StatusCode::InvalidArgument, entry.mark,
          fmt::format("'{}' is no key of a stream, and its pipeline has no placeholder of that "
                      "name; there are {}",
                      entry.key.substr(0, 64), nearest_first(std::move(known), entry.key)));
    }
    HET_TRY(check_variable_name(entry));
    HET_ASSIGN(stream.variables[entry.key], source_.text(entry));
    return {};
  }

  void take_defaults(const PipelineTemplate& pipeline, StreamSettings& stream) {
    for (const auto& [name, value] : defaults_) {
      if (pipeline.names.count(name) == 0) continue;
      stream.variables.emplace(name, value);
      default_marks_.erase(name);
    }
  }

  /// Whatever {instance} and {node} will be, they are numbers and ranges.
  Status check_filled(const PipelineTemplate& pipeline, const StreamSettings& stream) {
    const Result<std::string> filled =
        fill_template(pipeline.text, placeholder_values(stream, "0", "0"));
    if (!filled) {
      return source_.wrong(
          filled.error().code(), pipeline.mark,
          fmt::format("'pipeline' of stream '{}': {}", stream.name, filled.error().message()));
    }
    filled_bytes_ += filled->size() + pipeline.text.size();
    if (filled_bytes_ > kMostFilledBytes) {
      return source_.wrong(
          StatusCode::ParseError, pipeline.mark,
          fmt::format("the pipelines of all streams are longer than {} bytes", kMostFilledBytes));
    }
    return {};
  }

  /// Defaults that no stream's pipeline has a placeholder for are mistakes.
  bool check_defaults() const { return default_marks_.empty(); }
  Failure unused_default() const {
    const auto& [name, mark] = *default_marks_.begin();
    return source_.wrong(
        StatusCode::InvalidArgument, mark,
        fmt::format("no pipeline has a placeholder {{{}}} for this variable", name));
  }

  YamlSource source_;
  LaunchSettings settings_;
  bool has_pipeline_ = false;
  PipelineTemplate pipeline_;
  std::map<std::string, std::string> defaults_;
  std::map<std::string, YAML::Mark> default_marks_;  ///< of those that nobody has used
  std::set<std::string> names_;
  size_t filled_bytes_ = 0;
};

}  // namespace

Result<LaunchSettings> read_launch_file(const std::string& path) {
  try {
    return LaunchFileReader(path).run();
  } catch (const YAML::Exception& failure) {
    return YamlSource(path).wrong(StatusCode::ParseError, failure.mark, failure.msg);
  }
}

bool is_launch_name(std::string_view name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= 64 && name.front() != '.' &&
         std::ranges::all_of(name, is_allowed);
}

}  // namespace het::serving
