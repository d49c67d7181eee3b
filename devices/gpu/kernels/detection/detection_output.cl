// het.DetectionOutput in parts: boxes and keys of all priors; keys are sorted by
// kernels/detection/select_keys.cl; duplicates leave, a work-group a row; what is left finds its place by
// counting. A row is a class of an image or, with BEST_CLASS, an image. In float, rounded as in the
// reference: functions that compute boxes do without contraction.

// As BoxCode counts.
#define CORNER 0
#define CENTER_SIZE 1

uint rank_of(float v) {
  const uint bits = v == 0.0f ? 0u : as_uint(v);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// With the refined form, priors below the objectness have a score of 0 in every class.
float score_of(__global const float* scores, __global const float* objectness, size_t prior,
               int label, int classes, int background, float least) {
  if (objectness && objectness[prior * 2 + 1] < least) return label == background ? 1.0f : 0.0f;
  return scores[prior * classes + label];
}

// clamp() makes a number of NaN.
float4 inside_picture(float4 box) { return select(clamp(box, 0.0f, 1.0f), box, isnan(box)); }

// Offsets from a reference box (x_min, y_min, x_max, y_max) to a box.
float4 decoded(float4 box, float4 logits, float4 variance, int code, int clip) {
#pragma OPENCL FP_CONTRACT OFF
  const float4 offset = variance * logits;
  const float width = box.z - box.x;
  const float height = box.w - box.y;
  if (code == CORNER) {
    box += offset;
  } else if (code == CENTER_SIZE) {
    const float x = offset.x * width + (box.x + box.z) / 2.0f;
    const float y = offset.y * height + (box.y + box.w) / 2.0f;
    const float half_width = exp(offset.z) * width / 2.0f;
    const float half_height = exp(offset.w) * height / 2.0f;
    box = (float4)(x - half_width, y - half_height, x + half_width, y + half_height);
  } else {
    box += offset * (float4)(width, height, width, height);
  }
  return clip ? inside_picture(box) : box;
}

// boxes[image][prior][location class].
__kernel void decode_boxes(__global const float* logits, __global const float* priors,
                           __global const float* refinement, __global float* boxes, int images,
                           int count, int location_classes, int set_size, int variances_at,
                           int prior_size, float input_width, float input_height, int code,
                           int clip) {
  const int i = get_global_id(0);
  const int image = get_global_id(1);
  if (i >= count * location_classes || image >= images) return;
  const int prior = i / location_classes;
  priors += (size_t)image * set_size;
  __global const float* const sides = priors + prior * prior_size + (prior_size == 5 ? 1 : 0);
  float4 box = vload4(0, sides);
  // Priors in pixels.
  if (prior_size == 5) box /= (float4)(input_width, input_height, input_width, input_height);
  float4 variance = (float4)(1.0f);
  if (variances_at > 0) variance = vload4(prior, priors + variances_at);
  const size_t at = (size_t)image * count * location_classes + i;
  if (refinement) box = decoded(box, vload4(at, refinement), variance, code, clip);
  vstore4(decoded(box, vload4(at, logits), variance, code, clip), at, boxes);
}

// keys[row][prior]; 0 for priors that do not compete.
__kernel void make_keys(__global const float* scores, __global const float* objectness,
                        __global ulong* keys, __global int* labels, int images, int count,
                        int classes, int background, float threshold, float least) {
  const int prior = get_global_id(0);
  const int row = get_global_id(1);
#ifdef BEST_CLASS
  if (prior >= count || row >= images) return;
  scores += (size_t)row * count * classes;
  if (objectness) objectness += (size_t)row * count * 2;
  float best = -1.0f;
  int best_label = 0;
  for (int label = 1; label < classes; ++label) {
    if (label == background) continue;
    const float score = score_of(scores, objectness, prior, label, classes, background, least);
    if (score > best) {
      best = score;
      best_label = label;
    }
  }
  labels[(size_t)row * count + prior] = best_label;
  const int competes = best_label > 0 && best >= threshold;
#else
  if (prior >= count || row >= images * classes) return;
  const int image = row / classes;
  const int label = row % classes;
  scores += (size_t)image * count * classes;
  if (objectness) objectness += (size_t)image * count * 2;
  const float best = score_of(scores, objectness, prior, label, classes, background, least);
  const int competes = label != background && best > threshold;
#endif
  keys[(size_t)row * count + prior] =
      competes ? (ulong)rank_of(best) << 32 | (uint)~prior : 0;
}

float overlap(float4 a, float4 b) {
#pragma OPENCL FP_CONTRACT OFF
  const float width = fmin(a.z, b.z) - fmax(a.x, b.x);
  const float height = fmin(a.w, b.w) - fmax(a.y, b.y);
  if (!(width > 0.0f) || !(height > 0.0f)) return 0.0f;
  const float both = width * height;
  return both / ((a.z - a.x) * (a.w - a.y) + (b.z - b.x) * (b.w - b.y) - both);
}

// What a row's sorted key number i stands for.
int prior_of(ulong key) { return ~(int)(uint)key; }

#ifdef BEST_CLASS
#define LABEL_OF(labels, row, prior) labels[(size_t)(row) * count + (prior)]
#define IMAGE_OF(row) (row)
#else
#define LABEL_OF(labels, row, prior) ((row) % classes)
#define IMAGE_OF(row) ((row) / classes)
#endif

float4 box_of(__global const float* boxes, int image, int prior, int label, int count,
              int location_classes) {
  return vload4(((size_t)image * count + prior) * location_classes +
                    (location_classes == 1 ? 0 : label),
                boxes);
}

// What the work-items of a row know together.
#define FOUND 0
#define OVERLAPS 1
#define OF_CLASS 2
#if LANES > 1
#define SYNCHRONISE barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define ADD_TO(place, number) atomic_add(&(place), number)
#else
#define SYNCHRONISE
#define ADD_TO(place, number) (place) += (number)
#endif

// kept[row][..]: indices of the sorted keys that no better one of their class overlaps, kept_count
// of them. LANES work-items compare a candidate with those kept so far.
__kernel void suppress(__global const ulong* keys, __global const float* boxes,
                       __global const int* labels, __global int* kept, __global int* kept_count,
                       int rows, int count, int classes, int location_classes, int k,
                       int most_of_class, float threshold) {
#if LANES > 1
  __local int state[3];
  const int row = get_global_id(1);
  const int lane = get_local_id(0);
#else
  int state[3];
  const int row = get_global_id(0);
  const int lane = 0;
  if (row >= rows) return;
#endif
  keys += (size_t)row * k;
  kept += (size_t)row * k;
  // Keys of 0 come last.
  int candidates = 0;
  for (int behind = k; candidates < behind;) {
    const int middle = (candidates + behind) / 2;
    if (keys[middle] != 0) {
      candidates = middle + 1;
    } else {
      behind = middle;
    }
  }
  if (lane == 0) {
    state[FOUND] = 0;
    state[OVERLAPS] = 0;
    state[OF_CLASS] = 0;
  }
  SYNCHRONISE;
  for (int i = 0; i < candidates; ++i) {
    const int prior = prior_of(keys[i]);
    const int label = LABEL_OF(labels, row, prior);
    const float4 box = box_of(boxes, IMAGE_OF(row), prior, label, count, location_classes);
    int hits = 0;
    int same = 0;
    for (int other = lane; other < state[FOUND] && hits == 0; other += LANES) {
      const int other_prior = prior_of(keys[kept[other]]);
#ifdef BEST_CLASS
      if (LABEL_OF(labels, row, other_prior) != label) continue;
#endif
      ++same;
      const float4 other_box =
          box_of(boxes, IMAGE_OF(row), other_prior, label, count, location_classes);
      if (overlap(box, other_box) > threshold) hits = 1;
    }
    if (hits) ADD_TO(state[OVERLAPS], hits);
    if (same) ADD_TO(state[OF_CLASS], same);
    SYNCHRONISE;
    if (lane == 0) {
      if (state[OVERLAPS] == 0 && (most_of_class < 0 || state[OF_CLASS] < most_of_class)) {
        kept[state[FOUND]] = i;
        state[FOUND] += 1;
      }
      state[OVERLAPS] = 0;
      state[OF_CLASS] = 0;
    }
    SYNCHRONISE;
  }
  if (lane == 0) kept_count[row] = state[FOUND];
}

// Best score first; then the first prior, then the first class. Keys of rows of one image.
int is_better(ulong a, int a_label, ulong b, int b_label) {
  return a > b || (a == b && a_label < b_label);
}

// survives[row][slot]: 1 for those among the image's best `limit`; all with a negative limit.
__kernel void rank_detections(__global const ulong* keys, __global const int* labels,
                              __global const int* kept, __global const int* kept_count,
                              __global int* survives, int rows, int rows_of_image, int count,
                              int classes, int k, int limit) {
  const int slot = get_global_id(0);
  const int row = get_global_id(1);
  if (row >= rows || slot >= k || slot >= kept_count[row]) return;
  const size_t at = (size_t)row * k + slot;
  const ulong own = keys[(size_t)row * k + kept[at]];
  const int label = LABEL_OF(labels, row, prior_of(own));
  const int first = row / rows_of_image * rows_of_image;
  int before = 0;
  if (limit >= 0) {
    for (int other = first; other < first + rows_of_image; ++other) {
      const size_t start = (size_t)other * k;
      for (int s = 0; s < kept_count[other]; ++s) {
        const ulong key = keys[start + kept[start + s]];
        const int better = is_better(key, LABEL_OF(labels, other, prior_of(key)), own, label);
        // A row of one class is sorted.
        if (!better && rows_of_image > 1) break;
        before += better;
      }
    }
  }
  survives[at] = limit < 0 || before < limit;
}

int detections_of(__global const int* kept_count, int first, int rows_of_image, int limit) {
  int total = 0;
  for (int row = first; row < first + rows_of_image; ++row) total += kept_count[row];
  return limit < 0 ? total : min(total, limit);
}

__kernel void clear_detections(__global float* dst, int elements) {
  const int i = get_global_id(0);
  if (i < elements) dst[i] = 0.0f;
}

// Rows of 7 by image, class and score; -1 behind the last one. dst was cleared.
__kernel void write_detections(__global const ulong* keys, __global const float* boxes,
                               __global const int* labels, __global const float* scores,
                               __global const float* objectness, __global const int* kept,
                               __global const int* kept_count, __global const int* survives,
                               __global float* dst, int rows, int rows_of_image, int count,
                               int classes, int location_classes, int k, int limit, int capacity,
                               int background, float least, int clip) {
  const int slot = get_global_id(0);
  const int row = get_global_id(1);
  if (row >= rows || slot >= k) return;
  if (row == 0 && slot == 0) {
    int total = 0;
    for (int first = 0; first < rows; first += rows_of_image) {
      total += detections_of(kept_count, first, rows_of_image, limit);
    }
    if (total < capacity) dst[(size_t)total * 7] = -1.0f;
  }
  const size_t at = (size_t)row * k + slot;
  if (slot >= kept_count[row] || !survives[at]) return;
  const ulong own = keys[(size_t)row * k + kept[at]];
  const int prior = prior_of(own);
  const int label = LABEL_OF(labels, row, prior);
  const int image = IMAGE_OF(row);
  const int first = image * rows_of_image;
  int place = 0;
  for (int i = 0; i < image; ++i) {
    place += detections_of(kept_count, i * rows_of_image, rows_of_image, limit);
  }
  for (int other = first; other < first + rows_of_image; ++other) {
    const size_t start = (size_t)other * k;
    for (int s = 0; s < kept_count[other]; ++s) {
      if (!survives[start + s]) continue;
      const ulong key = keys[start + kept[start + s]];
      const int other_label = LABEL_OF(labels, other, prior_of(key));
      place += other_label < label ||
               (other_label == label && is_better(key, other_label, own, label));
    }
  }
  if (place >= capacity) return;
  float4 box = box_of(boxes, image, prior, label, count, location_classes);
  if (clip) box = inside_picture(box);
  scores += (size_t)image * count * classes;
  if (objectness) objectness += (size_t)image * count * 2;
  dst += (size_t)place * 7;
  dst[0] = image;
#ifdef BEST_CLASS
  dst[1] = label - 1;
#else
  dst[1] = label;
#endif
  dst[2] = score_of(scores, objectness, prior, label, classes, background, least);
  vstore4(box, 0, dst + 3);
}
