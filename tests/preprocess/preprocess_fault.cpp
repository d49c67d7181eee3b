// A preprocessing library with a fault, which HET_FAULT names; built once for each.
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "inference/custom_preprocess.h"

namespace {

int32_t create(const HetTensorTarget*, const HetPictureSource* host, void** instance) {
  *instance = nullptr;
#ifdef HET_FAULT_CREATE
  host->set_error(host->context, "no licence");
  return 7;
#else
  (void)host;
  return 0;
#endif
}

int32_t convert(void*, [[maybe_unused]] const HetPictureSource* picture,
                [[maybe_unused]] const HetTensorTarget* input) {
#if defined(HET_FAULT_EXCEPTION)
  throw std::runtime_error("out of luck");
#elif defined(HET_FAULT_PIXELS)
  uint8_t pixel[3];
  HetPixelRequest request = {
      sizeof(HetPixelRequest), picture->width - 1, 0, 2, 1, 1, 1, HET_COLOUR_RGB, pixel, 3};
  return picture->read_pixels(picture->context, &request);
#elif defined(HET_FAULT_STRIDE)
  uint8_t pixel[3];
  HetPixelRequest request = {sizeof(HetPixelRequest), 0, 0, 1, 1, 2, 1, HET_COLOUR_RGB, pixel, 3};
  return picture->read_pixels(picture->context, &request);
#elif defined(HET_FAULT_COLOUR)
  uint8_t pixel[3];
  HetPixelRequest request = {sizeof(HetPixelRequest), 0, 0, 1, 1, 1, 1, 9, pixel, 3};
  return picture->read_pixels(picture->context, &request);
#else  // no fault: the tensor as it would have been, its first value marked
  if (const int32_t code = picture->fill_tensor(picture->context)) return code;
  *static_cast<float*>(input->data) = -1.0f;
  return 0;
#endif
}

int32_t place(void*, int32_t, int32_t, HetRegionPlace* where) {
#ifdef HET_FAULT_PLACE
  where->scale_x = NAN;
#else
  where->offset_x += 1.0f;
#endif
  return 0;
}

const HetCustomPreprocess kTable = {
#ifdef HET_FAULT_VERSION
    99,
#else
    HET_CUSTOM_PREPROCESS_VERSION,
#endif
#ifdef HET_FAULT_SIZE
    8,
#else
    sizeof(HetCustomPreprocess),
#endif
    "fault", create, convert, place, nullptr};

}  // namespace

#ifdef HET_FAULT_SYMBOL
extern "C" __attribute__((visibility("default"))) int something_else() {
  return kTable.version;
}
#else
extern "C" __attribute__((visibility("default"))) const HetCustomPreprocess* het_custom_preprocess(
    uint32_t) {
#ifdef HET_FAULT_REFUSAL
  return nullptr;
#else
  return &kTable;
#endif
}
#endif
