#include "gstheterotracer.h"

// Tracers are GStreamer's unstable API, unchanged since 1.8.
#ifndef GST_USE_UNSTABLE_API
#define GST_USE_UNSTABLE_API
#endif
#include <glib/gstdio.h>
#include <gst/gsttracer.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "gst/measuring/frame_trace.h"
#include "inference/base/log.h"

using het::gst::FrameTrace;

namespace {

constexpr const char* kDefaultFile = "hetero-trace.json";
constexpr guint64 kDefaultLimit = 1'000'000;

/// A trace being made. It ends with the tracer, or with the process.
struct RunningTrace {
  std::string path;
  std::shared_ptr<FrameTrace> trace;
};

struct Tracing {
  std::mutex mutex;  ///< protects running; taken alone
  RunningTrace running;
};

/// Lives as long as the process: exit() looks into it.
Tracing& tracing() {
  static auto* const made = new Tracing();
  return *made;
}

RunningTrace exchange_running(RunningTrace next) {
  std::lock_guard lock(tracing().mutex);
  return std::exchange(tracing().running, std::move(next));
}

void write_running() {
  const RunningTrace last = exchange_running({});
  if (!last.trace) return;
  het::remove_frame_span_sink(last.trace.get());
  if (last.trace->kept() == 0) return;
  if (const het::Status status = last.trace->write(last.path); !status.ok()) {
    g_printerr("tracer heterotrace: %s\n", std::string(status.message()).c_str());
    return;
  }
  if (last.trace->dropped() > 0) {
    g_printerr("tracer heterotrace: '%s' has the first %zu spans, %zu came after them (limit)\n",
               last.path.c_str(), last.trace->kept(), last.trace->dropped());
  }
}

struct Parameters {
  std::string file = kDefaultFile;
  guint64 limit = kDefaultLimit;
};

/// From "file=trace.json,limit=1000"; what is wrong is said and has no effect.
Parameters read_parameters(const char* text) {
  Parameters found;
  if (!text || !*text) return found;
  GstStructure* fields =
      gst_structure_from_string(("heterotrace," + std::string(text)).c_str(), nullptr);
  if (!fields) {
    g_printerr(
        "tracer heterotrace: cannot read the parameters '%s'; write file=NAME,limit=NUMBER\n",
        text);
    return found;
  }
  for (gint i = 0; i < gst_structure_n_fields(fields); ++i) {
    const char* name = gst_structure_nth_field_name(fields, static_cast<guint>(i));
    const GValue* value = gst_structure_get_value(fields, name);
    if (g_str_equal(name, "file") && G_VALUE_HOLDS_STRING(value)) {
      found.file = g_value_get_string(value);
    } else if (g_str_equal(name, "limit") && G_VALUE_HOLDS_INT(value) &&
               g_value_get_int(value) > 0) {
      found.limit = static_cast<guint64>(g_value_get_int(value));
    } else {
      gchar* shown = gst_value_serialize(value);
      g_printerr(
          "tracer heterotrace: '%s=%s' is not taken; there are file=NAME and limit=NUMBER "
          "(1 to 2147483647)\n",
          name, shown);
      g_free(shown);
    }
  }
  gst_structure_free(fields);
  return found;
}

/// As it is from here: a process may change its folder.
std::string absolute(const std::string& path) {
  gchar* whole = g_canonicalize_filename(path.c_str(), nullptr);
  std::string result = whole;
  g_free(whole);
  return result;
}

bool can_write(const std::string& path) {
  gchar* folder = g_path_get_dirname(path.c_str());
  const bool is_there = g_file_test(path.c_str(), G_FILE_TEST_EXISTS);
  const bool is_writable = g_access(is_there ? path.c_str() : folder, W_OK) == 0;
  g_free(folder);
  return is_writable;
}

void nothing() {}

}  // namespace

struct GstHeteroTracer {
  GstTracer parent;
};
struct GstHeteroTracerClass {
  GstTracerClass parent_class;
};

G_DEFINE_TYPE(GstHeteroTracer, gst_hetero_tracer, GST_TYPE_TRACER)

static void gst_hetero_tracer_constructed(GObject* object) {
  G_OBJECT_CLASS(gst_hetero_tracer_parent_class)->constructed(object);
  // Without a hook GStreamer lets go of a tracer at once.
  gst_tracing_register_hook(GST_TRACER(object), "element-new", G_CALLBACK(nothing));
  gchar* text = nullptr;
  g_object_get(object, "params", &text, nullptr);
  const Parameters parameters = read_parameters(text);
  g_free(text);
  const std::string path = absolute(parameters.file);
  // Now, not after the pipeline has run. No file is made: gst-inspect-1.0 makes a tracer, too.
  if (!can_write(path)) {
    g_printerr("tracer heterotrace: cannot write '%s'; nothing is traced\n", path.c_str());
    return;
  }
  static std::once_flag once;
  std::call_once(once, [] { std::atexit(write_running); });
  write_running();  // a second tracer begins its own
  auto trace = std::make_shared<FrameTrace>(static_cast<size_t>(parameters.limit));
  exchange_running({path, trace});
  het::add_frame_span_sink(std::move(trace));
}

static void gst_hetero_tracer_finalize(GObject* object) {
  write_running();
  G_OBJECT_CLASS(gst_hetero_tracer_parent_class)->finalize(object);
}

static void gst_hetero_tracer_class_init(GstHeteroTracerClass* klass) {
  G_OBJECT_CLASS(klass)->constructed = gst_hetero_tracer_constructed;
  G_OBJECT_CLASS(klass)->finalize = gst_hetero_tracer_finalize;
}

static void gst_hetero_tracer_init(GstHeteroTracer*) {}

gboolean gst_hetero_tracer_register(GstPlugin* plugin) {
  return gst_tracer_register(plugin, "heterotrace", gst_hetero_tracer_get_type());
}
