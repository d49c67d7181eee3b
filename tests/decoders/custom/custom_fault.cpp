// A custom decoder with a fault, which HET_FAULT names; built once for each.
#include <cmath>
#include <stdexcept>

#include "inference/custom_decoder.h"

namespace {

int32_t create(const HetDecoderSettings*, const HetResultSink* sink, void** instance) {
  *instance = nullptr;
#ifdef HET_FAULT_CREATE
  sink->set_error(sink->context, "no licence");
  return 7;
#else
  (void)sink;
  return 0;
#endif
}

int32_t decode(void*, const HetTensorView*, uint32_t, const HetPictureView*,
               const HetResultSink* sink) {
#ifdef HET_FAULT_EXCEPTION
  (void)sink;
  throw std::runtime_error("out of luck");
#else
  HetDetection box = {sizeof(HetDetection), 0, 0, 5, 5, 0.5f, 1, nullptr};
  sink->add_detection(sink->context, &box);
  box.x_max = NAN;
  const int32_t code = sink->add_detection(sink->context, &box);
  HetKeypoints points = {};
  points.struct_size = sizeof(points);
  points.point_count = 1u << 30;
  return code + sink->add_keypoints(sink->context, &points);
#endif
}

const HetCustomDecoder kTable = {
#ifdef HET_FAULT_VERSION
    99,
#else
    HET_CUSTOM_DECODER_VERSION,
#endif
#ifdef HET_FAULT_SIZE
    8,
#else
    sizeof(HetCustomDecoder),
#endif
    "fault", create, decode, nullptr};

}  // namespace

#ifdef HET_FAULT_SYMBOL
extern "C" __attribute__((visibility("default"))) int something_else() {
  return kTable.version;
}
#else
extern "C" __attribute__((visibility("default"))) const HetCustomDecoder* het_custom_decoder(
    uint32_t) {
#ifdef HET_FAULT_REFUSAL
  return nullptr;
#else
  return &kTable;
#endif
}
#endif
