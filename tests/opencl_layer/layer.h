/* What every layer has: what the OpenCL loader asks it for. */
#ifndef HET_TESTS_LAYER_H
#define HET_TESTS_LAYER_H

#include <CL/cl_layer.h>
#include <string.h>

static const cl_icd_dispatch* next; /* the driver, or the layer below */
static cl_icd_dispatch own;         /* the same with the functions of the layer */

/* Gives `content` to a question for information. */
static inline cl_int answer(const void* content, size_t bytes, size_t size, void* value,
                            size_t* size_ret) {
  if (value != NULL) {
    if (size < bytes) return CL_INVALID_VALUE;
    memcpy(value, content, bytes);
  }
  if (size_ret != NULL) *size_ret = bytes;
  return CL_SUCCESS;
}

static inline cl_int answer_layer_info(const char* name, cl_layer_info what, size_t size,
                                       void* value, size_t* size_ret) {
  const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  if (what == CL_LAYER_API_VERSION) return answer(&version, sizeof version, size, value, size_ret);
  if (what == CL_LAYER_NAME) return answer(name, strlen(name) + 1, size, value, size_ret);
  return CL_INVALID_VALUE;
}

/* Sets `next` and copies its functions to `own`, which becomes the layer. */
static inline cl_int begin_layer(cl_uint entries, const cl_icd_dispatch* target,
                                 cl_uint* entries_ret, const cl_icd_dispatch** layer) {
  if (target == NULL || layer == NULL || entries_ret == NULL) return CL_INVALID_VALUE;
  next = target;
  memset(&own, 0, sizeof own);
  const size_t known = sizeof own / sizeof(void*);
  memcpy(&own, target, (entries < known ? entries : known) * sizeof(void*));
  *entries_ret = known;
  *layer = &own;
  return CL_SUCCESS;
}

#endif
