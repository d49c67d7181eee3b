/**
 * A decoder of one's own in a shared library: reads a model's output tensors and reports results.
 * C, and stable: a library built with this header keeps working while the host's version is not
 * below its own; structs only grow at their end.
 *
 * The library exports `het_custom_decoder`. The path of the library comes from the property
 * custom-postproc-lib of an element (VisionModelSettings::custom_library); the model-proc entry
 * that it serves has the converter custom_to_roi or custom_to_tensor, which mean the same.
 *
 * The library is code that runs in the process of the pipeline, with all of its rights: load only
 * what you trust. A descriptor file can never name one.
 */
#ifndef HET_INFERENCE_CUSTOM_DECODER_H
#define HET_INFERENCE_CUSTOM_DECODER_H

#include <stddef.h>
#include <stdint.h>

#include "inference/custom_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HET_CUSTOM_DECODER_VERSION 1u
#define HET_CUSTOM_DECODER_SYMBOL "het_custom_decoder"

/** One output of the model, all batch items, dense and row-major. Valid during the call. */
typedef struct HetTensorView {
  const char* name; /**< of the output */
  int32_t type;     /**< HET_TYPE_FLOAT32 ... HET_TYPE_BOOL; others are refused before decode() */
  uint32_t rank;
  const int64_t* shape;
  const void* data;
  uint64_t size_bytes;
} HetTensorView;

/** The picture that is decoded. source = input * scale + offset, in pixels. */
typedef struct HetPictureView {
  uint32_t struct_size;
  int64_t batch_index;
  int32_t input_width, input_height;   /**< of the model's picture input */
  int32_t source_width, source_height; /**< of the picture that the region is part of */
  int32_t region_x, region_y, region_width, region_height;
  float scale_x, scale_y, offset_x, offset_y;
  float threshold; /**< what the user set; 0: the decoder's own */
} HetPictureView;

/** Box in pixels of the source picture. Texts are UTF-8 and may be null; they are copied. */
typedef struct HetDetection {
  uint32_t struct_size;
  float x_min, y_min, x_max, y_max;
  float confidence;
  int32_t label_id;
  const char* label; /**< null: the label of label_id, if the descriptor has labels */
} HetDetection;

typedef struct HetClassification {
  uint32_t struct_size;
  const char* attribute;
  const char* label;
  int32_t label_id; /**< -1: the label is free text */
  float confidence;
} HetClassification;

/** Values for the application; copied. */
typedef struct HetTensorResult {
  uint32_t struct_size;
  const char* attribute;
  const char* format;
  HetTensorView tensor;
} HetTensorResult;

/** Points in pixels of the source picture, x and y in turn. */
typedef struct HetKeypoints {
  uint32_t struct_size;
  const char* format;
  uint32_t point_count;
  const float* points;      /**< 2 * point_count */
  const float* confidences; /**< point_count, 0 where a point was not found; null: all 1 */
  const char* const* names; /**< point_count; may be null */
  uint32_t connection_count;
  const uint32_t* connections; /**< 2 * connection_count indices; may be null */
  float confidence;
} HetKeypoints;

/** Where results go. Each function returns 0, or -1 when it refuses a value (no finite number, a
 * missing text, too many results); decoding then fails with the reason unless decode() goes on. */
typedef struct HetResultSink {
  uint32_t struct_size;
  void* context; /**< first argument of every function */
  int32_t (*add_detection)(void* context, const HetDetection* detection);
  int32_t (*add_classification)(void* context, const HetClassification* classification);
  int32_t (*add_tensor)(void* context, const HetTensorResult* tensor);
  int32_t (*add_keypoints)(void* context, const HetKeypoints* keypoints);
  /** Says why create() or decode() is about to return a failure. */
  void (*set_error)(void* context, const char* message);
} HetResultSink;

/** What the descriptor's entry says. Valid during create(). */
typedef struct HetDecoderSettings {
  uint32_t struct_size;
  uint32_t label_count;
  const char* const* labels;
  uint32_t output_count; /**< of the model, in the order in which decode() gets them */
  const char* const* output_names;
  float threshold; /**< of the descriptor; 0: none given */
} HetDecoderSettings;

/** The decoder. create() and destroy() may be null: then `instance` is null. */
typedef struct HetCustomDecoder {
  uint32_t version;     /**< HET_CUSTOM_DECODER_VERSION of the header it was built with */
  uint32_t struct_size; /**< sizeof(HetCustomDecoder) */
  const char* name;     /**< for messages */
  /** Called once when a model is loaded. 0: `*instance` is set. Of the sink only set_error. */
  int32_t (*create)(const HetDecoderSettings* settings, const HetResultSink* sink, void** instance);
  /** Called for every picture, from several threads at once. 0: ok. */
  int32_t (*decode)(void* instance, const HetTensorView* tensors, uint32_t tensor_count,
                    const HetPictureView* picture, const HetResultSink* sink);
  void (*destroy)(void* instance);
} HetCustomDecoder;

/** The one symbol of the library. `host_version` is the HET_CUSTOM_DECODER_VERSION of the host;
 * null when the library cannot serve it. The struct lives as long as the library. */
typedef const HetCustomDecoder* (*HetCustomDecoderFunction)(uint32_t host_version);

#ifdef __cplusplus
}
#endif

#endif
