// Convolutions over pictures with channels last as products of matrices in local memory, for GPUs:
// a work-group of 64 computes 64 pixels x 64 channels, a work-item 8 pixels x 8 channels in
// registers. Loops over kh, kw, ic, DEPTH channels at a time. Weights are
// [group][tile][kh][kw][ic][64]. WIDTH is 4.
#define DEPTH 16
#define TILE 64

// Up to four of `count` elements, zeros behind them.
float4 load_few(__global const stored* p, int count) {
  if (count >= 4) return LOAD4(p);
  float4 v = (float4)(0.0f);
  if (count > 0) v.s0 = LOAD(p, 0);
  if (count > 1) v.s1 = LOAD(p, 1);
  if (count > 2) v.s2 = LOAD(p, 2);
  return v;
}

void store_few(float4 v, __global stored* p, int count) {
  if (count >= 4) {
    STORE4(v, p);
    return;
  }
  if (count > 0) STORE(v.s0, p, 0);
  if (count > 1) STORE(v.s1, p, 1);
  if (count > 2) STORE(v.s2, p, 2);
}

// Sizes as in conv_direct.cl; groups begin src_step and dst_step elements after each other.
__kernel __attribute__((reqd_work_group_size(TILE, 1, 1))) void conv_tiled(
    __global const stored* src, __global const stored* weights, __global const float* bias,
    __global const stored* addend, __global stored* dst, int pixels, int tiles, int run, int pitch,
    int ih, int iw, int oh, int ow, int kh, int kw, int sh, int sw, int dh, int dw, int ph, int pw,
    int src_step, int dst_step, int group_oc, int oc, int dst_h, int dst_w, int osy, int osx,
    int oy, int ox NUMBER_PARAMETERS) {
  __local float4 left_side[DEPTH * TILE / 4];   // [channel][pixel]
  __local float4 right_side[DEPTH * TILE / 4];  // [ic][oc]
  __local float* const scattered = (__local float*)left_side;
  const int me = get_local_id(0);
  const int pixel_groups = (pixels + TILE - 1) / TILE;
  const int column = (int)get_group_id(0) / pixel_groups;
  const int first = ((int)get_group_id(0) - column * pixel_groups) * TILE;
  const int group = column / tiles;
  const int channel = (column - group * tiles) * TILE;
  src += (size_t)group * src_step;
  weights += (size_t)column * kh * kw * run * TILE;

  // What this work-item fetches: four neighbouring channels of four pixels.
  const int fetched_channel = me % 4 * 4;
  const int fetched_pixel = me / 4;
  int top[4], left[4], image[4];
  for (int j = 0; j < 4; ++j) {
    const int pixel = first + fetched_pixel + 16 * j;
    const int row = pixel / ow;
    const int n = row / oh;
    top[j] = pixel < pixels ? (row - n * oh) * sh - ph : ih;
    left[j] = (pixel - row * ow) * sw - pw;
    image[j] = n * ih;
  }
  float4 sums[16];
  for (int i = 0; i < 16; ++i) sums[i] = (float4)(0.0f);
  const int across = me % 8;
  const int down = me / 8;
  for (int h = 0; h < kh; ++h) {
    for (int w = 0; w < kw; ++w) {
      for (int depth = 0; depth < run; depth += DEPTH) {
        const int count = run - depth - fetched_channel;
        for (int j = 0; j < 4; ++j) {
          const int y = top[j] + h * dh;
          const int x = left[j] + w * dw;
          float4 v = (float4)(0.0f);
          // Negative or beyond the end: both are large without a sign.
          if ((uint)y < (uint)ih && (uint)x < (uint)iw) {
            v = load_few(src + (size_t)((image[j] + y) * iw + x) * pitch + depth + fetched_channel,
                         count);
          }
          const int at = fetched_channel * TILE + fetched_pixel + 16 * j;
          scattered[at] = v.s0;
          scattered[at + TILE] = v.s1;
          scattered[at + 2 * TILE] = v.s2;
          scattered[at + 3 * TILE] = v.s3;
          const int place = me + TILE * j;
          right_side[place] =
              place / (TILE / 4) < run - depth ? LOAD4(weights + 4 * place) : (float4)(0.0f);
        }
        weights += min(DEPTH, run - depth) * TILE;
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 4
        for (int k = 0; k < DEPTH; ++k) {
          const float4 a = left_side[k * (TILE / 4) + down * 2];
          const float4 b = left_side[k * (TILE / 4) + down * 2 + 1];
          const float4 f = right_side[k * (TILE / 4) + across];
          const float4 g = right_side[k * (TILE / 4) + across + 8];
          sums[0] = fma((float4)(a.s0), f, sums[0]);
          sums[1] = fma((float4)(a.s0), g, sums[1]);
          sums[2] = fma((float4)(a.s1), f, sums[2]);
          sums[3] = fma((float4)(a.s1), g, sums[3]);
          sums[4] = fma((float4)(a.s2), f, sums[4]);
          sums[5] = fma((float4)(a.s2), g, sums[5]);
          sums[6] = fma((float4)(a.s3), f, sums[6]);
          sums[7] = fma((float4)(a.s3), g, sums[7]);
          sums[8] = fma((float4)(b.s0), f, sums[8]);
          sums[9] = fma((float4)(b.s0), g, sums[9]);
          sums[10] = fma((float4)(b.s1), f, sums[10]);
          sums[11] = fma((float4)(b.s1), g, sums[11]);
          sums[12] = fma((float4)(b.s2), f, sums[12]);
          sums[13] = fma((float4)(b.s2), g, sums[13]);
          sums[14] = fma((float4)(b.s3), f, sums[14]);
          sums[15] = fma((float4)(b.s3), g, sums[15]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
      }
    }
  }
  for (int p = 0; p < 8; ++p) {
    const int pixel = first + down * 8 + p;
    if (pixel >= pixels) break;
    const int row = pixel / ow;
    const int n = row / oh;
    const size_t at =
        ((size_t)(n * dst_h + oy + (row - n * oh) * osy) * dst_w + ox + (pixel - row * ow) * osx) *
            oc + (size_t)group * dst_step;
    for (int b = 0; b < 2; ++b) {
      const int c = channel + (across + 8 * b) * 4;
      const int count = group_oc - c;
      if (count <= 0) break;
      float4 result = sums[p * 2 + b];
#ifdef BIAS
      result += vload4(0, bias + group * group_oc + c);
#endif
      float4 other = (float4)(0.0f);
#ifdef SUM
      other = load_few(addend + at + c, count);
#endif
      store_few(tail(result, other NUMBER_VALUES), dst + at + c, count);
    }
  }
}
