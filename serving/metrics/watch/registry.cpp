#include "serving/metrics/watch/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace het::metrics {
namespace {

GQuark element_quark() {
  static const GQuark quark = g_quark_from_static_string("heterometrics-element");
  return quark;
}

GQuark pipeline_quark() {
  static const GQuark quark = g_quark_from_static_string("heterometrics-pipeline");
  return quark;
}

GQuark pad_quark() {
  static const GQuark quark = g_quark_from_static_string("heterometrics-pad");
  return quark;
}

/// What an object holds under a quark, made by new.
template <class T>
T* held_by(gpointer object, GQuark quark) {
  return static_cast<T*>(g_object_get_qdata(G_OBJECT(object), quark));
}

std::string name_of(GstElement* element) {
  gchar* const name = gst_object_get_name(GST_OBJECT(element));
  std::string text = name ? name : "";
  g_free(name);
  return text;
}

/// The outermost object that an element is in. The caller lets it go.
GstElement* top_of(GstElement* element) {
  auto* top = GST_OBJECT(gst_object_ref(element));
  while (GstObject* parent = gst_object_get_parent(top)) {
    gst_object_unref(top);
    top = parent;
  }
  return GST_ELEMENT(top);
}

/// "detect", or "detect-2" where one of that name is there.
template <class Taken>
std::string free_name(const std::string& wanted, Taken taken) {
  std::string name = wanted;
  for (int number = 2; taken(name); ++number) name = fmt::format("{}-{}", wanted, number);
  return name;
}

void describe(GstElement* element, WatchedElement& watched) {
  GObjectClass* known = G_OBJECT_GET_CLASS(element);
  watched.is_source = GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SOURCE);
  watched.is_sink = GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SINK);
  watched.has_levels = g_object_class_find_property(known, "current-level-buffers") != nullptr;
  const GParamSpec* stats = g_object_class_find_property(known, "stats");
  watched.has_stats = stats && G_PARAM_SPEC_VALUE_TYPE(stats) == GST_TYPE_STRUCTURE;
}

std::string factory_of(GstElement* element) {
  GstElementFactory* factory = gst_element_get_factory(element);
  return factory ? GST_OBJECT_NAME(factory) : "";
}

}  // namespace

Registry& Registry::of_process() {
  static auto* const made = new Registry();
  return *made;
}

std::shared_ptr<WatchedPipeline> Registry::pipeline_of(GstElement* element) {
  using Held = std::shared_ptr<WatchedPipeline>;
  const std::unique_ptr<GstElement, WeakObject<GstElement>::Release> top(top_of(element));
  std::lock_guard lock(mutex_);
  if (const auto* known = held_by<Held>(top.get(), pipeline_quark())) return *known;
  const std::string name = free_name(name_of(top.get()), [this](const std::string& text) {
    return std::ranges::any_of(pipelines_, [&](const auto& one) { return one->name == text; });
  });
  auto made = std::make_shared<WatchedPipeline>(top.get(), name);
  if (const auto before = ended_.find(name); before != ended_.end()) {
    made->starts = before->second.starts;
    for (size_t i = 0; i < made->messages.size(); ++i)
      made->messages[i] = before->second.messages[i];
    ended_.erase(before);
  }
  pipelines_.push_back(made);
  g_object_set_qdata_full(G_OBJECT(top.get()), pipeline_quark(), new Held(made), forget_pipeline);
  return made;
}

std::shared_ptr<WatchedPipeline> Registry::known_pipeline_of(GstElement* element) const {
  const std::unique_ptr<GstElement, WeakObject<GstElement>::Release> top(top_of(element));
  std::lock_guard lock(mutex_);
  const auto* known = held_by<std::shared_ptr<WatchedPipeline>>(top.get(), pipeline_quark());
  return known ? *known : nullptr;
}

void Registry::watch(GstElement* element) {
  using Held = std::shared_ptr<WatchedElement>;
  const std::shared_ptr<WatchedPipeline> pipeline = pipeline_of(element);
  if (GST_IS_BIN(element)) return;
  {
    std::lock_guard lock(mutex_);
    if (const auto* known = held_by<Held>(element, element_quark())) {
      // It may have got into another bin meanwhile.
      const auto entry = std::ranges::find(elements_, *known, &Entry::element);
      if (entry != elements_.end()) entry->pipeline = pipeline;
      return;
    }
    const std::string name = free_name(name_of(element), [&](const std::string& text) {
      return std::ranges::any_of(elements_, [&](const Entry& one) {
        return one.pipeline == pipeline && one.element->name == text;
      });
    });
    auto made = std::make_shared<WatchedElement>(element, name, factory_of(element));
    describe(element, *made);
    elements_.push_back({made, pipeline});
    g_object_set_qdata_full(G_OBJECT(element), element_quark(), new Held(std::move(made)),
                            forget_element);
  }
  const auto add = [](GstElement* owner, GstPad* pad, gpointer self) -> gboolean {
    static_cast<Registry*>(self)->watch_pad(owner, pad);
    return TRUE;
  };
  gst_element_foreach_pad(element, add, this);
}

void Registry::watch_pad(GstElement* element, GstPad* pad) {
  std::lock_guard lock(mutex_);
  const auto* owner = held_by<std::shared_ptr<WatchedElement>>(element, element_quark());
  if (!owner || of_pad(pad)) return;
  auto made = std::make_unique<WatchedPad>();
  made->element = *owner;
  WatchedPad& watched = *made;
  g_object_set_qdata_full(G_OBJECT(pad), pad_quark(), made.release(),
                          [](gpointer held) { delete static_cast<WatchedPad*>(held); });
  if (take_pad_) take_pad_(pad, watched);
}

WatchedPad* Registry::of_pad(GstPad* pad) {
  return held_by<WatchedPad>(pad, pad_quark());
}

std::vector<std::shared_ptr<WatchedPipeline>> Registry::pipelines() const {
  std::lock_guard lock(mutex_);
  return pipelines_;
}

std::vector<Registry::Entry> Registry::elements() const {
  std::lock_guard lock(mutex_);
  return elements_;
}

void Registry::forget_element(gpointer held) {
  const std::unique_ptr<std::shared_ptr<WatchedElement>> owner(
      static_cast<std::shared_ptr<WatchedElement>*>(held));
  Registry& all = of_process();
  std::lock_guard lock(all.mutex_);
  std::erase_if(all.elements_, [&](const Entry& one) { return one.element == *owner; });
  if (all.take_end_) all.take_end_((*owner)->name);
}

void Registry::forget_pipeline(gpointer held) {
  const std::unique_ptr<std::shared_ptr<WatchedPipeline>> owner(
      static_cast<std::shared_ptr<WatchedPipeline>*>(held));
  Registry& all = of_process();
  std::lock_guard lock(all.mutex_);
  std::erase(all.pipelines_, *owner);
  const WatchedPipeline& pipeline = **owner;
  if (pipeline.starts == 0 || all.ended_.size() == kMostEnded) return;
  Ended& ended = all.ended_[pipeline.name];
  ended.starts = pipeline.starts;
  for (size_t i = 0; i < ended.messages.size(); ++i) ended.messages[i] = pipeline.messages[i];
}

}  // namespace het::metrics
