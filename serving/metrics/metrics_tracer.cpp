#include "serving/metrics/metrics_tracer.h"

#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "inference/base/frame_span.h"
#include "serving/metrics/http/http_server.h"
#include "serving/metrics/metrics_settings.h"
#include "serving/metrics/scrape.h"
#include "serving/metrics/watch/hooks.h"
#include "serving/metrics/watch/readiness.h"
#include "serving/metrics/watch/registry.h"

namespace {

using het::metrics::HttpServer;
using het::metrics::MetricsSettings;
using het::metrics::SpanCounts;

/// What serves, one in a process.
struct Serving {
  std::mutex mutex;  ///< protects server; taken alone
  std::unique_ptr<HttpServer> server;
  /// From the first server on, since elements may end after the last.
  std::shared_ptr<SpanCounts> spans;
};

/// Lives as long as the process.
Serving& serving() {
  static auto* const made = new Serving();
  return *made;
}

void leave_in_child() {
  het::metrics::ignore_hooks();
  // Nobody else runs in here; the lock may be one of a thread that is not there.
  if (HttpServer* server = serving().server.get()) server->forget_in_child();
}

/// gst-inspect-1.0 makes a tracer, too, and says nothing of what it wants.
bool is_asked_for(const char* parameters) {
  const char* wanted = std::getenv("GST_TRACERS");
  return parameters || (wanted && std::strstr(wanted, "heterometrics"));
}

/// Instances of hetero launch have the same environment: each serves at a port of its own.
std::string instance_port(MetricsSettings& settings) {
  const char* number = std::getenv("HETERO_INSTANCE_NUMBER");
  if (!number || settings.port == 0) return "";
  if (std::strcmp(number, "none") == 0) return "none";
  const unsigned long port = settings.port + std::strtoul(number, nullptr, 10);
  if (port > std::numeric_limits<uint16_t>::max()) {
    return "port " + std::to_string(port) + " of this instance is above 65535; nothing is served";
  }
  settings.port = static_cast<uint16_t>(port);
  return "";
}

void begin_serving(GstTracer* tracer, MetricsSettings settings) {
  Serving& all = serving();
  std::lock_guard lock(all.mutex);
  if (all.server) {
    g_printerr("tracer heterometrics: this process serves metrics at %s/metrics already\n",
               all.server->url().c_str());
    return;
  }
  const bool tells_port = settings.port == 0 || std::getenv("HETERO_INSTANCE_NUMBER");
  const std::string refused = instance_port(settings);
  if (!refused.empty()) {
    if (refused != "none") g_printerr("tracer heterometrics: %s\n", refused.c_str());
    return;
  }
  if (!all.spans) all.spans = std::make_shared<SpanCounts>();
  const double stall_s = settings.stall_s;
  auto server = HttpServer::start(settings.address, settings.port,
                                  {[spans = all.spans, stall_s](het::metrics::TextFormat format) {
                                     return het::metrics::scrape(format, *spans, stall_s);
                                   },
                                   [stall_s] {
                                     return het::metrics::why_not_ready(
                                         het::metrics::Registry::of_process(), stall_s);
                                   }});
  if (!server) {
    g_printerr("tracer heterometrics: %s; nothing is served\n", server.error().message().c_str());
    return;
  }
  all.server = std::move(*server);
  if (tells_port) {
    g_printerr("tracer heterometrics: metrics at %s/metrics\n", all.server->url().c_str());
  }
  het::metrics::Registry::of_process().on_end(
      [](const std::string& element) { serving().spans->forget(element); });
  het::metrics::register_hooks(tracer, settings.measures_pipelines, settings.measures_elements);
  het::add_frame_span_sink(all.spans);
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, leave_in_child); });
}

void end_serving() {
  Serving& all = serving();
  std::unique_ptr<HttpServer> last;
  {
    std::lock_guard lock(all.mutex);
    last = std::move(all.server);
  }
  if (all.spans) het::remove_frame_span_sink(all.spans.get());
}

void do_nothing() {}

}  // namespace

struct GstHeteroMetricsTracer {
  GstTracer parent;
  gboolean serves;  ///< it is the one that does
};
struct GstHeteroMetricsTracerClass {
  GstTracerClass parent_class;
};

G_DEFINE_TYPE(GstHeteroMetricsTracer, gst_hetero_metrics_tracer, GST_TYPE_TRACER)

static void gst_hetero_metrics_tracer_constructed(GObject* object) {
  G_OBJECT_CLASS(gst_hetero_metrics_tracer_parent_class)->constructed(object);
  // Without a hook GStreamer lets go of a tracer at once.
  gst_tracing_register_hook(GST_TRACER(object), "element-new", G_CALLBACK(do_nothing));
  gchar* text = nullptr;
  g_object_get(object, "params", &text, nullptr);
  if (is_asked_for(text)) {
    MetricsSettings settings = het::metrics::read_settings(text);
    for (const std::string& refused : settings.refused) {
      g_printerr("tracer heterometrics: %s\n", refused.c_str());
    }
    auto* self = reinterpret_cast<GstHeteroMetricsTracer*>(object);
    const bool served = serving().server != nullptr;
    begin_serving(GST_TRACER(object), std::move(settings));
    self->serves = !served && serving().server != nullptr;
  }
  g_free(text);
}

static void gst_hetero_metrics_tracer_finalize(GObject* object) {
  if (reinterpret_cast<GstHeteroMetricsTracer*>(object)->serves) end_serving();
  G_OBJECT_CLASS(gst_hetero_metrics_tracer_parent_class)->finalize(object);
}

static void gst_hetero_metrics_tracer_class_init(GstHeteroMetricsTracerClass* klass) {
  G_OBJECT_CLASS(klass)->constructed = gst_hetero_metrics_tracer_constructed;
  G_OBJECT_CLASS(klass)->finalize = gst_hetero_metrics_tracer_finalize;
}

static void gst_hetero_metrics_tracer_init(GstHeteroMetricsTracer*) {}

gboolean gst_hetero_metrics_tracer_register(GstPlugin* plugin) {
  return gst_tracer_register(plugin, "heterometrics", gst_hetero_metrics_tracer_get_type());
}
