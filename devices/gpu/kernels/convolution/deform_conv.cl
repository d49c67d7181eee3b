// Sampled pictures as rows of a product: dst is [picture, pixel, channel, tap]. A work-item takes
// WIDTH channels of one offset group under one tap at one output pixel; its position is between
// four pixels of src, which lies channels last, those outside count as 0. BORDER: so does a
// position before the first pixel, and behind the last one there is that pixel again.
typedef struct {
  int low, high;
  float low_weight, high_weight;  // 0 for nothing
} Between;

Between between_pixels(float position, int size) {
  Between found;
#ifdef BORDER
  const bool inside = position >= 0.0f && position < (float)size;
#else
  const bool inside = position > -1.0f && position < (float)size;
#endif
  const float at = inside ? position : 0.0f;
  const float below = floor(at);
  const float part = at - below;
  const float rest = 1.0f - part;
  const int low = (int)below;
#ifdef BORDER
  const int high = min(low + 1, size - 1);
#else
  const int high = low + 1;
#endif
  found.low = max(low, 0);
  found.high = min(high, size - 1);
  found.low_weight = inside && low >= 0 ? rest : 0.0f;
  found.high_weight = inside && high < size ? part : 0.0f;
  return found;
}

__kernel void deform_columns(__global const stored* src, __global const float* offsets,
                             __global const float* mask, __global stored* dst, int pixels,
                             int chunks, int ic, int group_channels, int ih, int iw, int oh, int ow,
                             int kh, int kw, int sh, int sw, int dh, int dw, int ph, int pw) {
  const int taps = kh * kw;
  const int entries = ic / group_channels * taps;
  const uint id = get_global_id(0);
  const int chunk = (int)(id % (uint)chunks) * WIDTH;
  uint rest = id / (uint)chunks;
  const int entry = (int)(rest % (uint)entries);
  const int pixel = (int)(rest / (uint)entries);
  if (pixel >= pixels) return;
  const int area = oh * ow;
  const int picture = pixel / area;
  const int place = pixel - picture * area;
  const int tap = entry % taps;
  const int channel = entry / taps * group_channels + chunk;
  const int count = group_channels - chunk;
  const size_t row = (size_t)picture * entries + entry;
  const float y = (float)(place / ow * sh - ph + tap / kw * dh) + offsets[row * 2 * area + place];
  const float x =
      (float)(place % ow * sw - pw + tap % kw * dw) + offsets[(row * 2 + 1) * area + place];
  const Between down = between_pixels(y, ih);
  const Between across = between_pixels(x, iw);
  float factor = 1.0f;
  if (mask) factor = mask[row * area + place];
  floatw sum = (floatw)(0.0f);
  for (int corner = 0; corner < 4; ++corner) {
    const bool lower = corner >= 2;
    const bool right = (corner & 1) != 0;
    const float weight = (lower ? down.high_weight : down.low_weight) *
                         (right ? across.high_weight : across.low_weight);
    // A weight of zero must not turn an infinity into NaN.
    if (weight == 0.0f) continue;
    const int at =
        (picture * ih + (lower ? down.high : down.low)) * iw + (right ? across.high : across.low);
    sum += weight * load_lanes(src + (size_t)at * ic + channel, count);
  }
  float lanes[WIDTH];
  HET_JOIN(vstore, WIDTH)(sum * factor, 0, lanes);
  dst += ((size_t)pixel * ic + channel) * taps + tap;
  const int channels = min(WIDTH, count);
  for (int i = 0; i < channels; ++i) STORE(lanes[i], dst, i * taps);
}
