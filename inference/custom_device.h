/**
 * A device of one's own in a shared library: which nodes of a model it takes, models compiled for
 * it, and requests that run them.
 * C, and stable: a library built with this header keeps working while the host's version is not
 * below its own; structs with a struct_size only grow at their end, the others never.
 *
 * The library exports `het_custom_device`. Its path, or that of a folder of such libraries, is
 * given to Core::add_device_library(), het_core_add_device_library(), the property device-library
 * of an element or `hetero ... --device-library`. Its devices are then named as those of the host
 * are: NPU, HETERO:NPU,CPU, AUTO ... docs/writing_a_device.md tells it step by step.
 *
 * The library is code that runs in the process of the pipeline, with all of its rights: load only
 * what you trust. A model or descriptor file can never name one.
 *
 * Threads: functions of the library and of devices and compiled models are called from several
 * threads at once, functions of one request one at a time, except cancel_request().
 */
#ifndef HET_INFERENCE_CUSTOM_DEVICE_H
#define HET_INFERENCE_CUSTOM_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "inference/custom_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HET_CUSTOM_DEVICE_VERSION 1u
#define HET_CUSTOM_DEVICE_SYMBOL "het_custom_device"
/** Alignment of all tensors in bytes, also of what allocate_memory() returns. */
#define HET_DEVICE_ALIGNMENT 64u
/** The number of an input that is omitted. */
#define HET_NO_VALUE UINT32_MAX

/** What functions return and how executions end; the numbers of HetStatus in hetinference/c.h.
 * Others count as HET_CODE_INTERNAL. */
enum {
  HET_CODE_OK = 0,
  HET_CODE_INVALID_ARGUMENT = 1, /**< a property or call that can never work */
  HET_CODE_NOT_FOUND = 2,        /**< the device, or a property, does not exist */
  HET_CODE_NOT_SUPPORTED = 3,    /**< valid, but not handled by this device */
  HET_CODE_PARSE_ERROR = 4,      /**< malformed bytes of import_model() */
  HET_CODE_CANCELLED = 7,        /**< cancel_request() was called */
  HET_CODE_TIMED_OUT = 8,
  HET_CODE_DEVICE_LOST = 9, /**< the device failed or is gone: HETERO, MULTI and AUTO go on without
                               it and compile for it again later */
  HET_CODE_OUT_OF_MEMORY = 10,
  HET_CODE_INTERNAL = 11
};

/** Where a function puts what it has to say; texts and bytes are copied. Valid during the call.
 * set_error() works in every function, the others in the one that is named. */
typedef struct HetDeviceSink {
  uint32_t struct_size;
  void* context; /**< first argument of every function */
  /** Says why the function is about to return a failure. */
  void (*set_error)(void* context, const char* message);
  /** get_property(), get_model_property(): the value. */
  void (*set_text)(void* context, const char* text);
  /** query_model(): node `index` is taken (`reason` null) or refused. Refused is also what is not
   * mentioned. */
  void (*answer_node)(void* context, uint32_t index, const char* reason);
  /** export_model(): the next bytes. 0: written. */
  int32_t (*write)(void* context, const void* bytes, uint64_t size_bytes);
  /** profile_request(): what a node cost in the last execution. `implementation` may be null. */
  void (*add_profile)(void* context, const char* node_name, const char* node_type,
                      const char* implementation, int64_t microseconds);
} HetDeviceSink;

typedef struct HetDeviceProperty {
  const char* name;
  const char* value;
} HetDeviceProperty;

/** A property that the device understands. */
typedef struct HetDevicePropertyDef {
  uint32_t struct_size;
  /** Capitals, digits and _. One that the host knows, such as NUM_STREAMS, keeps the host's type
   * and range; the rest of this struct is then not used. */
  const char* name;
  const char* default_value; /**< may be null: "" */
  const char* doc;           /**< one line; may be null */
  int32_t read_only;         /**< not 0: get_property() alone */
} HetDevicePropertyDef;

/** Type and shape of a value. */
typedef struct HetValueDesc {
  int32_t type;         /**< HET_TYPE_...; 0: omitted, not known, or a type without a number here */
  int32_t is_constant;  /**< not 0: an initializer of the file */
  uint32_t number;      /**< of the value in its model: the same wherever it is written or read */
  uint32_t rank;        /**< 0: a scalar */
  const int64_t* shape; /**< -1: not known before the model's inputs have their sizes */
} HetValueDesc;

/** A node of the model. */
typedef struct HetDeviceNode {
  uint32_t struct_size;
  const char* name;
  const char* type;   /**< "Conv" */
  const char* domain; /**< "": ONNX; "het", "com.microsoft" ... as docs/operators.md lists them */
  uint32_t input_count;
  const HetValueDesc* inputs;
  uint32_t output_count;
  const HetValueDesc* outputs;
} HetDeviceNode;

typedef struct HetDevicePort {
  const char* name;
  HetValueDesc desc;
} HetDevicePort;

/** A model, prepared: identities are gone, constants are folded, shapes are inferred. Valid during
 * the call. */
typedef struct HetDeviceModel {
  uint32_t struct_size;
  void* context; /**< first argument of onnx() */
  const char* name;
  uint32_t node_count;
  const HetDeviceNode* const* nodes; /**< as the first nodes of the file, in the same order */
  uint32_t input_count;
  const HetDevicePort* inputs; /**< in the order of the file's inputs */
  uint32_t output_count;
  const HetDevicePort* outputs; /**< in the order of the file's outputs */
  /** The model as an ONNX file in memory, of the newest opset that the host knows, with all
   * weights: made by the first call, valid as long as this struct. Behind the nodes above it may
   * have Identity nodes that give outputs their names. */
  int32_t (*onnx)(void* context, const void** bytes, uint64_t* size_bytes);
} HetDeviceModel;

/** What the device made of a model. The host refuses it unless types and shapes are the model's;
 * numbers and is_constant do not count. */
typedef struct HetCompiledDesc {
  uint32_t struct_size;
  uint32_t input_count;
  const HetValueDesc* inputs;
  uint32_t output_count;
  const HetValueDesc* outputs;
  uint32_t optimal_requests; /**< in flight that keep the device busy; 0: 1 */
} HetCompiledDesc;

/** A dense, row-major tensor that the host can address. Type and shape are the port's. */
typedef struct HetDeviceTensor {
  uint32_t struct_size;
  void* data;
  uint64_t size_bytes;
  /** What allocate_memory() gave for the memory that `data` lies in; null: other host memory. */
  void* memory;
  uint64_t offset_bytes; /**< of `data` in `memory` */
} HetDeviceTensor;

/** One execution of a request. Valid until complete() is called. */
typedef struct HetDeviceExecution {
  uint32_t struct_size;
  uint32_t input_count;
  const HetDeviceTensor* const* inputs; /**< only read; all are filled */
  uint32_t output_count;
  const HetDeviceTensor* const* outputs; /**< written before complete() */
  void* context;                         /**< first argument of complete() */
  uint64_t number;                       /**< second argument of complete() */
  /** Says once, from any thread, also before start_request() has returned, how the execution ended.
   * `message` (may be null) says why it failed. The request may be started again or destroyed
   * before complete() returns. */
  void (*complete)(void* context, uint64_t number, int32_t code, const char* message);
} HetDeviceExecution;

/** The devices of the library, which are of one kind. Functions that may be null say so; those with
 * a return value return HET_CODE_.... */
typedef struct HetCustomDevice {
  uint32_t version;     /**< HET_CUSTOM_DEVICE_VERSION of the header it was built with */
  uint32_t struct_size; /**< sizeof(HetCustomDevice) */
  /** "NPU": capitals, digits and _, at most 32; not a name that the host or another library has. */
  const char* name;
  uint32_t property_count;
  const HetDevicePropertyDef* const* properties; /**< pointers, since the structs grow */

  /** How many there are on this machine now; with several, the names are NPU.0, NPU.1 ... May be
   * null: one. */
  uint32_t (*device_count)(void);
  /** Called at first use. Fails with HET_CODE_NOT_FOUND where the device is not there. */
  int32_t (*open_device)(uint32_t index, const HetDeviceSink* sink, void** device);
  /** After everything that was made of the device; its threads have ended when this returns. */
  void (*close_device)(void* device);
  /** FULL_DEVICE_NAME, OPTIMIZATION_CAPABILITIES ("FP32 FP16"), DEVICE_TYPE (discrete unless given,
   * integrated, cpu), and the library's own. HET_CODE_NOT_FOUND: the host answers with the default.
   * May be null. */
  int32_t (*get_property)(void* device, const char* name, const HetDeviceSink* sink);

  /** Which nodes the device takes, of this very model: answer_node(). */
  int32_t (*query_model)(void* device, const HetDeviceModel* model,
                         const HetDeviceProperty* properties, uint32_t property_count,
                         const HetDeviceSink* sink);
  /** Only for models all of whose nodes query_model() takes; all sizes are known. `properties` has
   * what was given, for the model or before for the device. */
  int32_t (*compile_model)(void* device, const HetDeviceModel* model,
                           const HetDeviceProperty* properties, uint32_t property_count,
                           const HetDeviceSink* sink, void** compiled);
  /** Fills what follows struct_size, which is the host's; arrays are valid as long as the model. */
  int32_t (*describe_model)(void* compiled, HetCompiledDesc* desc, const HetDeviceSink* sink);
  /** Properties that the model was compiled with read back by themselves. HET_CODE_NOT_FOUND: the
   * host answers. May be null. */
  int32_t (*get_model_property)(void* compiled, const char* name, const HetDeviceSink* sink);
  /** While requests may be running. May be null: none can be changed. */
  int32_t (*set_model_property)(void* compiled, const char* name, const char* value,
                                const HetDeviceSink* sink);
  /** What import_model() of the same library reads: sink->write(). Both may be null. */
  int32_t (*export_model)(void* compiled, const HetDeviceSink* sink);
  /** The bytes come from a file and may be anything. */
  int32_t (*import_model)(void* device, const void* bytes, uint64_t size_bytes,
                          const HetDeviceProperty* properties, uint32_t property_count,
                          const HetDeviceSink* sink, void** compiled);
  /** After its requests. */
  void (*release_model)(void* compiled);

  /** Memory that the device reaches best and the host can address at `*address`, for tensors of
   * requests; HETERO gives it to the devices before and behind this one, too. The device makes what
   * either side wrote visible to the other in start_request() and before complete(). Both may be
   * null: tensors are in the host's memory. */
  int32_t (*allocate_memory)(void* device, uint64_t size_bytes, const HetDeviceSink* sink,
                             void** memory, void** address);
  void (*free_memory)(void* device, void* memory);

  int32_t (*create_request)(void* compiled, const HetDeviceSink* sink, void** request);
  /** Not while an execution runs. */
  void (*destroy_request)(void* request);
  /** Begins an execution and returns without waiting for it: work is done on a thread or queue of
   * the device. Failures are told by complete(), too. */
  void (*start_request)(void* request, const HetDeviceExecution* execution);
  /** A running execution may end early with HET_CODE_CANCELLED; complete() is called all the same.
   * Nothing happens when none runs. From any thread. May be null. */
  void (*cancel_request)(void* request);
  /** Of the last execution of a model with PERF_COUNT=YES: add_profile(). May be null. */
  int32_t (*profile_request)(void* request, const HetDeviceSink* sink);
} HetCustomDevice;

/** The one symbol of the library. `host_version` is the HET_CUSTOM_DEVICE_VERSION of the host; null
 * when the library cannot serve it. The table lives as long as the library, which stays loaded
 * until the process ends. */
typedef const HetCustomDevice* (*HetCustomDeviceFunction)(uint32_t host_version);

#ifdef __cplusplus
}
#endif

#endif
