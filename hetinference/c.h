/**
 * The C interface of the library: models, requests, pictures and what is found in them. C11, and
 * stable: a program built with this header keeps working with later versions of the library.
 *
 * Structs: every struct begins with `struct_size`, which the caller sets to sizeof of the struct.
 * Later versions only add members at the end; the library reads and writes no more than
 * struct_size bytes, and members that the caller's version lacks count as zero. A struct that is
 * smaller than in the first version is HET_INVALID_ARGUMENT; one that is larger than the library
 * knows is accepted where the bytes behind are zero. In arrays every element has the same
 * struct_size, which is the distance between elements.
 *
 * Errors: every function that can fail returns a HetStatus; het_last_error() then gives the text of
 * the last failed call of the same thread. What a call hands out (`**`, `*size`) is null or zero
 * after a failure. A null handle or pointer that may not be null is HET_INVALID_ARGUMENT. No C++
 * exception leaves the library.
 *
 * Handles: each is released by its own function, in any order: what is still needed beneath lives
 * on. Releasing null does nothing. Texts that are handed out as `char**` are freed with
 * het_text_free(); texts and arrays inside structs are borrowed as the struct says. All texts are
 * UTF-8.
 *
 * Threads: "any thread" functions may be called at the same time on the same handle; "one thread"
 * functions must not overlap on the same handle. Functions without a remark are "any thread".
 * After fork() calls in the child fail.
 */
#ifndef HETINFERENCE_C_H
#define HETINFERENCE_C_H

#include <stddef.h>
#include <stdint.h>

#include "inference/custom_types.h"

#define HET_C_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/** Grows with every addition to this header. */
#define HET_C_VERSION 5u

typedef enum HetStatus {
  HET_OK = 0,
  HET_INVALID_ARGUMENT = 1, /**< a call or value that can never work */
  HET_NOT_FOUND = 2,        /**< a file, name, device or port that does not exist */
  HET_NOT_SUPPORTED = 3,    /**< valid, but not handled by this build or device */
  HET_PARSE_ERROR = 4,      /**< a malformed file */
  HET_SHAPE_MISMATCH = 5,   /**< types or shapes that do not fit together */
  HET_BUSY = 6,             /**< the request is running; wait first */
  HET_CANCELLED = 7,
  HET_TIMED_OUT = 8,
  HET_DEVICE_LOST = 9, /**< the device failed or disappeared */
  HET_OUT_OF_MEMORY = 10,
  HET_INTERNAL = 11
} HetStatus;

typedef struct HetCore HetCore;
typedef struct HetContext HetContext;
typedef struct HetDisplay HetDisplay;
typedef struct HetModel HetModel;
typedef struct HetModelQuery HetModelQuery;
typedef struct HetCompiledModel HetCompiledModel;
typedef struct HetSubgraphs HetSubgraphs;
typedef struct HetRequest HetRequest;
typedef struct HetVisionModel HetVisionModel;
typedef struct HetResults HetResults;

/* ---- the library ---- */

/** HET_C_VERSION of the library at run time. */
HET_C_API uint32_t het_c_version(void);
/** The library's version, "0.1.0"; static. Since version 5. */
HET_C_API const char* het_version(void);
/** "INVALID_ARGUMENT" ...; static. */
HET_C_API const char* het_status_name(HetStatus status);
/** Text of the last failed call of this thread, "" before; valid until the next failed one. */
HET_C_API const char* het_last_error(void);
HET_C_API void het_text_free(char* text);

/* ---- core ---- */

typedef struct HetProperty {
  uint32_t struct_size;
  const char* name;
  const char* value;
} HetProperty;

/** An object of the application that a device shall work in. */
typedef struct HetContextObject {
  uint32_t struct_size;
  const char* name; /**< "cl_context", "cl_queue", "VADisplay" */
  void* object;
} HetContextObject;

/** The process' core, which all holders share. */
HET_C_API HetStatus het_core_open(HetCore** core);
HET_C_API void het_core_release(HetCore* core);
/** Names of the devices, separated by commas. */
HET_C_API HetStatus het_core_available_devices(HetCore* core, char** names);
/** Defaults of a device for later compiles. `device` may be composite ("HETERO:GPU,CPU"). */
HET_C_API HetStatus het_core_set_properties(HetCore* core, const char* device,
                                            const HetProperty* properties, size_t count);
HET_C_API HetStatus het_core_get_property(HetCore* core, const char* device, const char* name,
                                          char** value);
/** Loads a library of custom operators: its code runs in this process. */
HET_C_API HetStatus het_core_add_extension(HetCore* core, const char* path);
/** Makes the devices of a library known (inference/custom_device.h), or of all *.so in a folder:
    their code runs in this process. Since version 4. */
HET_C_API HetStatus het_core_add_device_library(HetCore* core, const char* path);
/** Reads an ONNX model or an OpenVINO IR. */
HET_C_API HetStatus het_core_read_model(HetCore* core, const char* path, HetModel** model);
/** The same; initialisers that an ONNX file lists among its inputs are constants, but those of
    `names` become inputs, which then have no default. A name that is none lists those that are. */
HET_C_API HetStatus het_core_read_model_overriding(HetCore* core, const char* path,
                                                   const char* const* names, size_t count,
                                                   HetModel** model);
/** `properties` may be null where count is 0, `context` may be null. */
HET_C_API HetStatus het_core_compile_model(HetCore* core, const HetModel* model, const char* device,
                                           const HetProperty* properties, size_t count,
                                           HetContext* context, HetCompiledModel** compiled);
/** Where a node of a model would run. Texts are borrowed from the HetModelQuery. */
typedef struct HetNodeSupport {
  uint32_t struct_size;
  const char* name;
  const char* type;
  const char* device; /**< "" when no device runs it */
  const char* reason; /**< why none does, or a remark; may be "" */
} HetNodeSupport;

/** What het_core_compile_model() would do with the nodes, without compiling. Since version 2. */
HET_C_API HetStatus het_core_query_model(HetCore* core, const HetModel* model, const char* device,
                                         const HetProperty* properties, size_t count,
                                         HetModelQuery** query);
/** Since version 2. */
HET_C_API HetStatus het_model_query_count(const HetModelQuery* query, size_t* nodes);
/** A node, in the order of the model. Since version 2. */
HET_C_API HetStatus het_model_query_node(const HetModelQuery* query, size_t index,
                                         HetNodeSupport* node);
/** Since version 2. */
HET_C_API void het_model_query_release(HetModelQuery* query);
/** Reads what het_compiled_model_export() of the same device wrote. */
HET_C_API HetStatus het_core_import_model(HetCore* core, const char* path, const char* device,
                                          const HetProperty* properties, size_t count,
                                          HetCompiledModel** compiled);
/** The objects must live until everything that was made in the context is released. */
HET_C_API HetStatus het_core_create_context(HetCore* core, const char* device,
                                            const HetContextObject* objects, size_t count,
                                            HetContext** context);
HET_C_API HetStatus het_context_device(const HetContext* context, char** name);
HET_C_API void het_context_release(HetContext* context);

/* ---- model ---- */

HET_C_API void het_model_release(HetModel* model);
/** "[1,3,224,224]" or "images[1,3,224,224],size[1,2]". One thread, also against compiling. */
HET_C_API HetStatus het_model_reshape(HetModel* model, const char* shapes);

/** Name and shape are borrowed from the model or compiled model. Unknown dimensions are -1. */
typedef struct HetPort {
  uint32_t struct_size;
  int32_t type; /**< HET_TYPE_...; 0 for a type that this interface has no number for */
  const char* name;
  uint32_t rank;
  const int64_t* shape;
} HetPort;

/**
 * A node of a model: one operator. Model inputs and constants are none; nodes read them. Texts are
 * borrowed from the model, until something is set in it or it is reshaped or released. Since
 * version 4.
 */
typedef struct HetNode {
  uint32_t struct_size;
  const char* name;     /**< friendly name: of the node or layer in the file, made unique */
  const char* type;     /**< "Conv" */
  const char* domain;   /**< "" for ONNX' own, "com.microsoft" ... */
  const char* affinity; /**< device that somebody wants for it; "" without a wish */
  uint32_t input_count;
  uint32_t output_count;
  uint32_t rt_info_count;
} HetNode;

/** What an input of a node is. */
typedef enum HetValueKind {
  HET_VALUE_OMITTED = 0, /**< the operator does without it */
  HET_VALUE_NODE = 1,    /**< output `output` of node `node` */
  HET_VALUE_INPUT = 2,   /**< an input of the model */
  HET_VALUE_CONSTANT = 3
} HetValueKind;

/** An input or output of a node. Borrowed as in HetNode; rank 0 where nothing is known yet. Since
    version 4. */
typedef struct HetValue {
  uint32_t struct_size;
  int32_t kind; /**< HET_VALUE_... */
  int32_t type; /**< HET_TYPE_...; 0 where unknown or without a number */
  const char* name;
  uint32_t rank;
  const int64_t* shape;
  size_t node;     /**< that computes it, of HET_VALUE_NODE */
  uint32_t output; /**< which of its outputs it is */
} HetValue;

/** A key and its value; as arguments and as results. Since version 4. */
typedef HetProperty HetPair;

/** Inputs and outputs as the file has them, or as het_model_reshape() left them. Since version 4.
 */
HET_C_API HetStatus het_model_port_counts(const HetModel* model, size_t* inputs, size_t* outputs);
/** Since version 4. */
HET_C_API HetStatus het_model_input(const HetModel* model, size_t index, HetPort* port);
/** Since version 4. */
HET_C_API HetStatus het_model_output(const HetModel* model, size_t index, HetPort* port);
/** Since version 4. */
HET_C_API HetStatus het_model_node_count(const HetModel* model, size_t* nodes);
/** Nodes in an order in which they can run. Since version 4. */
HET_C_API HetStatus het_model_node(const HetModel* model, size_t index, HetNode* node);
/** HET_NOT_FOUND, with the nearest names, when no node has the name. Since version 4. */
HET_C_API HetStatus het_model_find_node(const HetModel* model, const char* name, size_t* index);
/** Since version 4. */
HET_C_API HetStatus het_model_node_input(const HetModel* model, size_t node, size_t index,
                                         HetValue* value);
/** Since version 4. */
HET_C_API HetStatus het_model_node_output(const HetModel* model, size_t node, size_t index,
                                          HetValue* value);
/**
 * A pair of the node's runtime information, ordered by key: what rt_info of an IR's layer or
 * metadata_props of an ONNX node say, and what was set. Since version 4.
 */
HET_C_API HetStatus het_model_node_rt_info(const HetModel* model, size_t node, size_t index,
                                           HetPair* pair);
/**
 * Sets a key of the node's runtime information; an empty value removes it. "affinity" is the device
 * that HETERO gives the node, which het_core_compile_model() checks. One thread, also against
 * compiling. Since version 4.
 */
HET_C_API HetStatus het_model_set_node_rt_info(HetModel* model, size_t node, const char* key,
                                               const char* value);
/**
 * Affinities by name: `pairs` are node and device; the device "" takes a wish away. The name of a
 * layer that became several nodes means all of them, but for those that have a pair of their own.
 * HET_NOT_FOUND, with the nearest names and nothing changed, for a name that there is not. One
 * thread, also against compiling. Since version 4.
 */
HET_C_API HetStatus het_model_set_affinities(HetModel* model, const HetPair* pairs, size_t count);

/* ---- compiled model ---- */

HET_C_API void het_compiled_model_release(HetCompiledModel* model);
HET_C_API HetStatus het_compiled_model_name(const HetCompiledModel* model, char** name);
HET_C_API HetStatus het_compiled_model_port_counts(const HetCompiledModel* model, size_t* inputs,
                                                   size_t* outputs);
HET_C_API HetStatus het_compiled_model_input(const HetCompiledModel* model, size_t index,
                                             HetPort* port);
HET_C_API HetStatus het_compiled_model_output(const HetCompiledModel* model, size_t index,
                                              HetPort* port);
/** A part of a split model that one device runs. Borrowed from the HetSubgraphs. Since version 4.
 */
typedef struct HetSubgraph {
  uint32_t struct_size;
  const char* name;
  const char* device;
  size_t node_count;
  const char* const* nodes; /**< names of the model's nodes */
  size_t input_count;
  const char* const* inputs; /**< names of the values that it reads */
  size_t output_count;
  const char* const* outputs;
  size_t dependency_count;
  const size_t* dependencies; /**< subgraphs that must have run before */
} HetSubgraph;

/**
 * How executions that begin now are split over devices; with several placements, that which most
 * executions take. None for models that are not split (devices other than HETERO). Since version 4.
 */
HET_C_API HetStatus het_compiled_model_subgraphs(const HetCompiledModel* model,
                                                 HetSubgraphs** subgraphs);
/** Since version 4. */
HET_C_API HetStatus het_subgraphs_count(const HetSubgraphs* subgraphs, size_t* count);
/** In an order in which they can run. Since version 4. */
HET_C_API HetStatus het_subgraphs_get(const HetSubgraphs* subgraphs, size_t index,
                                      HetSubgraph* subgraph);
/** Since version 4. */
HET_C_API void het_subgraphs_release(HetSubgraphs* subgraphs);
HET_C_API HetStatus het_compiled_model_set_properties(HetCompiledModel* model,
                                                      const HetProperty* properties, size_t count);
HET_C_API HetStatus het_compiled_model_get_property(const HetCompiledModel* model, const char* name,
                                                    char** value);
/** Replaces the file. */
HET_C_API HetStatus het_compiled_model_export(const HetCompiledModel* model, const char* path);
/**
 * Forgets the state of a stream of het_request_set_stream() ("" for requests without one):
 * executions started from now on begin anew. Nothing happens to a model without state. Since
 * version 2.
 */
HET_C_API HetStatus het_compiled_model_reset_state(HetCompiledModel* model, const char* stream);
HET_C_API HetStatus het_compiled_model_create_request(HetCompiledModel* model,
                                                      HetRequest** request);

/* ---- request ---- */

/** Runs once, on any thread, when the library has let go of the caller's memory. */
typedef void (*HetRelease)(void* user);

/** An array in host memory. `shape` and `strides_bytes` are read during the call only. */
typedef struct HetTensor {
  uint32_t struct_size;
  int32_t type; /**< HET_TYPE_... */
  uint32_t rank;
  const int64_t* shape;
  const int64_t* strides_bytes; /**< per dimension; null: dense and row-major */
  void* data;
  uint64_t size_bytes; /**< of the memory at `data` */
  HetRelease release;  /**< may be null; not called when the call with this struct fails */
  void* user;          /**< for `release` */
} HetTensor;

typedef enum HetPixelFormat {
  HET_PIXEL_NV12 = 1,
  HET_PIXEL_I420 = 2,
  HET_PIXEL_RGB = 3,
  HET_PIXEL_BGR = 4,
  HET_PIXEL_RGBX = 5,
  HET_PIXEL_BGRX = 6,
  HET_PIXEL_RGBA = 7,
  HET_PIXEL_BGRA = 8,
  HET_PIXEL_RGBP = 9,
  HET_PIXEL_BGRP = 10,
  HET_PIXEL_GRAY8 = 11,
  HET_PIXEL_P010 = 12,
  HET_PIXEL_YUY2 = 13,
  HET_PIXEL_UYVY = 14,
  HET_PIXEL_GBR = 15
} HetPixelFormat;

/** Coefficients of YUV formats; ignored for RGB and grey ones. */
typedef enum HetColorMatrix { HET_BT601 = 0, HET_BT709 = 1, HET_BT2020 = 2 } HetColorMatrix;

/** What was done with the surfaces of a display. */
typedef struct HetSurfaceCounts {
  uint32_t struct_size;
  uint64_t mapped;   /**< read by the host where they are */
  uint64_t copied;   /**< copied for the host, because they cannot be mapped */
  uint64_t imported; /**< read by a device where they are */
} HetSurfaceCounts;

/**
 * An application's VADisplay, initialised and closed by it: it must stay open until `release` (may
 * be null) has run, with the last user of the handle and of a picture of the display. It does not
 * run when the call fails. HET_NOT_SUPPORTED in a build without libva. Since version 2.
 */
HET_C_API HetStatus het_display_open(void* va_display, HetRelease release, void* user,
                                     HetDisplay** display);
/** Since version 2. */
HET_C_API HetStatus het_display_counts(const HetDisplay* display, HetSurfaceCounts* counts);
/** Since version 2. */
HET_C_API void het_display_release(HetDisplay* display);

/** Where a picture lies. */
typedef enum HetPictureMemory {
  HET_MEMORY_HOST = 0,    /**< one address per plane */
  HET_MEMORY_SURFACE = 1, /**< a VA surface; planes, stride_bytes and size_bytes must be zero */
  HET_MEMORY_DMA_BUF = 2  /**< a DMA-BUF per plane or for several; planes must be null */
} HetPictureMemory;

/**
 * A picture. A surface or DMA-BUF is only read, may be read until `release` runs, and is waited for
 * when somebody reads it.
 */
typedef struct HetPicture {
  uint32_t struct_size;
  int32_t format; /**< HET_PIXEL_... */
  int32_t width, height;
  int32_t matrix;          /**< HET_BT601 ... */
  int32_t full_range;      /**< not 0: Y, U and V use 0..255 */
  const void* planes[4];   /**< first byte of each plane */
  int64_t stride_bytes[4]; /**< of a row of each plane */
  uint64_t size_bytes[4];  /**< of the memory at each plane, or of its DMA-BUF */
  HetRelease release;      /**< may be null; not called when the call with this struct fails */
  void* user;              /**< for `release` */
  /* Since version 2. */
  int32_t memory;      /**< HET_MEMORY_... */
  uint32_t surface;    /**< VASurfaceID */
  HetDisplay* display; /**< of the surface; read during the call only */
  int32_t fds[4];      /**< DMA-BUF of each plane, which the application closes after `release` */
  uint64_t offset_bytes[4]; /**< where each plane begins in its DMA-BUF */
  uint64_t drm_modifier;    /**< of the DMA-BUFs; all but 0, linear, is HET_NOT_SUPPORTED */
} HetPicture;

/** A rectangle in pixels. */
typedef struct HetRegion {
  uint32_t struct_size;
  int32_t x, y, width, height;
} HetRegion;

/** What one node cost. Texts are valid until the next het_request_profile() of the request. */
typedef struct HetProfile {
  uint32_t struct_size;
  const char* node_name;
  const char* status; /**< "NOT_RUN", "OPTIMIZED_OUT", "EXECUTED" */
  const char* layer_type;
  const char* exec_type;
  int64_t real_us;
  int64_t cpu_us;
} HetProfile;

/**
 * The end of an execution, on a thread of the device: be short. It may start the request again, and
 * must neither wait for it nor release it. `message` is valid during the call.
 */
typedef void (*HetCompletion)(void* user, HetStatus status, const char* message);

/** Cancels, waits and frees. One thread. */
HET_C_API void het_request_release(HetRequest* request);
/** The caller's memory for an input or output, until another one or the end. One thread. */
HET_C_API HetStatus het_request_set_tensor(HetRequest* request, const char* port,
                                           const HetTensor* tensor);
/**
 * A dense tensor in a cl_mem of the application's context. `tensor` says type and shape; its data,
 * size and strides must be zero. `queue` (may be null) orders the content. One thread.
 */
HET_C_API HetStatus het_request_set_cl_tensor(HetRequest* request, const char* port,
                                              HetContext* context, const HetTensor* tensor,
                                              void* cl_memory, void* cl_queue);
/**
 * Where an input or output lies; everything in it is valid until the next start, set_tensor or
 * release of the request. Fails with HET_NOT_SUPPORTED for memory of a device. One thread.
 */
HET_C_API HetStatus het_request_get_tensor(HetRequest* request, const char* port,
                                           HetTensor* tensor);
/**
 * Fills batch item `batch_index` of an input that has preprocessing when the execution starts.
 * `region` null: the whole picture. One thread.
 */
HET_C_API HetStatus het_request_set_picture(HetRequest* request, const char* port,
                                            const HetPicture* picture, const HetRegion* region,
                                            size_t batch_index);
/** Requests of one stream share the state of a stateful model. One thread. */
HET_C_API HetStatus het_request_set_stream(HetRequest* request, const char* stream);
/** Runs and waits. One thread. */
HET_C_API HetStatus het_request_infer(HetRequest* request);
/** HET_BUSY while running. One thread. */
HET_C_API HetStatus het_request_start_async(HetRequest* request);
/**
 * Waits for the end of the execution and of its callback, and gives the execution's status. A
 * negative limit: none. HET_TIMED_OUT leaves it running. Any thread.
 */
HET_C_API HetStatus het_request_wait(HetRequest* request, int64_t timeout_ms);
/** A running execution ends early with HET_CANCELLED. Any thread. */
HET_C_API HetStatus het_request_cancel(HetRequest* request);
/** null: none. Not while running. One thread. */
HET_C_API HetStatus het_request_set_callback(HetRequest* request, HetCompletion callback,
                                             void* user);
/** Takes the rows of the last execution (property PERF_COUNT=YES) and counts them. One thread. */
HET_C_API HetStatus het_request_profile(HetRequest* request, size_t* count);
/** A row of what het_request_profile() took. One thread. */
HET_C_API HetStatus het_request_profile_row(HetRequest* request, size_t index, HetProfile* row);

/* ---- vision model ---- */

/** Texts may be null where the comment says so. */
typedef struct HetVisionSettings {
  uint32_t struct_size;
  const char* model;
  const char* model_proc;  /**< null: none */
  const char* labels_file; /**< null: none */
  const char* device;      /**< null: CPU */
  const HetProperty* properties;
  size_t property_count;
  int32_t picture_width;      /**< 0: as in the file */
  int32_t picture_height;     /**< 0: as in the file */
  const char* custom_library; /**< of a decoder, whose code runs in this process; null: none */
} HetVisionSettings;

/** Boxes are in pixels of the source picture. Pointers are borrowed from the HetResults. */
typedef struct HetFoundObject {
  uint32_t struct_size;
  float x_min, y_min, x_max, y_max;
  float confidence;
  int32_t label_id;
  const char* label; /**< "" without labels */
  float rotation;    /**< radians, clockwise */
  uint32_t point_count;
  const float* points; /**< x and y of each landmark */
  int32_t mask_width;  /**< 0: no mask */
  int32_t mask_height;
  const float* mask; /**< mask_width x mask_height values 0..1, stretched over the box */
} HetFoundObject;

typedef struct HetFoundClass {
  uint32_t struct_size;
  const char* attribute;
  const char* label;
  int32_t label_id; /**< -1: the label is free text */
  float confidence;
} HetFoundClass;

typedef struct HetFoundKeypoints {
  uint32_t struct_size;
  const char* format;
  float confidence;
  uint32_t point_count;
  const float* points;      /**< x and y of each point; (-1, -1): not found */
  const float* confidences; /**< one per point, or null */
} HetFoundKeypoints;

typedef struct HetFoundSegments {
  uint32_t struct_size;
  const char* attribute;
  float x_min, y_min, x_max, y_max;
  int32_t width, height;
  const uint16_t* class_ids; /**< width x height, stretched over the box */
} HetFoundSegments;

typedef struct HetFoundTensor {
  uint32_t struct_size;
  const char* attribute;
  const char* layer;
  const char* format;
  int32_t type; /**< HET_TYPE_... */
  uint32_t rank;
  const int64_t* shape;
  const void* data; /**< dense */
  uint64_t size_bytes;
} HetFoundTensor;

typedef struct HetResultCounts {
  uint32_t struct_size;
  size_t objects;
  size_t classes;
  size_t keypoints;
  size_t segments;
  size_t tensors;
} HetResultCounts;

HET_C_API HetStatus het_vision_model_load(HetCore* core, const HetVisionSettings* settings,
                                          HetVisionModel** model);
HET_C_API void het_vision_model_release(HetVisionModel* model);
/** Size of the picture input in pixels and the largest batch of a request. */
HET_C_API HetStatus het_vision_model_input_size(const HetVisionModel* model, int32_t* width,
                                                int32_t* height, int64_t* batch_size);
HET_C_API HetStatus het_vision_model_create_request(HetVisionModel* model, HetRequest** request);
/** As het_request_set_picture(). One thread per request. */
HET_C_API HetStatus het_vision_model_set_picture(const HetVisionModel* model, HetRequest* request,
                                                 const HetPicture* picture, const HetRegion* region,
                                                 size_t batch_index);
/**
 * What an ended execution found in batch item `batch_index`, whose picture had this size. `region`
 * null: the whole picture; `threshold` 0: the decoders' own. One thread per request.
 */
HET_C_API HetStatus het_vision_model_results(const HetVisionModel* model, const HetRequest* request,
                                             int32_t source_width, int32_t source_height,
                                             const HetRegion* region, size_t batch_index,
                                             float threshold, HetResults** results);
HET_C_API void het_results_release(HetResults* results);
HET_C_API HetStatus het_results_counts(const HetResults* results, HetResultCounts* counts);
HET_C_API HetStatus het_results_object(const HetResults* results, size_t index,
                                       HetFoundObject* object);
HET_C_API HetStatus het_results_class(const HetResults* results, size_t index,
                                      HetFoundClass* found);
HET_C_API HetStatus het_results_keypoints(const HetResults* results, size_t index,
                                          HetFoundKeypoints* found);
HET_C_API HetStatus het_results_segments(const HetResults* results, size_t index,
                                         HetFoundSegments* found);
HET_C_API HetStatus het_results_tensor(const HetResults* results, size_t index,
                                       HetFoundTensor* found);

#ifdef __cplusplus
}
#endif

#endif
