// For builds without libittnotify.
#include "inference/base/profiler_task.h"

namespace het {

ProfilerTask::ProfilerTask(TaskDomain domain, const std::string& /*name*/) : domain_(domain) {}

void ProfilerTask::begin() const {}

void ProfilerTask::end() const {}

void ProfilerTask::begin(const void* /*owner*/, uint64_t /*count*/) const {}

void ProfilerTask::end(const void* /*owner*/, uint64_t /*count*/) const {}

}  // namespace het
