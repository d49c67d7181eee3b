/* Preprocessing of one's own: stretches the levels of each region to 0..255 before the model sees
 * them, for cameras in fog or at dusk. The region becomes the whole input, its aspect not kept.
 * Built as a shared library and named by the property custom-preproc-lib. */
#include <stdlib.h>
#include <string.h>

#include "inference/custom_preprocess.h"

typedef struct {
  int32_t width, height;
  int32_t channels_last;
} Contrast;

static int32_t create(const HetTensorTarget* input, const HetPictureSource* host, void** instance) {
  const int64_t channels = input->rank == 3 ? input->shape[input->channels_last ? 2 : 0] : 0;
  if (input->type != HET_TYPE_FLOAT32 || channels != 3) {
    host->set_error(host->context, "contrast fills float32 inputs with three channels");
    return -1;
  }
  Contrast* self = (Contrast*)calloc(1, sizeof(Contrast));
  if (self == NULL) return -1;
  self->width = input->input_width;
  self->height = input->input_height;
  self->channels_last = input->channels_last;
  *instance = self;
  return 0;
}

static void destroy(void* instance) {
  free(instance);
}

static int32_t convert(void* instance, const HetPictureSource* picture,
                       const HetTensorTarget* input) {
  const Contrast* self = (const Contrast*)instance;
  const size_t count = (size_t)self->width * (size_t)self->height;
  uint8_t* pixels = (uint8_t*)malloc(3 * count);
  if (pixels == NULL) return -1;
  HetPixelRequest request;
  memset(&request, 0, sizeof(request));
  request.struct_size = sizeof(request);
  request.x = picture->region_x;
  request.y = picture->region_y;
  request.width = picture->region_width;
  request.height = picture->region_height;
  request.target_width = self->width;
  request.target_height = self->height;
  request.colour = HET_COLOUR_BGR;
  request.pixels = pixels;
  request.stride = 3u * (uint64_t)self->width;
  const int32_t code = picture->read_pixels(picture->context, &request);
  if (code != 0) {
    free(pixels);
    return code; /* the host knows why */
  }
  uint8_t low = 255, high = 0;
  for (size_t i = 0; i < 3 * count; ++i) {
    if (pixels[i] < low) low = pixels[i];
    if (pixels[i] > high) high = pixels[i];
  }
  const float stretch = high > low ? 255.0f / (float)(high - low) : 1.0f;
  float* values = (float*)input->data;
  for (size_t i = 0; i < count; ++i) {
    for (size_t c = 0; c < 3; ++c) {
      const float level = (float)(pixels[3 * i + c] - low) * stretch;
      values[self->channels_last ? 3 * i + c : c * count + i] = level;
    }
  }
  free(pixels);
  return 0;
}

static int32_t place(void* instance, int32_t region_width, int32_t region_height,
                     HetRegionPlace* place) {
  const Contrast* self = (const Contrast*)instance;
  place->scale_x = (float)region_width / (float)self->width;
  place->scale_y = (float)region_height / (float)self->height;
  place->offset_x = 0.0f;
  place->offset_y = 0.0f;
  return 0;
}

static const HetCustomPreprocess contrast = {HET_CUSTOM_PREPROCESS_VERSION,
                                             sizeof(HetCustomPreprocess),
                                             "contrast",
                                             create,
                                             convert,
                                             place,
                                             destroy};

__attribute__((visibility("default"))) const HetCustomPreprocess* het_custom_preprocess(
    uint32_t host_version) {
  return host_version >= HET_CUSTOM_PREPROCESS_VERSION ? &contrast : NULL;
}
