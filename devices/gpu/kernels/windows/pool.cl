// Pooling over pictures, channels last: a work-item computes WIDTH channels of one position. `win`
// lists in, out, kernel, strides, dilations, pads before and after, three numbers each (d, h, w).
// BYTES is char or uchar where the picture has such; else values are `stored`.
#define IN(d) win[d]
#define OUT(d) win[3 + (d)]
#define KERNEL(d) win[6 + (d)]
#define STRIDE(d) win[9 + (d)]
#define DILATION(d) win[12 + (d)]
#define BEFORE(d) win[15 + (d)]
#define AFTER(d) win[18 + (d)]

#ifdef BYTES
typedef BYTES element;
#define GET(p, i) ((float)(p)[i])
#define PUT(v, p, i) ((p)[i] = (BYTES)(v))

floatw get_some(__global const element* p, int count) {
  if (count >= WIDTH) return HET_JOIN(convert_float, WIDTH)(HET_JOIN(vload, WIDTH)(0, p));
  float lanes[WIDTH];
  for (int i = 0; i < WIDTH; ++i) lanes[i] = i < count ? GET(p, i) : 0.0f;
  return HET_JOIN(vload, WIDTH)(0, lanes);
}

void put_some(floatw v, __global element* p, int count) {
  if (count >= WIDTH) {
    HET_JOIN(vstore, WIDTH)(HET_JOIN(HET_JOIN(convert_, BYTES), WIDTH)(v), 0, p);
    return;
  }
  float lanes[WIDTH];
  HET_JOIN(vstore, WIDTH)(v, 0, lanes);
  for (int i = 0; i < count; ++i) PUT(lanes[i], p, i);
}
#else
typedef stored element;
#define GET(p, i) LOAD(p, i)
#define PUT(v, p, i) STORE(v, p, i)
#define get_some(p, count) load_lanes(p, count)
#define put_some(v, p, count) store_lanes(v, p, count)
#endif

// Input coordinates under the window at position o of dimension d: from x, below y.
int2 covered(__constant const int* win, int d, int o) {
  const int first = o * STRIDE(d) - BEFORE(d);
  const int skipped = first >= 0 ? 0 : (-first + DILATION(d) - 1) / DILATION(d);
  return (int2)(first + skipped * DILATION(d),
                min(IN(d), first + (KERNEL(d) - 1) * DILATION(d) + 1));
}

// Elements of a dimension that count where padding does: those of the padded input.
int padded(__constant const int* win, int d, int o) {
  const int room = IN(d) + AFTER(d) - (o * STRIDE(d) - BEFORE(d));
  return min(KERNEL(d), (room + DILATION(d) - 1) / DILATION(d));
}

int steps_of(int2 range, int step) { return max(0, (range.y - range.x + step - 1) / step); }

// `position` becomes the picture's number. A work-item takes `run` vectors of channels.
#define PLACE                                                            \
  const uint id = get_global_id(0);                                      \
  uint position = id / (uint)chunks;                                     \
  if (position >= (uint)positions) return;                               \
  const int first = (int)(id - position * (uint)chunks) * run * WIDTH;   \
  const int end = min(channels, first + run * WIDTH);                    \
  dst += (size_t)position * channels;                                    \
  const int ow = (int)(position % (uint)OUT(2));                         \
  position /= (uint)OUT(2);                                              \
  const int oh = (int)(position % (uint)OUT(1));                         \
  position /= (uint)OUT(1);                                              \
  const int od = (int)(position % (uint)OUT(0));                         \
  position /= (uint)OUT(0);                                              \
  const int2 ds = covered(win, 0, od);                                   \
  const int2 hs = covered(win, 1, oh);                                   \
  const int2 ws = covered(win, 2, ow);                                   \
  src += (size_t)position * IN(0) * IN(1) * IN(2) * channels;

#define FOR_EACH_CHANNEL for (int channel = first; channel < end; channel += WIDTH)

#define FOR_EACH_ELEMENT                           \
  for (int d = ds.x; d < ds.y; d += DILATION(0))   \
    for (int h = hs.x; h < hs.y; h += DILATION(1)) \
      for (int w = ws.x; w < ws.y; w += DILATION(2))

#define ELEMENT                                                                     \
  get_some(src + ((size_t)(d * IN(1) + h) * IN(2) + w) * channels + channel, lanes)

// NaN is larger than everything; a window over padding only gives `lowest`.
__kernel void max_pool(__global const element* src, __global element* dst,
                       __constant const int* win, int channels, int chunks, int run, int positions,
                       float lowest) {
  PLACE
  FOR_EACH_CHANNEL {
    const int lanes = channels - channel;
    floatw best = (floatw)(lowest);
    FOR_EACH_ELEMENT {
      const floatw value = ELEMENT;
      best = select(best, value, (value > best) | isnan(value));
    }
    put_some(best, dst + channel, lanes);
  }
}

__kernel void average_pool(__global const element* src, __global element* dst,
                           __constant const int* win, int channels, int chunks, int run,
                           int positions, int include_pad) {
  PLACE
  const int count = include_pad
                        ? padded(win, 0, od) * padded(win, 1, oh) * padded(win, 2, ow)
                        : steps_of(ds, DILATION(0)) * steps_of(hs, DILATION(1)) *
                              steps_of(ws, DILATION(2));
  FOR_EACH_CHANNEL {
    const int lanes = channels - channel;
    floatw sum = (floatw)(0.0f);
    FOR_EACH_ELEMENT sum += ELEMENT;
    put_some(count > 0 ? sum / (float)count : (floatw)(0.0f), dst + channel, lanes);
  }
}

// (sum of |x|^p)^(1/p)
__kernel void lp_pool(__global const element* src, __global element* dst,
                      __constant const int* win, int channels, int chunks, int run, int positions,
                      int p) {
  PLACE
  FOR_EACH_CHANNEL {
    const int lanes = channels - channel;
    floatw sum = (floatw)(0.0f);
    FOR_EACH_ELEMENT {
      const floatw value = fabs(ELEMENT);
      sum += p == 1 ? value : p == 2 ? value * value : pow(value, (floatw)((float)p));
    }
    put_some(p == 1 ? sum : p == 2 ? sqrt(sum) : pow(sum, (floatw)(1.0f / (float)p)),
             dst + channel, lanes);
  }
}

// Means of all pixels: parts of a picture first, where there are more work-items than channels.
__kernel void sum_pixels(__global const element* src, __global float* dst, int channels, int chunks,
                         int pixels, int parts, int part, int pictures) {
  const uint id = get_global_id(0);
  const uint row = id / (uint)chunks;
  if (row >= (uint)(parts * pictures)) return;
  const int channel = (int)(id - row * (uint)chunks) * WIDTH;
  const int lanes = channels - channel;
  const int begin = (int)(row % (uint)parts) * part;
  const int count = min(part, pixels - begin);
  src += ((size_t)(row / (uint)parts) * pixels + begin) * channels + channel;
  dst += (size_t)row * channels + channel;
  floatw sum = (floatw)(0.0f);
  for (int i = 0; i < count; ++i) sum += get_some(src + (size_t)i * channels, lanes);
  if (lanes >= WIDTH) {
    HET_JOIN(vstore, WIDTH)(sum, 0, dst);
    return;
  }
  float kept[WIDTH];
  HET_JOIN(vstore, WIDTH)(sum, 0, kept);
  for (int i = 0; i < lanes; ++i) dst[i] = kept[i];
}

__kernel void mean_parts(__global const float* src, __global element* dst, int channels, int parts,
                         int pictures, float factor) {
  const int id = get_global_id(0);
  if (id >= channels * pictures) return;
  const int channel = id % channels;
  src += (size_t)(id / channels) * parts * channels + channel;
  float sum = 0.0f;
  for (int i = 0; i < parts; ++i) sum += src[(size_t)i * channels];
  PUT(sum * factor, dst, id);
}

// Maxima with the places where they were found, plain; the first of equal ones wins. `planes` are
// pictures times channels.
__kernel void max_pool_places(__global const element* src, __global element* dst,
                              __global long* places, __constant const int* win, int count,
                              int column_major, float lowest) {
  const int id = get_global_id(0);
  if (id >= count) return;
  int rest = id;
  const int ow = rest % OUT(2);
  rest /= OUT(2);
  const int oh = rest % OUT(1);
  rest /= OUT(1);
  const int od = rest % OUT(0);
  const long plane = rest / OUT(0);
  const int2 ds = covered(win, 0, od);
  const int2 hs = covered(win, 1, oh);
  const int2 ws = covered(win, 2, ow);
  const long size = (long)IN(0) * IN(1) * IN(2);
  src += plane * size;
  float best = lowest;
  int at_d = 0;
  int at_h = 0;
  int at_w = 0;
  bool found = false;
  FOR_EACH_ELEMENT {
    const float value = GET(src, (d * IN(1) + h) * IN(2) + w);
    if (!found || value > best || (isnan(value) && !isnan(best))) {
      best = value;
      at_d = d;
      at_h = h;
      at_w = w;
      found = true;
    }
  }
  PUT(best, dst, id);
  places[id] = plane * size + (column_major ? ((long)at_w * IN(1) + at_h) * IN(0) + at_d
                                            : ((long)at_d * IN(1) + at_h) * IN(2) + at_w);
}
