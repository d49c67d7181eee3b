#pragma once

// What tracing tools see of a node: static probes (USDT) for bpftrace, perf and SystemTap in builds
// that found <sys/sdt.h>, and a task for profilers (profiler_task.h). Both cost next to nothing
// while nobody listens. USDT: provider "hetero", node_begin(model, node) and node_end(model, node),
// all arguments C strings.
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#else
#define DTRACE_PROBE2(provider, name, first, second) ((void)0)
#endif

#include "inference/base/profiler_task.h"

namespace het {

/// A node's names as tools want them.
class NodeNames {
 public:
  /// Both must outlive this object.
  NodeNames(const char* model, const char* node)
      : model_(model), node_(node), task_(TaskDomain::Node, node) {}

 private:
  friend class NodeProbe;
  const char* model_;
  const char* node_;
  ProfilerTask task_;
};

/// Tells the tools that a node runs while this lives.
class NodeProbe {
 public:
  explicit NodeProbe(const NodeNames& names) : names_(names) {
    DTRACE_PROBE2(hetero, node_begin, names_.model_, names_.node_);
    names_.task_.begin();
  }
  ~NodeProbe() {
    names_.task_.end();
    DTRACE_PROBE2(hetero, node_end, names_.model_, names_.node_);
  }
  NodeProbe(const NodeProbe&) = delete;
  NodeProbe& operator=(const NodeProbe&) = delete;

 private:
  const NodeNames& names_;
};

}  // namespace het
