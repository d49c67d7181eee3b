/**
 * Operators of one's own in a shared library: shapes and a CPU kernel.
 * C, and stable: a library built with this header keeps working while the host's version is not
 * below its own; structs only grow at their end.
 *
 * The library exports `het_custom_operators`. Its path is given to Core::add_extension(), the
 * property EXTENSIONS (in ie-config of an element) or `hetero ... -extensions`, before the model is
 * read.
 *
 * The library is code that runs in the process of the pipeline, with all of its rights: load only
 * what you trust. A model or descriptor file can never name one.
 */
#ifndef HET_INFERENCE_CUSTOM_OPERATOR_H
#define HET_INFERENCE_CUSTOM_OPERATOR_H

#include <stddef.h>
#include <stdint.h>

#include "inference/custom_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HET_CUSTOM_OPERATOR_VERSION 1u
#define HET_CUSTOM_OPERATOR_SYMBOL "het_custom_operators"
#define HET_MAX_RANK 16u

/** How elements lie in memory. Blocked ones group dimension 1 (channels) and pad it: [N,C,H,W] lies
 * as [N,ceil(C/16),H,W,16]. What a kernel writes into the padding is overwritten with zeros. */
enum {
  HET_FORMAT_PLAIN = 1,         /**< row-major */
  HET_FORMAT_CHANNELS_LAST = 2, /**< [N,C,H,W] lies as [N,H,W,C] */
  HET_FORMAT_BLOCKED8 = 4,
  HET_FORMAT_BLOCKED16 = 8
};

/** The node's attributes. Each function returns `otherwise` (or 0 numbers) when there is none of
 * that name and type. */
typedef struct HetNodeView {
  uint32_t struct_size;
  const void* context; /**< first argument of every function */
  const char* name;    /**< of the node, for messages */
  int64_t (*get_int)(const void* context, const char* attribute, int64_t otherwise);
  float (*get_float)(const void* context, const char* attribute, float otherwise);
  /** Valid as long as the node. */
  const char* (*get_string)(const void* context, const char* attribute, const char* otherwise);
  /** Points `*numbers` at the attribute's numbers and returns how many there are. */
  uint64_t (*get_ints)(const void* context, const char* attribute, const int64_t** numbers);
  uint64_t (*get_floats)(const void* context, const char* attribute, const float** numbers);
} HetNodeView;

/** Type and shape of an operand; rank 0 is a scalar. type 0: an omitted input. */
typedef struct HetOperandDesc {
  int32_t type; /**< HET_TYPE_... */
  uint32_t rank;
  int64_t shape[HET_MAX_RANK];
} HetOperandDesc;

/** An operand with its memory, which is aligned to 64 bytes. */
typedef struct HetOperand {
  HetOperandDesc desc;
  int32_t format; /**< HET_FORMAT_..., the same for all operands with four dimensions */
  void* data;     /**< null: an omitted input */
  uint64_t size_bytes;
} HetOperand;

/** What a kernel may ask of the device. */
typedef struct HetKernelContext {
  uint32_t struct_size;
  void* context; /**< first argument of every function */
  /** Calls body(user, begin, end) over disjoint parts of [0, count) on the stream's threads; parts
   * have at least `grain` items. */
  void (*parallel_for)(void* context, int64_t count, int64_t grain,
                       void (*body)(void* user, int64_t begin, int64_t end), void* user);
  /** Says why shapes() or run() is about to return a failure. */
  void (*set_error)(void* context, const char* message);
} HetKernelContext;

/** One operator. All functions are called from several threads at once. */
typedef struct HetCustomOperator {
  uint32_t struct_size;
  const char* domain; /**< of its own, not "", "ai.onnx", "ai.onnx.ml", "com.microsoft" or "het" */
  const char* type;
  uint32_t min_inputs, max_inputs;
  /** Types and shapes of the outputs, from those of the inputs. 0: all outputs are set. */
  int32_t (*shapes)(const HetNodeView* node, const HetOperandDesc* inputs, uint32_t input_count,
                    HetOperandDesc* outputs, uint32_t output_count, const HetKernelContext* device);
  /** Computes the outputs. 0: done. */
  int32_t (*run)(const HetNodeView* node, const HetOperand* inputs, uint32_t input_count,
                 HetOperand* outputs, uint32_t output_count, const HetKernelContext* device);
  /** Formats that run() accepts for operands with four dimensions, all in the same one: a sum of
   * HET_FORMAT_...; 0: plain only. Others always come plain. */
  uint32_t formats;
} HetCustomOperator;

/** All operators of the library. */
typedef struct HetCustomOperators {
  uint32_t version;     /**< HET_CUSTOM_OPERATOR_VERSION of the header it was built with */
  uint32_t struct_size; /**< sizeof(HetCustomOperators) */
  uint32_t operator_count;
  const HetCustomOperator* const* operators; /**< pointers, since the structs grow */
} HetCustomOperators;

/** The one symbol of the library. `host_version` is the HET_CUSTOM_OPERATOR_VERSION of the host;
 * null when the library cannot serve it. The table lives as long as the library, which stays loaded
 * until the process ends. */
typedef const HetCustomOperators* (*HetCustomOperatorsFunction)(uint32_t host_version);

#ifdef __cplusplus
}
#endif

#endif
