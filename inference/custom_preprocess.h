/**
 * Preprocessing of one's own in a shared library: fills a model's picture input from a picture. C,
 * and stable: a library built with this header keeps working while the host's version is not below
 * its own; structs only grow at their end.
 *
 * The library exports `het_custom_preprocess`. Its path comes from the property custom-preproc-lib
 * of an element (VisionModelSettings::preprocess_library). It may start from the picture, of which
 * the host gives it any part in any size as bytes (read_pixels), or from the tensor that it would
 * have got without the library (fill_tensor), or from both.
 *
 * The library is code that runs in the process of the pipeline, with all of its rights: load only
 * what you trust. A descriptor file can never name one.
 */
#ifndef HET_INFERENCE_CUSTOM_PREPROCESS_H
#define HET_INFERENCE_CUSTOM_PREPROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "inference/custom_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HET_CUSTOM_PREPROCESS_VERSION 1u
#define HET_CUSTOM_PREPROCESS_SYMBOL "het_custom_preprocess"

enum { HET_COLOUR_BGR = 1, HET_COLOUR_RGB = 2, HET_COLOUR_GRAY = 3 };

/** What of a picture is wanted as bytes: rows of pixels with the channels of a pixel together. */
typedef struct HetPixelRequest {
  uint32_t struct_size;
  int32_t x, y, width, height; /**< inside the picture; shown as a whole, its aspect not kept */
  int32_t target_width, target_height; /**< up to 16384 each; scaled bilinearly */
  int32_t colour;                      /**< HET_COLOUR_... */
  uint8_t* pixels;                     /**< target_height rows, `stride` bytes apart */
  uint64_t stride;                     /**< at least target_width times the channels */
} HetPixelRequest;

/** The picture, and what the host does for the library. Valid during convert(). */
typedef struct HetPictureSource {
  uint32_t struct_size;
  int32_t width, height;
  int32_t region_x, region_y, region_width, region_height; /**< what to show; inside the picture */
  const char* format;                                      /**< GStreamer's name, such as NV12 */
  void* context;                                           /**< first argument of every function */
  /** 0, or -1 with a reason that convert() may return as it is. */
  int32_t (*read_pixels)(void* context, const HetPixelRequest* request);
  /** Fills the tensor as the descriptor or the model says: as without the library. As before. */
  int32_t (*fill_tensor)(void* context);
  /** Says why create() or convert() is about to return a failure; of create() the only one. */
  void (*set_error)(void* context, const char* message);
} HetPictureSource;

/** One batch item of the input, dense and row-major. Valid during convert(), its content before
 * create() has ended not at all: data is null there. */
typedef struct HetTensorTarget {
  uint32_t struct_size;
  const char* name;     /**< of the input */
  int32_t type;         /**< HET_TYPE_... */
  uint32_t rank;        /**< 3: without the batch */
  const int64_t* shape; /**< [channels, height, width], or [height, width, channels] */
  int32_t channels_last;
  int32_t input_width, input_height;
  void* data;
  uint64_t size_bytes;
} HetTensorTarget;

/** Where a region lies in the input: x in the region = x in the input * scale_x + offset_x, in
 * pixels. Decoders bring boxes and points back by it. */
typedef struct HetRegionPlace {
  uint32_t struct_size;
  float scale_x, scale_y, offset_x, offset_y;
} HetRegionPlace;

/** The preprocessing. All but convert() may be null. */
typedef struct HetCustomPreprocess {
  uint32_t version;     /**< HET_CUSTOM_PREPROCESS_VERSION of the header it was built with */
  uint32_t struct_size; /**< sizeof(HetCustomPreprocess) */
  const char* name;     /**< for messages */
  /** Called once when a model is loaded. 0: `*instance` is set. */
  int32_t (*create)(const HetTensorTarget* input, const HetPictureSource* host, void** instance);
  /** Called for every picture, from several threads at once. 0: every byte of data is set. */
  int32_t (*convert)(void* instance, const HetPictureSource* picture, const HetTensorTarget* input);
  /** Where convert() puts a region of this size; the same answer for the same size, from several
   * threads at once. `place` comes as fill_tensor() puts it, which is what null means. 0: ok. */
  int32_t (*place)(void* instance, int32_t region_width, int32_t region_height,
                   HetRegionPlace* place);
  void (*destroy)(void* instance);
} HetCustomPreprocess;

/** The one symbol of the library. `host_version` is the HET_CUSTOM_PREPROCESS_VERSION of the host;
 * null when the library cannot serve it. The struct lives as long as the library. */
typedef const HetCustomPreprocess* (*HetCustomPreprocessFunction)(uint32_t host_version);

#ifdef __cplusplus
}
#endif

#endif
