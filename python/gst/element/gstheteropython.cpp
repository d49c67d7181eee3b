/**
 * SECTION:element-heteropython
 * @title: heteropython
 * @short_description: runs a user's Python on each frame
 *
 * Calls a function of #module with each frame, or a method of an object of #class, which is made of
 * #arg and #kwarg at the start. It gets one argument, a hetero.gst.VideoFrame, whose regions,
 * tensors, messages and pixels it may read and change. False drops the frame; True and None let it
 * go on; an exception is an error of the element. Scripts for gvapython run as they are.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=30 ! video/x-raw,width=640,height=360 ! \
 *   heterodetect model=pipelines/demo/models/scene_detector.onnx \
 *   model-proc=pipelines/demo/models/scene_detector.json ! \
 *   heteropython module=examples/python/gst/count_objects.py class=Count \
 *   kwarg='{"every": 10}' ! fakesink
 * ]|
 */
#include "python/gst/element/gstheteropython.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <memory>
#include <string>

#include "python/gst/element/json_lists.h"
#include "python/gst/element/script.h"

GST_DEBUG_CATEGORY_STATIC(hetero_python_debug);
#define GST_CAT_DEFAULT hetero_python_debug

enum { kPropModule = 1, kPropClass, kPropFunction, kPropArg, kPropKwarg, kPropInterpreter };

/// From start to stop; streaming thread.
struct PythonState {
  std::unique_ptr<het::python::Script> script;
  GstCaps* caps = nullptr;
  GstVideoInfo info;
  bool is_raw_video = false;
  bool has_failed = false;
};

struct GstHeteroPython {
  GstBaseTransform parent;
  het::python::ScriptSettings* settings;  ///< protected by the object lock
  PythonState* state;
};

struct GstHeteroPythonClass {
  GstBaseTransformClass parent_class;
};

#define GST_HETERO_PYTHON(object) \
  (G_TYPE_CHECK_INSTANCE_CAST((object), GST_TYPE_HETERO_PYTHON, GstHeteroPython))

G_DEFINE_TYPE_WITH_CODE(GstHeteroPython, gst_hetero_python, GST_TYPE_BASE_TRANSFORM,
                        GST_DEBUG_CATEGORY_INIT(hetero_python_debug, "heteropython", 0,
                                                "Python on frames"))
GST_ELEMENT_REGISTER_DEFINE(heteropython, "heteropython", GST_RANK_NONE, GST_TYPE_HETERO_PYTHON)

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static GType interpreter_type() {
  using het::python::InterpreterKind;
  static const GEnumValue values[] = {
      {static_cast<int>(InterpreterKind::Shared),
       "The process' own: all scripts see each other's modules", "shared"},
      {static_cast<int>(InterpreterKind::Own), "One of this element, under the same GIL", "own"},
      {static_cast<int>(InterpreterKind::OwnGil),
       "One of this element that runs beside the others (Python 3.12)", "own-gil"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstHeteroPythonInterpreter", values);
  return type;
}

static void post_failure(GstHeteroPython* self, const het::python::ScriptFailure& failure) {
  gst_element_message_full(
      GST_ELEMENT(self), GST_MESSAGE_ERROR, GST_LIBRARY_ERROR,
      failure.is_setting ? GST_LIBRARY_ERROR_SETTINGS : GST_LIBRARY_ERROR_FAILED,
      g_strdup(failure.message.c_str()), g_strdup(failure.traceback.c_str()), __FILE__,
      GST_FUNCTION, __LINE__);
}

static gboolean gst_hetero_python_start(GstBaseTransform* base) {
  auto* self = GST_HETERO_PYTHON(base);
  GST_OBJECT_LOCK(self);
  const het::python::ScriptSettings settings = *self->settings;
  GST_OBJECT_UNLOCK(self);
  auto script = het::python::Script::open(settings);
  if (!script) {
    post_failure(self, script.error());
    return FALSE;
  }
  self->state->script = std::move(*script);
  self->state->has_failed = false;
  GST_INFO_OBJECT(self, "%s", self->state->script->description().c_str());
  return TRUE;
}

static gboolean gst_hetero_python_stop(GstBaseTransform* base) {
  auto* self = GST_HETERO_PYTHON(base);
  PythonState& state = *self->state;
  const std::string problem = state.script ? state.script->close() : "";
  if (!problem.empty()) GST_WARNING_OBJECT(self, "%s", problem.c_str());
  state.script.reset();
  gst_caps_replace(&state.caps, nullptr);
  state.is_raw_video = false;
  return TRUE;
}

/// What has planes that can be mapped: neither DMA_DRM nor an encoded picture.
static bool is_raw_video(const GstCaps* caps) {
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  return gst_structure_has_name(structure, "video/x-raw") &&
         g_strcmp0(gst_structure_get_string(structure, "format"), "DMA_DRM") != 0;
}

static gboolean gst_hetero_python_set_caps(GstBaseTransform* base, GstCaps* caps, GstCaps*) {
  PythonState& state = *GST_HETERO_PYTHON(base)->state;
  gst_caps_replace(&state.caps, caps);
  state.is_raw_video = is_raw_video(caps) && gst_video_info_from_caps(&state.info, caps);
  return TRUE;
}

/// Others' buffers are copied without their memory, which is copied when the script maps it to
/// write.
static GstFlowReturn gst_hetero_python_prepare_output_buffer(GstBaseTransform*, GstBuffer* input,
                                                             GstBuffer** output) {
  *output = gst_buffer_is_writable(input) ? input : gst_buffer_copy(input);
  return GST_FLOW_OK;
}

/// Allocations are downstream's matter.
static gboolean gst_hetero_python_propose_allocation(GstBaseTransform* base, GstQuery*,
                                                     GstQuery* query) {
  return gst_pad_peer_query(GST_BASE_TRANSFORM_SRC_PAD(base), query);
}

static GstFlowReturn gst_hetero_python_transform_ip(GstBaseTransform* base, GstBuffer* buffer) {
  auto* self = GST_HETERO_PYTHON(base);
  PythonState& state = *self->state;
  if (state.has_failed) return GST_FLOW_ERROR;
  het::python::ScriptFailure failure;
  switch (
      state.script->call(buffer, state.caps, state.is_raw_video ? &state.info : nullptr, failure)) {
    case het::python::Script::Verdict::Pass:
      return GST_FLOW_OK;
    case het::python::Script::Verdict::Drop:
      return GST_BASE_TRANSFORM_FLOW_DROPPED;
    case het::python::Script::Verdict::Ended:
      return GST_FLOW_FLUSHING;
    case het::python::Script::Verdict::Failed:
      break;
  }
  state.has_failed = true;
  post_failure(self, failure);
  return GST_FLOW_ERROR;
}

/// Each text that is set is one more; an empty one removes all.
static void add_text(std::vector<std::string>& texts, const char* text) {
  if (text && *text) {
    texts.emplace_back(text);
  } else {
    texts.clear();
  }
}

static void gst_hetero_python_set_property(GObject* object, guint id, const GValue* value,
                                           GParamSpec* spec) {
  auto* self = GST_HETERO_PYTHON(object);
  GST_OBJECT_LOCK(self);
  het::python::ScriptSettings& settings = *self->settings;
  if (id == kPropInterpreter) {
    settings.interpreter = static_cast<het::python::InterpreterKind>(g_value_get_enum(value));
  } else if (id == kPropArg || id == kPropKwarg) {
    add_text(id == kPropArg ? settings.args : settings.kwargs, g_value_get_string(value));
  } else if (id == kPropModule || id == kPropClass || id == kPropFunction) {
    const char* text = g_value_get_string(value);
    std::string& setting = id == kPropModule  ? settings.module
                           : id == kPropClass ? settings.class_name
                                              : settings.function;
    setting = text ? text : "";
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_hetero_python_get_property(GObject* object, guint id, GValue* value,
                                           GParamSpec* spec) {
  auto* self = GST_HETERO_PYTHON(object);
  GST_OBJECT_LOCK(self);
  const het::python::ScriptSettings& settings = *self->settings;
  if (id == kPropInterpreter) {
    g_value_set_enum(value, static_cast<int>(settings.interpreter));
  } else if (id == kPropArg && !settings.args.empty()) {
    g_value_set_string(value, het::python::combined_array(settings.args).c_str());
  } else if (id == kPropKwarg && !settings.kwargs.empty()) {
    g_value_set_string(value, het::python::combined_object(settings.kwargs).c_str());
  } else if (id == kPropModule && !settings.module.empty()) {
    g_value_set_string(value, settings.module.c_str());
  } else if (id == kPropClass && !settings.class_name.empty()) {
    g_value_set_string(value, settings.class_name.c_str());
  } else if (id == kPropFunction) {
    g_value_set_string(value, settings.function.c_str());
  } else if (id < kPropModule || id > kPropInterpreter) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_hetero_python_finalize(GObject* object) {
  auto* self = GST_HETERO_PYTHON(object);
  delete self->state;
  delete self->settings;
  G_OBJECT_CLASS(gst_hetero_python_parent_class)->finalize(object);
}

static void install_properties(GObjectClass* object_class) {
  const auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                              GST_PARAM_MUTABLE_READY);
  g_object_class_install_property(
      object_class, kPropModule,
      g_param_spec_string("module", "Module",
                          "Path of a Python file, or the name of a module that Python finds",
                          nullptr, flags));
  g_object_class_install_property(
      object_class, kPropClass,
      g_param_spec_string("class", "Class",
                          "Class of the module of which an object is made at the start; unset: the "
                          "function is the module's",
                          nullptr, flags));
  g_object_class_install_property(
      object_class, kPropFunction,
      g_param_spec_string("function", "Function",
                          "Function of the module, or method of the class, that is called with "
                          "each frame; when it returns False, the frame is dropped",
                          "process_frame", flags));
  g_object_class_install_property(
      object_class, kPropArg,
      g_param_spec_string(
          "arg", "Arguments",
          "Arguments of the class: a JSON value, or an array of several; set again, "
          "it adds arguments, and an empty text removes all",
          nullptr, flags));
  g_object_class_install_property(
      object_class, kPropKwarg,
      g_param_spec_string("kwarg", "Keyword arguments",
                          "Keyword arguments of the class: a JSON object; set again, it adds or "
                          "replaces members, and an empty text removes all",
                          nullptr, flags));
  g_object_class_install_property(
      object_class, kPropInterpreter,
      g_param_spec_enum("interpreter", "Interpreter",
                        "Which interpreter of Python's runs the script", interpreter_type(),
                        static_cast<int>(het::python::InterpreterKind::Shared), flags));
}

static void gst_hetero_python_class_init(GstHeteroPythonClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_hetero_python_set_property;
  object_class->get_property = gst_hetero_python_get_property;
  object_class->finalize = gst_hetero_python_finalize;
  install_properties(object_class);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, "Python on frames", "Filter/Metadata/Video",
                                        "Calls a function of a user's Python with each frame",
                                        "gst-hetero maintainers");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  auto* base_class = GST_BASE_TRANSFORM_CLASS(klass);
  base_class->start = gst_hetero_python_start;
  base_class->stop = gst_hetero_python_stop;
  base_class->set_caps = gst_hetero_python_set_caps;
  base_class->prepare_output_buffer = gst_hetero_python_prepare_output_buffer;
  base_class->propose_allocation = gst_hetero_python_propose_allocation;
  base_class->transform_ip = gst_hetero_python_transform_ip;
}

static void gst_hetero_python_init(GstHeteroPython* self) {
  self->settings = new het::python::ScriptSettings();
  self->state = new PythonState();
  gst_video_info_init(&self->state->info);
  auto* base = GST_BASE_TRANSFORM(self);
  gst_base_transform_set_in_place(base, TRUE);
  gst_base_transform_set_qos_enabled(base, FALSE);
}
