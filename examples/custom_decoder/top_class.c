/* A decoder of one's own: the best class of the model's first output, as a classification called
 * "top_class". Built as a shared library and named by the property custom-postproc-lib. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inference/custom_decoder.h"

typedef struct {
  uint32_t label_count;
  char** labels; /* copies: the settings end with create() */
} TopClass;

static void destroy(void* instance) {
  TopClass* self = (TopClass*)instance;
  for (uint32_t i = 0; self->labels != NULL && i < self->label_count; ++i) free(self->labels[i]);
  free(self->labels);
  free(self);
}

static int32_t create(const HetDecoderSettings* settings, const HetResultSink* sink,
                      void** instance) {
  TopClass* self = (TopClass*)calloc(1, sizeof(TopClass));
  if (self == NULL) return -1;
  self->labels = (char**)calloc(settings->label_count + 1u, sizeof(char*));
  if (self->labels != NULL) self->label_count = settings->label_count;
  for (uint32_t i = 0; i < self->label_count; ++i) {
    self->labels[i] = strdup(settings->labels[i]);
    if (self->labels[i] == NULL) {
      sink->set_error(sink->context, "no memory for the labels");
      destroy(self);
      return -1;
    }
  }
  *instance = self;
  return 0;
}

static int32_t decode(void* instance, const HetTensorView* tensors, uint32_t tensor_count,
                      const HetPictureView* picture, const HetResultSink* sink) {
  const TopClass* self = (const TopClass*)instance;
  if (tensor_count == 0 || tensors[0].type != HET_TYPE_FLOAT32 || tensors[0].rank < 2 ||
      tensors[0].shape[0] <= picture->batch_index) {
    sink->set_error(sink->context, "top_class reads float32 scores [batch, classes]");
    return -1;
  }
  const uint64_t count = tensors[0].size_bytes / sizeof(float) / (uint64_t)tensors[0].shape[0];
  const float* scores = (const float*)tensors[0].data + (uint64_t)picture->batch_index * count;
  int64_t best = -1;
  for (uint64_t i = 0; i < count; ++i) {
    if (isfinite(scores[i]) && (best < 0 || scores[i] > scores[best])) best = (int64_t)i;
  }
  if (best < 0 || scores[best] < picture->threshold) return 0; /* nothing found */
  HetClassification found;
  memset(&found, 0, sizeof(found));
  found.struct_size = sizeof(found);
  found.attribute = "top_class";
  found.label_id = (int32_t)best;
  found.label = best < self->label_count ? self->labels[best] : NULL;
  found.confidence = scores[best];
  return sink->add_classification(sink->context, &found);
}

static const HetCustomDecoder top_class = {
    HET_CUSTOM_DECODER_VERSION, sizeof(HetCustomDecoder), "top_class", create, decode, destroy};

__attribute__((visibility("default"))) const HetCustomDecoder* het_custom_decoder(
    uint32_t host_version) {
  return host_version >= HET_CUSTOM_DECODER_VERSION ? &top_class : NULL;
}
