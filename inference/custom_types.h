/** Types of elements in the C interfaces of custom decoders, devices, operators and preprocessing.
 */
#ifndef HET_INFERENCE_CUSTOM_TYPES_H
#define HET_INFERENCE_CUSTOM_TYPES_H

enum {
  HET_TYPE_FLOAT32 = 1,
  HET_TYPE_FLOAT16 = 2,
  HET_TYPE_FLOAT64 = 3,
  HET_TYPE_INT8 = 4,
  HET_TYPE_UINT8 = 5,
  HET_TYPE_INT32 = 6,
  HET_TYPE_INT64 = 7,
  HET_TYPE_BOOL = 8,
  HET_TYPE_BFLOAT16 = 9
};

#endif
