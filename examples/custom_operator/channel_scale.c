/* An operator of one's own, example.ChannelScale: y[n,c,h,w] = x[n,c,h,w] * scales[c], with the
 * attribute scales (floats). Takes the channels in whichever format they come. Built as a shared
 * library and named by EXTENSIONS. */
#include "inference/custom_operator.h"

static int32_t shapes(const HetNodeView* node, const HetOperandDesc* inputs, uint32_t input_count,
                      HetOperandDesc* outputs, uint32_t output_count,
                      const HetKernelContext* device) {
  const float* scales = NULL;
  const uint64_t count = node->get_floats(node->context, "scales", &scales);
  if (input_count != 1 || output_count != 1 || inputs[0].type != HET_TYPE_FLOAT32 ||
      inputs[0].rank != 4) {
    device->set_error(device->context, "ChannelScale takes one float32 input of four dimensions");
    return -1;
  }
  if ((int64_t)count != inputs[0].shape[1]) {
    device->set_error(device->context, "ChannelScale needs as many scales as channels");
    return -1;
  }
  outputs[0] = inputs[0];
  return 0;
}

typedef struct {
  const float* from;
  float* to;
  const float* scales;
  int64_t channels;
  int64_t block;  /* channels that lie together */
  int64_t pixels; /* groups of `block` values in a row */
} Job;

/* A row is all pixels of one block of channels of one picture. */
static void scale_rows(void* user, int64_t begin, int64_t end) {
  const Job* job = (const Job*)user;
  const int64_t blocks = (job->channels + job->block - 1) / job->block;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t first = row % blocks * job->block;
    const int64_t used = job->channels - first < job->block ? job->channels - first : job->block;
    const float* from = job->from + row * job->pixels * job->block;
    float* to = job->to + row * job->pixels * job->block;
    for (int64_t p = 0; p < job->pixels; ++p) {
      for (int64_t c = 0; c < used; ++c) {
        to[p * job->block + c] = from[p * job->block + c] * job->scales[first + c];
      }
    }
  }
}

static int32_t run(const HetNodeView* node, const HetOperand* inputs, uint32_t input_count,
                   HetOperand* outputs, uint32_t output_count, const HetKernelContext* device) {
  (void)input_count;
  (void)output_count;
  const HetOperandDesc* desc = &inputs[0].desc;
  Job job;
  node->get_floats(node->context, "scales", &job.scales);
  job.from = (const float*)inputs[0].data;
  job.to = (float*)outputs[0].data;
  job.channels = desc->shape[1];
  job.pixels = desc->shape[2] * desc->shape[3];
  job.block = inputs[0].format == HET_FORMAT_PLAIN       ? 1
              : inputs[0].format == HET_FORMAT_BLOCKED8  ? 8
              : inputs[0].format == HET_FORMAT_BLOCKED16 ? 16
                                                         : job.channels;
  const int64_t blocks = (job.channels + job.block - 1) / job.block;
  device->parallel_for(device->context, desc->shape[0] * blocks, 1, scale_rows, &job);
  return 0;
}

static const HetCustomOperator channel_scale = {
    sizeof(HetCustomOperator),
    "example",
    "ChannelScale",
    1,
    1,
    shapes,
    run,
    HET_FORMAT_PLAIN | HET_FORMAT_CHANNELS_LAST | HET_FORMAT_BLOCKED8 | HET_FORMAT_BLOCKED16};
static const HetCustomOperator* const operators[] = {&channel_scale};
static const HetCustomOperators table = {HET_CUSTOM_OPERATOR_VERSION, sizeof(HetCustomOperators), 1,
                                         operators};

__attribute__((visibility("default"))) const HetCustomOperators* het_custom_operators(
    uint32_t host_version) {
  return host_version >= HET_CUSTOM_OPERATOR_VERSION ? &table : NULL;
}
