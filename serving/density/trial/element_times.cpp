#include "serving/density/trial/element_times.h"

#include <algorithm>
#include <map>
#include <string>

#include "serving/launch/instance/pipeline_elements.h"

namespace het::density {
namespace {

constexpr const char* kMeanField = "frame-time-mean";

guint64 mean_frame_ns(GstElement* element) {
  GParamSpec* property = g_object_class_find_property(G_OBJECT_GET_CLASS(element), "stats");
  if (!property || !g_type_is_a(property->value_type, GST_TYPE_STRUCTURE)) return 0;
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  guint64 mean_ns = 0;
  if (stats) gst_structure_get_uint64(stats, kMeanField, &mean_ns);
  if (stats) gst_structure_free(stats);
  return mean_ns;
}

/// Copies of a pipeline number their elements on: heterodetect0, heterodetect1.
std::string kind_of(GstElement* element) {
  const std::string name = GST_OBJECT_NAME(element);
  const std::string factory = serving::factory_name(element);
  return name.starts_with(factory) ? factory : name;
}

}  // namespace

std::vector<ElementTime> element_times(const std::vector<GstElement*>& pipelines) {
  struct Sum {
    double ms = 0;
    double count = 0;
  };
  std::map<std::string, Sum> sums;
  for (GstElement* pipeline : pipelines) {
    for (const serving::ElementRef& element : serving::elements_of(pipeline)) {
      const guint64 mean_ns = mean_frame_ns(element.get());
      if (mean_ns == 0) continue;
      Sum& sum = sums[kind_of(element.get())];
      sum.ms += static_cast<double>(mean_ns) / 1e6;
      sum.count += 1;
    }
  }
  std::vector<ElementTime> times;
  for (const auto& [name, sum] : sums) times.push_back({name, sum.ms / sum.count});
  return times;
}

}  // namespace het::density
