#pragma once

// What tracing tools see of a node: static probes (USDT) for bpftrace, perf and SystemTap in builds
// that found <sys/sdt.h>, tasks for VTune and others of the ITT interface in builds that found
// libittnotify (HET_ITT). Both cost next to nothing while nobody listens. USDT: provider "hetero",
// node_begin(model, node) and node_end(model, node), all arguments C strings. ITT: domain "hetero",
// a task per node.
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#else
#define DTRACE_PROBE2(provider, name, first, second) ((void)0)
#endif
#ifdef HET_ITT
#include <ittnotify.h>
#endif

namespace het {

/// A node's names as tools want them. Made once, since ITT looks names up.
class NodeNames {
 public:
  /// Both must outlive this object.
  NodeNames(const char* model, const char* node) : model_(model), node_(node) {
#ifdef HET_ITT
    handle_ = __itt_string_handle_create(node);
#endif
  }

 private:
  friend class NodeProbe;
  const char* model_;
  const char* node_;
#ifdef HET_ITT
  __itt_string_handle* handle_;
#endif
};

/// Tells the tools that a node runs while this lives.
class NodeProbe {
 public:
  explicit NodeProbe(const NodeNames& names) : names_(names) {
    DTRACE_PROBE2(hetero, node_begin, names_.model_, names_.node_);
#ifdef HET_ITT
    __itt_task_begin(domain(), __itt_null, __itt_null, names_.handle_);
#endif
  }
  ~NodeProbe() {
#ifdef HET_ITT
    __itt_task_end(domain());
#endif
    DTRACE_PROBE2(hetero, node_end, names_.model_, names_.node_);
  }
  NodeProbe(const NodeProbe&) = delete;
  NodeProbe& operator=(const NodeProbe&) = delete;

 private:
#ifdef HET_ITT
  static __itt_domain* domain() {
    static __itt_domain* const made = __itt_domain_create("hetero");
    return made;
  }
#endif
  const NodeNames& names_;
};

}  // namespace het
