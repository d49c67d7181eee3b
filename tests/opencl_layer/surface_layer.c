/* An OpenCL layer for tests (OPENCL_LAYERS, ocl-icd 2.3): offers cl_intel_va_api_media_sharing and
 * cl_khr_external_memory_dma_buf over a driver that has neither. A VADisplay is a table of surfaces
 * (surface_table.h); a DMA-BUF is any file descriptor that can be mapped, such as a memfd. Imported
 * memory has the picture's content only between acquire and release, so that a kernel that runs
 * outside reads something else. PoCL 3.1 has no images of two components, PoCL 7.1 none of one:
 * both are made of four and say of how many they are.
 *
 *   HET_LAYER_EXTENSIONS   the extensions that are offered, separated by blanks; both without it
 *   HET_LAYER_FAIL_IMPORT  imports fail with CL_INVALID_VA_API_MEDIA_SURFACE_INTEL or
 *                          CL_INVALID_VALUE
 *   HET_LAYER_COUNT        at exit, "surfaces imported N acquired N released N" on stdout
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_ext.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "layer.h"
#include "surface_table.h"

/* Of cl_va_api_media_sharing_intel.h, which needs libva's headers. */
#define CONTEXT_VA_DISPLAY 0x4097
#define VA_DISPLAY 0x4094
#define INVALID_VA_SURFACE (-1099)
#define SURFACE_ALREADY_ACQUIRED (-1100)
#define SURFACE_NOT_ACQUIRED (-1101)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int imported, acquired, released;

static const char* extensions(void) {
  const char* given = getenv("HET_LAYER_EXTENSIONS");
  return given != NULL ? given
                       : "cl_intel_va_api_media_sharing cl_khr_external_memory "
                         "cl_khr_external_memory_dma_buf";
}

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t size,
                                      void* value, size_t* size_ret) {
  if (what != CL_DEVICE_EXTENSIONS) {
    return next->clGetDeviceInfo(device, what, size, value, size_ret);
  }
  char text[8192];
  const cl_int code = next->clGetDeviceInfo(device, what, sizeof text / 2, text, NULL);
  if (code != CL_SUCCESS) return code;
  strcat(text, " ");
  strncat(text, extensions(), sizeof text / 2 - 2);
  return answer(text, strlen(text) + 1, size, value, size_ret);
}

/* Contexts and the properties that they were asked for; the driver does not see the display. */
typedef struct {
  cl_context context;
  cl_context_properties properties[16];
  size_t count;
} KnownContext;
static KnownContext contexts[64];
static size_t context_count;

static KnownContext* find_context(cl_context context) {
  for (size_t i = 0; i < context_count; ++i) {
    if (contexts[i].context == context) return &contexts[i];
  }
  return NULL;
}

static HetTestDisplay* display_of(const KnownContext* known) {
  for (size_t i = 0; known != NULL && i + 1 < known->count; i += 2) {
    if (known->properties[i] == CONTEXT_VA_DISPLAY)
      return (HetTestDisplay*)known->properties[i + 1];
  }
  return NULL;
}

static cl_context CL_API_CALL create_context(
    const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
    void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* user, cl_int* code) {
  KnownContext known = {NULL, {0}, 0};
  cl_context_properties passed[16];
  size_t passed_count = 0;
  for (; properties != NULL && properties[known.count] != 0 && known.count < 14; known.count += 2) {
    memcpy(known.properties + known.count, properties + known.count, 2 * sizeof *properties);
    if (properties[known.count] == CONTEXT_VA_DISPLAY) continue;
    memcpy(passed + passed_count, properties + known.count, 2 * sizeof *properties);
    passed_count += 2;
  }
  passed[passed_count] = 0;
  known.properties[known.count++] = 0;
  known.context =
      next->clCreateContext(properties != NULL ? passed : NULL, count, devices, notify, user, code);
  if (known.context == NULL) return NULL;
  pthread_mutex_lock(&lock);
  KnownContext* place = find_context(known.context);
  if (place == NULL && context_count < sizeof contexts / sizeof *contexts) {
    place = &contexts[context_count++];
  }
  if (place != NULL) *place = known;
  pthread_mutex_unlock(&lock);
  return known.context;
}

static cl_int CL_API_CALL context_info(cl_context context, cl_context_info what, size_t size,
                                       void* value, size_t* size_ret) {
  pthread_mutex_lock(&lock);
  const KnownContext* known = find_context(context);
  pthread_mutex_unlock(&lock);
  if (what != CL_CONTEXT_PROPERTIES || known == NULL) {
    return next->clGetContextInfo(context, what, size, value, size_ret);
  }
  return answer(known->properties, known->count * sizeof *known->properties, size, value, size_ret);
}

/* What was imported. */
typedef struct {
  cl_mem memory;
  int is_acquired;
  const HetTestPlane* plane; /* of a surface, else: */
  const void* mapped;
  size_t size;
} Import;
static Import imports[4096];
static size_t import_count;

static Import* find_import(cl_mem memory) {
  for (size_t i = 0; i < import_count; ++i) {
    if (imports[i].memory == memory) return &imports[i];
  }
  return NULL;
}

static void add_import(Import import) {
  pthread_mutex_lock(&lock);
  Import* place = find_import(import.memory);
  if (place == NULL && import_count < sizeof imports / sizeof *imports) {
    place = &imports[import_count++];
  }
  if (place != NULL) *place = import;
  ++imported;
  pthread_mutex_unlock(&lock);
}

static cl_int CL_API_CALL devices_of_display(cl_platform_id platform, cl_uint source, void* media,
                                             cl_uint set, cl_uint count, cl_device_id* devices,
                                             cl_uint* found) {
  const HetTestDisplay* display = media;
  (void)set;
  if (source != VA_DISPLAY || display->magic != HET_TEST_DISPLAY_MAGIC) return CL_INVALID_VALUE;
  if (display->is_foreign) return CL_DEVICE_NOT_FOUND;
  return next->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices, found);
}

static cl_mem fail(cl_int* code, cl_int value) {
  if (code != NULL) *code = value;
  return NULL;
}

static cl_mem CL_API_CALL create_from_surface(cl_context context, cl_mem_flags flags,
                                              unsigned* surface, cl_uint index, cl_int* code) {
  pthread_mutex_lock(&lock);
  const HetTestDisplay* display = display_of(find_context(context));
  pthread_mutex_unlock(&lock);
  const HetTestPlane* plane = NULL;
  for (unsigned i = 0; display != NULL && i < display->surface_count; ++i) {
    const HetTestSurface* known = &display->surfaces[i];
    if (known->id == *surface && index < known->plane_count) plane = &known->planes[index];
  }
  if (plane == NULL || getenv("HET_LAYER_FAIL_IMPORT") != NULL) {
    return fail(code, INVALID_VA_SURFACE);
  }
  const cl_image_format format = {plane->is_bgr ? CL_BGRA : CL_RGBA, CL_UNORM_INT8};
  cl_image_desc desc;
  memset(&desc, 0, sizeof desc);
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = plane->width;
  desc.image_height = plane->height;
  const Import import = {next->clCreateImage(context, flags, &format, &desc, NULL, code), 0, plane,
                         NULL, 0};
  if (import.memory != NULL) add_import(import);
  return import.memory;
}

static cl_int CL_API_CALL image_info(cl_mem image, cl_image_info what, size_t size, void* value,
                                     size_t* size_ret) {
  pthread_mutex_lock(&lock);
  const Import* import = find_import(image);
  const size_t components = import != NULL && import->plane != NULL ? import->plane->components : 4;
  pthread_mutex_unlock(&lock);
  const cl_image_format narrow = {components == 1 ? CL_R : CL_RG, CL_UNORM_INT8};
  if (components < 4 && what == CL_IMAGE_FORMAT) {
    return answer(&narrow, sizeof narrow, size, value, size_ret);
  }
  if (components < 4 && what == CL_IMAGE_ELEMENT_SIZE) {
    return answer(&components, sizeof components, size, value, size_ret);
  }
  return next->clGetImageInfo(image, what, size, value, size_ret);
}

static cl_mem CL_API_CALL create_buffer(cl_context context, const cl_mem_properties* properties,
                                        cl_mem_flags flags, size_t size, void* host, cl_int* code) {
  if (properties == NULL || properties[0] != CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR) {
    return next->clCreateBufferWithProperties(context, properties, flags, size, host, code);
  }
  if (getenv("HET_LAYER_FAIL_IMPORT") != NULL) return fail(code, CL_INVALID_VALUE);
  /* Stays mapped: the tests' pictures are small. */
  void* mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, (int)properties[1], 0);
  if (mapped == MAP_FAILED) return fail(code, CL_INVALID_VALUE);
  const Import import = {next->clCreateBuffer(context, flags, size, NULL, code), 0, NULL, mapped,
                         size};
  if (import.memory != NULL) add_import(import);
  return import.memory;
}

/* Writes the content of one import, or something else. */
static cl_int put(cl_command_queue queue, const Import* import, int content) {
  if (import->plane == NULL) {
    static const unsigned char other = 0xEE;
    return content ? next->clEnqueueWriteBuffer(queue, import->memory, CL_TRUE, 0, import->size,
                                                import->mapped, 0, NULL, NULL)
                   : next->clEnqueueFillBuffer(queue, import->memory, &other, 1, 0, import->size, 0,
                                               NULL, NULL);
  }
  const size_t origin[3] = {0, 0, 0};
  const size_t region[3] = {import->plane->width, import->plane->height, 1};
  static const float other[4] = {0.9f, 0.1f, 0.9f, 0.1f};
  const HetTestPlane* plane = import->plane;
  if (!content) {
    return next->clEnqueueFillImage(queue, import->memory, other, origin, region, 0, NULL, NULL);
  }
  const size_t components = plane->components;
  if (components == 4) {
    return next->clEnqueueWriteImage(queue, import->memory, CL_TRUE, origin, region, plane->stride,
                                     0, plane->address, 0, NULL, NULL);
  }
  unsigned char* wide = calloc((size_t)plane->width * plane->height, 4);
  if (wide == NULL) return CL_OUT_OF_HOST_MEMORY;
  for (size_t i = 0; i < (size_t)plane->width * plane->height; ++i) {
    const size_t row = i / plane->width * plane->stride;
    memcpy(wide + 4 * i, plane->address + row + components * (i % plane->width), components);
  }
  const cl_int code = next->clEnqueueWriteImage(queue, import->memory, CL_TRUE, origin, region, 0,
                                                0, wide, 0, NULL, NULL);
  free(wide);
  return code;
}

static cl_int pass_on(cl_command_queue queue, cl_uint count, const cl_mem* objects, int acquires) {
  cl_int code = count > 0 ? CL_SUCCESS : CL_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  for (cl_uint i = 0; i < count && code == CL_SUCCESS; ++i) {
    Import* import = find_import(objects[i]);
    if (import == NULL) {
      code = CL_INVALID_MEM_OBJECT;
    } else if (import->is_acquired == acquires) {
      code = acquires ? SURFACE_ALREADY_ACQUIRED : SURFACE_NOT_ACQUIRED;
    } else {
      import->is_acquired = acquires;
      *(acquires ? &acquired : &released) += 1;
      code = put(queue, import, acquires);
    }
  }
  pthread_mutex_unlock(&lock);
  return code;
}

static cl_int CL_API_CALL acquire(cl_command_queue queue, cl_uint count, const cl_mem* objects,
                                  cl_uint waits, const cl_event* list, cl_event* event) {
  (void)waits, (void)list, (void)event;
  return pass_on(queue, count, objects, 1);
}

static cl_int CL_API_CALL release(cl_command_queue queue, cl_uint count, const cl_mem* objects,
                                  cl_uint waits, const cl_event* list, cl_event* event) {
  (void)waits, (void)list, (void)event;
  return pass_on(queue, count, objects, 0);
}

static void* CL_API_CALL extension_function(cl_platform_id platform, const char* name) {
  static const struct {
    const char* name;
    void* function;
  } functions[] = {
      {"clGetDeviceIDsFromVA_APIMediaAdapterINTEL", devices_of_display},
      {"clCreateFromVA_APIMediaSurfaceINTEL", create_from_surface},
      {"clEnqueueAcquireVA_APIMediaSurfacesINTEL", acquire},
      {"clEnqueueReleaseVA_APIMediaSurfacesINTEL", release},
      {"clEnqueueAcquireExternalMemObjectsKHR", acquire},
      {"clEnqueueReleaseExternalMemObjectsKHR", release},
  };
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
    if (strcmp(name, functions[i].name) == 0) return functions[i].function;
  }
  return next->clGetExtensionFunctionAddressForPlatform(platform, name);
}

static void print_counts(void) {
  printf("surfaces imported %d acquired %d released %d\n", imported, acquired, released);
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void* value,
                                               size_t* size_ret) {
  return answer_layer_info("surfaces", what, size, value, size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch* target,
                                            cl_uint* entries_ret, const cl_icd_dispatch** layer) {
  const cl_int code = begin_layer(entries, target, entries_ret, layer);
  if (code != CL_SUCCESS) return code;
  own.clGetDeviceInfo = device_info;
  own.clCreateContext = create_context;
  own.clGetContextInfo = context_info;
  own.clGetImageInfo = image_info;
  own.clCreateBufferWithProperties = create_buffer;
  own.clGetExtensionFunctionAddressForPlatform = extension_function;
  if (getenv("HET_LAYER_COUNT") != NULL) atexit(print_counts);
  return CL_SUCCESS;
}
