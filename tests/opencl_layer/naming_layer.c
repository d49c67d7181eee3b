/* An OpenCL layer for tests (OPENCL_LAYERS, ocl-icd 2.3): the device names extensions, with
 * built-in functions as the environment says.
 *
 *   HET_LAYER_DOT_PRODUCT  cl_khr_integer_dot_product is named, and its functions are "missing",
 *                          "wrong" (one product is left out) or "right" in every program
 *   HET_LAYER_HALF         cl_khr_fp16 is named, and no program with half4 builds
 *   HET_LAYER_FLOAT_WIDTH  the native vector width of float: 16 is what a CPU with AVX-512 has
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <stdlib.h>
#include <string.h>

#include "layer.h"

enum { MOST_TEXTS = 16 };

/* Under names of our own, since a driver may declare the others. */
#define NAMES                                   \
  "#define dot_4x8packed_us_int het_layer_us\n" \
  "#define dot_4x8packed_ss_int het_layer_ss\n"
#define FUNCTIONS(count)                                      \
  "int het_layer_us(uint a, uint b) {\n"                      \
  "  int sum = 0;\n"                                          \
  "  for (int i = 0; i < " count                              \
  "; ++i) sum += (uchar)(a >> 8 * i) * (char)(b >> 8 * i);\n" \
  "  return sum;\n"                                           \
  "}\n"                                                       \
  "int het_layer_ss(uint a, uint b) {\n"                      \
  "  int sum = 0;\n"                                          \
  "  for (int i = 0; i < " count                              \
  "; ++i) sum += (char)(a >> 8 * i) * (char)(b >> 8 * i);\n"  \
  "  return sum;\n"                                           \
  "}\n"

static const char kMissing[] = NAMES;
static const char kWrong[] = NAMES FUNCTIONS("3");
static const char kRight[] = NAMES FUNCTIONS("4");
static const char kNoHalf[] = "#define half4 het_layer_has_no_such_type\n";

static const char* dot_product(void) {
  return getenv("HET_LAYER_DOT_PRODUCT");
}

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t size,
                                      void* value, size_t* size_ret) {
  const char* width = getenv("HET_LAYER_FLOAT_WIDTH");
  if (width != NULL && what == CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT) {
    const cl_uint number = (cl_uint)atoi(width);
    return answer(&number, sizeof number, size, value, size_ret);
  }
  if (what != CL_DEVICE_EXTENSIONS)
    return next->clGetDeviceInfo(device, what, size, value, size_ret);
  char names[8192];
  cl_int code = next->clGetDeviceInfo(device, what, sizeof names - 100, names, NULL);
  if (code != CL_SUCCESS) return code;
  if (dot_product() != NULL) strcat(names, " cl_khr_integer_dot_product");
  if (getenv("HET_LAYER_HALF") != NULL) strcat(names, " cl_khr_fp16");
  return answer(names, strlen(names) + 1, size, value, size_ret);
}

static cl_program CL_API_CALL create_program(cl_context context, cl_uint count, const char** texts,
                                             const size_t* lengths, cl_int* code) {
  const char* all[MOST_TEXTS];
  size_t sizes[MOST_TEXTS];
  const char* which = dot_product();
  cl_uint before = 0;
  if (which != NULL) {
    all[before++] = strcmp(which, "right") == 0   ? kRight
                    : strcmp(which, "wrong") == 0 ? kWrong
                                                  : kMissing;
  }
  if (getenv("HET_LAYER_HALF") != NULL) all[before++] = kNoHalf;
  if (before + count > MOST_TEXTS)
    return next->clCreateProgramWithSource(context, count, texts, lengths, code);
  for (cl_uint i = 0; i < before; ++i) sizes[i] = strlen(all[i]);
  for (cl_uint i = 0; i < count; ++i) {
    all[before + i] = texts[i];
    sizes[before + i] = lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(texts[i]);
  }
  return next->clCreateProgramWithSource(context, before + count, all, sizes, code);
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void* value,
                                               size_t* size_ret) {
  return answer_layer_info("naming", what, size, value, size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch* target,
                                            cl_uint* entries_ret, const cl_icd_dispatch** layer) {
  const cl_int code = begin_layer(entries, target, entries_ret, layer);
  if (code != CL_SUCCESS) return code;
  own.clGetDeviceInfo = device_info;
  own.clCreateProgramWithSource = create_program;
  return CL_SUCCESS;
}
