#pragma once

// Static probes (USDT) for bpftrace, perf and SystemTap, in builds that found <sys/sdt.h>. One
// costs a nop while nobody listens. Provider "hetero": node_begin(model, node), node_end(model,
// node), all arguments C strings.
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define HET_PROBE_NODE_BEGIN(model, node) DTRACE_PROBE2(hetero, node_begin, model, node)
#define HET_PROBE_NODE_END(model, node) DTRACE_PROBE2(hetero, node_end, model, node)
#else
#define HET_PROBE_NODE_BEGIN(model, node) ((void)0)
#define HET_PROBE_NODE_END(model, node) ((void)0)
#endif
