#include <ittnotify.h>

#include <array>

#include "inference/base/profiler_task.h"

namespace het {
namespace {

const __itt_domain* itt_domain(TaskDomain domain) {
  static const std::array<__itt_domain*, 3> domains = {__itt_domain_create("hetero.element"),
                                                       __itt_domain_create("hetero.request"),
                                                       __itt_domain_create("hetero.node")};
  return domains[static_cast<size_t>(domain)];
}

__itt_id id_of(const void* owner, uint64_t count) {
  return __itt_id_make(const_cast<void*>(owner), count);
}

}  // namespace

ProfilerTask::ProfilerTask(TaskDomain domain, const std::string& name)
    : domain_(domain), name_(__itt_string_handle_create(name.c_str())) {}

void ProfilerTask::begin() const {
  __itt_task_begin(itt_domain(domain_), __itt_null, __itt_null,
                   static_cast<__itt_string_handle*>(name_));
}

void ProfilerTask::end() const {
  __itt_task_end(itt_domain(domain_));
}

void ProfilerTask::begin(const void* owner, uint64_t count) const {
  __itt_task_begin_overlapped(itt_domain(domain_), id_of(owner, count), __itt_null,
                              static_cast<__itt_string_handle*>(name_));
}

void ProfilerTask::end(const void* owner, uint64_t count) const {
  __itt_task_end_overlapped(itt_domain(domain_), id_of(owner, count));
}

}  // namespace het
