/* The C interface used from C11: no C++ header and no C++ compiler. Arguments: model, model-proc. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hetinference/c.h"
/* Of a program that has a device of its own: the names of both headers go together. */
#include "inference/custom_device.h"

static int failures = 0;

#define EXPECT(condition)                                                                  \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, het_last_error()); \
      ++failures;                                                                          \
    }                                                                                      \
  } while (0)

/* What a failed call says: the status and a part of the text. */
#define EXPECT_ERROR(call, code, text)                  \
  do {                                                  \
    EXPECT((call) == (code));                           \
    EXPECT(strstr(het_last_error(), (text)) != NULL);   \
  } while (0)

static void count_up(void* user) { ++*(int*)user; }

struct Ended {
  int calls;
  HetStatus status;
};

static void on_end(void* user, HetStatus status, const char* message) {
  struct Ended* ended = user;
  ended->calls++;
  ended->status = message ? status : HET_INTERNAL;
}

static void core_errors(HetCore* core) {
  HetModel* model = (HetModel*)1;
  EXPECT_ERROR(het_core_open(NULL), HET_INVALID_ARGUMENT, "core is null");
  EXPECT_ERROR(het_core_read_model(NULL, "x", &model), HET_INVALID_ARGUMENT, "core is null");
  EXPECT(model == NULL);
  EXPECT_ERROR(het_core_read_model(core, "/no/such.onnx", &model), HET_NOT_FOUND, "/no/such.onnx");
  EXPECT_ERROR(het_core_read_model(core, NULL, &model), HET_INVALID_ARGUMENT, "path is null");
  HetProperty property = {sizeof property, "NO_SUCH", "1"};
  EXPECT_ERROR(het_core_set_properties(core, "CPU", &property, 1), HET_INVALID_ARGUMENT, "NO_SUCH");
  property.struct_size = 4;
  EXPECT_ERROR(het_core_set_properties(core, "CPU", &property, 1), HET_INVALID_ARGUMENT, "struct_size");
  struct {
    HetProperty known;
    uint64_t later;
  } larger = {{sizeof larger, "PERF_COUNT", "NO"}, 0};
  EXPECT(het_core_set_properties(core, "CPU", &larger.known, 1) == HET_OK);
  larger.later = 1;
  EXPECT_ERROR(het_core_set_properties(core, "CPU", &larger.known, 1), HET_NOT_SUPPORTED, "not zero");
  HetProperty older = {sizeof older, "KEY_CPU_THREADS_NUM", "many"};
  EXPECT_ERROR(het_core_set_properties(core, "CPU", &older, 1), HET_INVALID_ARGUMENT, "INFERENCE_NUM_THREADS");
  older.value = "2";
  EXPECT(het_core_set_properties(core, "CPU", &older, 1) == HET_OK);
  char* text = NULL;
  EXPECT(het_core_get_property(core, "CPU", "KEY_CPU_THREADS_NUM", &text) == HET_OK && strcmp(text, "2") == 0);
  het_text_free(text);
  older.value = "0";
  EXPECT(het_core_set_properties(core, "CPU", &older, 1) == HET_OK);
  EXPECT(het_core_available_devices(core, &text) == HET_OK && strstr(text, "CPU") != NULL);
  het_text_free(text);
  EXPECT(het_core_get_property(core, "CPU", "FULL_DEVICE_NAME", &text) == HET_OK && text[0] != 0);
  het_text_free(text);
  int something = 0;
  HetContextObject object = {sizeof object, "cl_context", &something};
  HetContext* context = NULL;
  EXPECT_ERROR(het_core_create_context(core, "CPU", &object, 1, &context), HET_NOT_SUPPORTED, "CPU");
  het_context_release(NULL);
  het_request_release(NULL);
}

static void device_library(HetCore* core) {
  EXPECT_ERROR(het_core_add_device_library(core, NULL), HET_INVALID_ARGUMENT, "path is null");
  EXPECT_ERROR(het_core_add_device_library(NULL, "x"), HET_INVALID_ARGUMENT, "core is null");
  EXPECT_ERROR(het_core_add_device_library(core, "/no/such.so"), HET_NOT_FOUND, "/no/such.so");
  char path[4096];
  char* names = NULL;
  snprintf(path, sizeof path, "%s/examples/custom_device/mydev.so", getenv("HET_BUILD_ROOT"));
  EXPECT(het_core_add_device_library(core, path) == HET_OK);
  EXPECT(het_core_available_devices(core, &names) == HET_OK && strstr(names, "MYDEV") != NULL);
  het_text_free(names);
  EXPECT(HET_CODE_DEVICE_LOST == (int)HET_DEVICE_LOST && HET_CODE_INTERNAL == (int)HET_INTERNAL);
}

static void tensors(HetCore* core, const char* path) {
  HetModel* model = NULL;
  EXPECT(het_core_read_model(core, path, &model) == HET_OK);
  HetProperty property = {sizeof property, "PERF_COUNT", "YES"};
  HetCompiledModel* compiled = NULL;
  EXPECT(het_core_compile_model(core, model, "CPU", &property, 1, NULL, &compiled) == HET_OK);
  het_model_release(model);
  size_t inputs = 0, outputs = 0;
  EXPECT(het_compiled_model_port_counts(compiled, &inputs, &outputs) == HET_OK && inputs == 1 && outputs > 0);
  HetPort port = {.struct_size = sizeof port};
  EXPECT(het_compiled_model_input(compiled, 0, &port) == HET_OK);
  EXPECT(port.type == HET_TYPE_FLOAT32 && port.rank == 4);
  EXPECT_ERROR(het_compiled_model_input(compiled, 9, &port), HET_NOT_FOUND, "input 9");
  char* text = NULL;
  EXPECT(het_compiled_model_get_property(compiled, "PERF_COUNT", &text) == HET_OK && strcmp(text, "YES") == 0);
  het_text_free(text);

  HetRequest* request = NULL;
  EXPECT(het_compiled_model_create_request(compiled, &request) == HET_OK);
  /* Rows with a gap: strides count. */
  const int64_t height = port.shape[2], width = port.shape[3], channels = port.shape[1];
  const int64_t row = (width + 3) * 4;
  const int64_t strides[4] = {channels * height * row, height * row, row, 4};
  const size_t size = (size_t)(channels * height * row);
  float* values = malloc(size);
  for (size_t i = 0; i < size / 4; ++i) values[i] = 1e30f; /* the gaps */
  for (int64_t i = 0; i < channels * height; ++i)
    for (int64_t x = 0; x < width; ++x) values[i * (width + 3) + x] = (float)(x % 7);
  int released = 0;
  HetTensor tensor = {sizeof tensor, HET_TYPE_FLOAT32, 4,      port.shape, strides,
                      values,        size,             count_up, &released};
  tensor.size_bytes = 16;
  EXPECT_ERROR(het_request_set_tensor(request, port.name, &tensor), HET_INVALID_ARGUMENT, "het_request_set_tensor");
  EXPECT(released == 0); /* a call that fails does not take the memory */
  tensor.size_bytes = size;
  EXPECT_ERROR(het_request_set_tensor(request, "no-port", &tensor), HET_NOT_FOUND, "no-port");
  EXPECT(released == 0);
  EXPECT(het_request_set_tensor(request, port.name, &tensor) == HET_OK);
  struct Ended ended = {0, HET_INTERNAL};
  EXPECT(het_request_set_callback(request, on_end, &ended) == HET_OK);
  EXPECT(het_request_start_async(request) == HET_OK);
  EXPECT(het_request_wait(request, 600000) == HET_OK);
  EXPECT(ended.calls == 1 && ended.status == HET_OK);

  HetPort output = {.struct_size = sizeof output};
  EXPECT(het_compiled_model_output(compiled, 0, &output) == HET_OK);
  HetTensor strided = {.struct_size = sizeof strided};
  EXPECT(het_request_get_tensor(request, output.name, &strided) == HET_OK);
  EXPECT(strided.data != NULL && strided.rank == output.rank && strided.size_bytes >= 4);
  float* first = malloc(strided.size_bytes);
  memcpy(first, strided.data, strided.size_bytes);
  for (size_t i = 0; i < strided.size_bytes / 4; ++i) EXPECT(first[i] < 1e20f && first[i] > -1e20f);

  size_t rows = 0;
  HetProfile profile = {.struct_size = sizeof profile};
  EXPECT(het_request_profile(request, &rows) == HET_OK && rows > 0);
  EXPECT(het_request_profile_row(request, 0, &profile) == HET_OK && profile.node_name != NULL);
  EXPECT_ERROR(het_request_profile_row(request, rows, &profile), HET_NOT_FOUND, "row");

  /* The same values without gaps give the same result, from an exported model too. */
  const char* file = "c_interface.exported";
  EXPECT(het_compiled_model_export(compiled, file) == HET_OK);
  HetCompiledModel* imported = NULL;
  EXPECT(het_core_import_model(core, file, "CPU", NULL, 0, &imported) == HET_OK);
  remove(file);
  HetRequest* other = NULL;
  EXPECT(het_compiled_model_create_request(imported, &other) == HET_OK);
  HetTensor dense = {.struct_size = sizeof dense};
  EXPECT(het_request_get_tensor(other, port.name, &dense) == HET_OK);
  for (int64_t i = 0; i < channels * height * width; ++i) ((float*)dense.data)[i] = (float)(i % width % 7);
  EXPECT(het_request_infer(other) == HET_OK);
  EXPECT(het_request_get_tensor(other, output.name, &dense) == HET_OK);
  EXPECT(dense.size_bytes == strided.size_bytes && memcmp(dense.data, first, dense.size_bytes) == 0);
  EXPECT(het_request_cancel(other) == HET_OK);

  /* In any order: the request outlives its model. */
  het_compiled_model_release(imported);
  het_compiled_model_release(compiled);
  EXPECT(released == 0);
  het_request_release(request);
  EXPECT(released == 1);
  het_request_release(other);
  free(values);
  free(first);
}

static void pictures(HetCore* core, const char* path, const char* model_proc) {
  HetVisionSettings settings = {.struct_size = sizeof settings, .model = path, .model_proc = model_proc};
  HetVisionModel* vision = NULL;
  EXPECT(het_vision_model_load(core, &settings, &vision) == HET_OK);
  HetRequest* request = NULL;
  EXPECT(het_vision_model_create_request(vision, &request) == HET_OK);
  int32_t width = 0, height = 0;
  int64_t batch = 0;
  EXPECT(het_vision_model_input_size(vision, &width, &height, &batch) == HET_OK && width > 0 && batch >= 1);
  enum { kWidth = 320, kHeight = 240 };
  static unsigned char pixels[3 * kWidth * kHeight];
  memset(pixels, 128, sizeof pixels);
  const struct {
    int32_t format, planes;
    int64_t strides[3];
    uint64_t sizes[3];
  } forms[] = {
      {HET_PIXEL_NV12, 2, {kWidth, kWidth}, {kWidth * kHeight, kWidth * kHeight / 2}},
      {HET_PIXEL_I420, 3, {kWidth, kWidth / 2, kWidth / 2}, {kWidth * kHeight, kWidth * kHeight / 4, kWidth * kHeight / 4}},
      {HET_PIXEL_RGB, 1, {3 * kWidth}, {3 * kWidth * kHeight}},
      {HET_PIXEL_RGBP, 3, {kWidth, kWidth, kWidth}, {kWidth * kHeight, kWidth * kHeight, kWidth * kHeight}},
  };
  for (size_t form = 0; form < sizeof forms / sizeof forms[0]; ++form) {
    int released = 0;
    HetPicture picture = {.struct_size = sizeof picture, .format = forms[form].format, .width = kWidth,
                          .height = kHeight, .release = count_up, .user = &released};
    for (int plane = 0; plane < forms[form].planes; ++plane) {
      picture.planes[plane] = pixels;
      picture.stride_bytes[plane] = forms[form].strides[plane];
      picture.size_bytes[plane] = forms[form].sizes[plane];
    }
    HetRegion region = {sizeof region, 16, 8, 200, 160};
    picture.size_bytes[0] -= 1;
    EXPECT(het_vision_model_set_picture(vision, request, &picture, &region, 0) == HET_INVALID_ARGUMENT);
    EXPECT(released == 0);
    picture.size_bytes[0] += 1;
    EXPECT(het_vision_model_set_picture(vision, request, &picture, &region, 0) == HET_OK);
    EXPECT(het_request_infer(request) == HET_OK);
    EXPECT(released == 1); /* once, for all planes, right after the conversion */
    HetResults* results = NULL;
    EXPECT(het_vision_model_results(vision, request, kWidth, kHeight, &region, 0, 0.0f, &results) == HET_OK);
    HetResultCounts counts = {.struct_size = sizeof counts};
    EXPECT(het_results_counts(results, &counts) == HET_OK);
    HetFoundObject object = {.struct_size = sizeof object};
    EXPECT_ERROR(het_results_object(results, counts.objects, &object), HET_NOT_FOUND, "no element");
    het_results_release(results);
  }
  HetResults* results = NULL;
  EXPECT_ERROR(het_vision_model_results(vision, request, 8, 8, NULL, 999, 0.0f, &results), HET_INVALID_ARGUMENT, "999");
  het_vision_model_release(vision);
  het_request_release(request);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  EXPECT(het_c_version() == HET_C_VERSION);
  EXPECT(strcmp(het_version(), PROJECT_VERSION) == 0);
  EXPECT(strcmp(het_status_name(HET_NOT_FOUND), "NOT_FOUND") == 0);
  EXPECT(strcmp(het_last_error(), "") == 0);
  HetCore* core = NULL;
  EXPECT(het_core_open(&core) == HET_OK);
  core_errors(core);
  device_library(core);
  tensors(core, argv[1]);
  pictures(core, argv[1], argv[2]);
  het_core_release(core);
  return failures == 0 ? 0 : 1;
}
