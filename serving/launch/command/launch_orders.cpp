#include "serving/launch/command/launch_orders.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "serving/launch/plan/number_list.h"
#include "serving/launch/plan/placeholders.h"

namespace het::serving {
namespace {

constexpr std::string_view kCpu = "CPU";

PlaceholderValues values_at(const StreamSettings& stream, const InstancePlan& instance) {
  return placeholder_values(stream, std::to_string(instance.index),
                            number_list(instance.numa_nodes));
}

/// What the process of an instance sets before it compiles anything.
std::map<std::string, Properties> defaults_of(const LaunchSettings& settings,
                                              const LaunchPlan& plan,
                                              const InstancePlan& instance) {
  std::map<std::string, Properties> defaults;
  Properties& cpu = defaults[std::string(kCpu)];
  cpu["CPU_BIND_THREAD"] = "NO";  // the process is bound
  cpu["INFERENCE_NUM_THREADS"] = std::to_string(instance.inference_threads);
  // Read over the link between nodes weights cost more than their memory does.
  bool one_node = true;
  for (const InstancePlan& other : plan.instances) {
    one_node = one_node && other.numa_nodes == plan.instances[0].numa_nodes;
  }
  cpu["WEIGHT_SHARING"] = one_node ? "MACHINE" : "NODE";
  for (const auto& [device, properties] : settings.properties) {
    for (const auto& [name, value] : properties) defaults[device][name] = value;
  }
  return defaults;
}

}  // namespace

Result<std::vector<Job>> jobs_of(const LaunchSettings& settings, const LaunchPlan& plan) {
  std::vector<Job> jobs;
  for (const InstancePlan& instance : plan.instances) {
    Job job;
    job.instance = std::to_string(instance.index);
    job.defaults = defaults_of(settings, plan, instance);
    job.stop_timeout_s = settings.stop_timeout_s;
    job.back_off = settings.back_off;
    if (settings.restart == RestartPolicy::Never) job.back_off.most = 0;
    for (const size_t index : instance.streams) {
      const StreamSettings& stream = settings.streams[index];
      HET_ASSIGN(std::vector<std::string> arguments,
                 fill_pipeline(stream, settings.replicate, values_at(stream, instance)));
      job.streams.push_back({stream.name, std::move(arguments),
                             stream.decoder_threads.value_or(instance.decoder_threads)});
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

Result<Job> description_job(const LaunchSettings& settings) {
  Job job;
  job.kind = Job::Kind::Describe;
  job.instance = "description";
  for (const StreamSettings& stream : settings.streams) {
    HET_ASSIGN(std::vector<std::string> arguments,
               fill_pipeline(stream, settings.replicate,
                             placeholder_values(stream, "{instance}", "{node}")));
    job.streams.push_back({stream.name, std::move(arguments), 0});
  }
  return job;
}

Result<std::vector<std::vector<std::string>>> written_files(
    const LaunchSettings& settings, const LaunchPlan& plan,
    const std::vector<StreamDescription>& descriptions) {
  std::vector<std::vector<std::string>> files(plan.instances.size());
  std::map<std::string, std::string> writers;  // absolute path -> who
  for (size_t i = 0; i < plan.instances.size(); ++i) {
    const InstancePlan& instance = plan.instances[i];
    for (const size_t index : instance.streams) {
      const StreamSettings& stream = settings.streams[index];
      for (const std::string& written : descriptions[index].written_files) {
        const std::string file = fill_argument(written, values_at(stream, instance));
        std::error_code failed;
        const std::string path =
            std::filesystem::absolute(file, failed).lexically_normal().string();
        const std::string writer =
            fmt::format("stream '{}' of instance {}", stream.name, instance.index);
        const auto [other, is_new] = writers.emplace(path, writer);
        if (!is_new) {
          return error(StatusCode::InvalidArgument,
                       "{} and {} would both write '{}'; put {{instance}} or {{name}} into the "
                       "name of the file",
                       other->second, writer, file);
        }
        files[i].push_back(file);
      }
    }
  }
  return files;
}

}  // namespace het::serving
