#include "test_tracer.h"

#include "serving/metrics/watch/hooks.h"

struct TestTracer {
  GstTracer parent;
};
struct TestTracerClass {
  GstTracerClass parent_class;
};

G_DEFINE_TYPE(TestTracer, test_tracer, GST_TYPE_TRACER)

static void test_tracer_class_init(TestTracerClass*) {}
static void test_tracer_init(TestTracer*) {}

namespace het::metrics::test {

void begin_watching(bool with_pipeline_latency, bool with_element_latency) {
  static const bool once = [&] {
    auto* tracer = GST_TRACER(g_object_new(test_tracer_get_type(), nullptr));
    gst_object_ref_sink(tracer);
    register_hooks(tracer, with_pipeline_latency, with_element_latency);
    gst_object_unref(tracer);  // the hooks hold it
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace het::metrics::test
