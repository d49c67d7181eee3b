// A picture to a tensor in one pass: the arithmetic of inference/preprocess/preprocess.h, digit by digit. TO
// is the tensor's type: float, half (TO_HALF) or uchar.
#ifdef TO_HALF
#define PUT(v, p, i) vstore_half((v), (i), (p))
#elif defined(TO_BYTES)
#define PUT(v, p, i) ((p)[i] = convert_uchar_sat_rte(v))
#else
#define PUT(v, p, i) ((p)[i] = (v))
#endif

// As enum SourceKind of picture_kernel.cpp.
#define PACKED 0
#define PLANAR 1
#define SEMI_PLANAR_YUV 2
#define PLANAR_YUV 3
#define SEMI_PLANAR_WORDS 4
#define PACKED_YUV 5

// The planes are buffers of bytes or, with IMAGES, images of 8-bit elements.
#ifdef IMAGES
#define PLANE __read_only image2d_t
__constant sampler_t kNearest =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
int4 element(PLANE p, int x, int y) {
  return convert_int4_rte(read_imagef(p, kNearest, (int2)(x, y)) * 255.0f);
}
#else
#define PLANE __global const uchar*
#endif
#define PLANES PLANE p0, PLANE p1, PLANE p2

typedef struct {
  int4 strides;   // of the planes; w: bytes of a packed pixel
  uint4 offsets;  // where the planes begin
  int4 place;     // of red, green and blue in a pixel or among the planes; w: kind
  int8 yuv;       // luma scale and bias, V to red, U to green, V to green, U to blue
  int gray;
} Source;

int to_level(int value) {
  return clamp(value >> 6, 0, 255);
}

int chroma_term(int factor, int sample) {
  return ((sample - 128) * 256 * factor + (1 << 14)) >> 15;
}

// The first two bytes, of `bytes`, of an element of a plane.
int2 plane_element(const Source* s, PLANES, int plane, int x, int y, int bytes) {
#ifdef IMAGES
  if (plane == 0) return element(p0, x, y).xy;
  if (plane == 1) return element(p1, x, y).xy;
  return element(p2, x, y).xy;
#else
  __global const uchar* p = plane == 0 ? p0 : plane == 1 ? p1 : p2;
  const int stride = plane == 0 ? s->strides.x : plane == 1 ? s->strides.y : s->strides.z;
  const uint offset = plane == 0 ? s->offsets.x : plane == 1 ? s->offsets.y : s->offsets.z;
  p += (size_t)offset + (size_t)y * stride + x * bytes;
  return (int2)(p[0], p[bytes - 1]);
#endif
}

// Y, U and V of a source pixel; not U and V of gray.
int3 yuv_at(const Source* s, PLANES, int x, int y) {
  const int kind = s->place.w;
#ifndef IMAGES
  if (kind == PACKED_YUV) {
    __global const uchar* pair = p0 + s->offsets.x + (size_t)y * s->strides.x + x / 2 * 4;
    return (int3)(pair[s->place.x + x % 2 * 2], pair[s->place.y], pair[s->place.z]);
  }
  if (kind == SEMI_PLANAR_WORDS) {
    __global const uchar* luma = p0 + s->offsets.x + (size_t)y * s->strides.x + x * 2;
    __global const uchar* uv = p1 + s->offsets.y + (size_t)(y / 2) * s->strides.y + x / 2 * 4;
    const int3 words = (int3)(luma[0] | luma[1] << 8, uv[0] | uv[1] << 8, uv[2] | uv[3] << 8);
    return min((words + 128) >> 8, (int3)(255));
  }
#endif
  int3 yuv = (int3)(plane_element(s, p0, p1, p2, 0, x, y, 1).x, 0, 0);
  if (s->gray) return yuv;
  if (kind == SEMI_PLANAR_YUV) {
    yuv.yz = plane_element(s, p0, p1, p2, 1, x / 2, y / 2, 2);
  } else {
    yuv.y = plane_element(s, p0, p1, p2, 1, x / 2, y / 2, 1).x;
    yuv.z = plane_element(s, p0, p1, p2, 2, x / 2, y / 2, 1).x;
  }
  return yuv;
}

// Red, green and blue of a source pixel, or three times its luma.
int4 levels_at(const Source* s, PLANES, int x, int y) {
  const int kind = s->place.w;
  if (kind == PACKED) {
#ifdef IMAGES
    return element(p0, x, y);  // drivers put the channels in order
#else
    __global const uchar* p = p0 + s->offsets.x + (size_t)y * s->strides.x + x * s->strides.w;
    return (int4)(p[s->place.x], p[s->place.y], p[s->place.z], 0);
#endif
  }
  if (kind == PLANAR) {
    return (int4)(plane_element(s, p0, p1, p2, s->place.x, x, y, 1).x,
                  plane_element(s, p0, p1, p2, s->place.y, x, y, 1).x,
                  plane_element(s, p0, p1, p2, s->place.z, x, y, 1).x, 0);
  }
  const int3 yuv = yuv_at(s, p0, p1, p2, x, y);
  const int luma = ((yuv.x * 256 * s->yuv.s0) >> 16) + s->yuv.s1;
  if (s->gray) return (int4)(to_level(luma));
  return (int4)(to_level(luma + chroma_term(s->yuv.s2, yuv.z)),
                to_level(luma + chroma_term(s->yuv.s3, yuv.y) + chroma_term(s->yuv.s4, yuv.z)),
                to_level(luma + chroma_term(s->yuv.s5, yuv.y)), 0);
}

// Colours of a row between two of its pixels in 128ths of a level; gray of colours in x.
int4 in_row(const Source* s, PLANES, int2 columns, int weight, int x, int y) {
  const int4 first = levels_at(s, p0, p1, p2, x + columns.x, y);
  const int4 second = levels_at(s, p0, p1, p2, x + columns.y, y);
  const int4 rgb = (first * (2048 - weight) + second * weight) >> 4;
  if (!s->gray) return rgb;
  return (int4)((rgb.x * 4899 + rgb.y * 9617 + rgb.z * 1868 + (1 << 13)) >> 14);
}

// A pixel of the tensor a work-item. `samples` has first, second and weight of every column of the
// destination, then of every row.
__kernel void preprocess(PLANES, int4 strides, uint4 offsets, int4 place, int8 yuv, int gray,
                         __global const int* samples, int4 source, int4 destination, int4 target,
                         int4 steps, int4 color_of_channel, float4 gain, float4 bias, float4 pad,
                         __global TO* dst) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= target.x || y >= target.y) return;
  const int dx = x - destination.x;
  const int dy = y - destination.y;
  float4 value = pad;
  if (dx >= 0 && dx < destination.z && dy >= 0 && dy < destination.w) {
    const Source s = {strides, offsets, place, yuv, gray};
    __global const int* column = samples + 3 * dx;
    __global const int* row = samples + 3 * (destination.z + dy);
    const int2 columns = (int2)(column[0], column[1]);
    const int4 top = in_row(&s, p0, p1, p2, columns, column[2], source.x, source.y + row[0]);
    const int4 bottom = in_row(&s, p0, p1, p2, columns, column[2], source.x, source.y + row[1]);
    const int4 quarters = ((top * (2048 - row[2])) >> 16) + ((bottom * row[2]) >> 16);
    // Both operands are vectors, here and above: Oclgrind 21.10 reads others behind a scalar.
    const int4 level = min((quarters + 2) >> 2, (int4)(255));
    const int* levels = (const int*)&level;
    value = (float4)(levels[color_of_channel.x], levels[color_of_channel.y],
                     levels[color_of_channel.z], 0.0f);
  }
  value = value * gain + bias;
  dst += target.w + (size_t)y * steps.y + (size_t)x * steps.z;
  PUT(value.x, dst, 0);
  if (target.z > 1) {
    PUT(value.y, dst, steps.x);
    PUT(value.z, dst, 2 * steps.x);
  }
}
