// het.CTCGreedyDecoder. best_classes: the first largest score of every step and sequence;
// decode_classes: a sequence's classes without blanks and repetitions, -1 behind them. In float.
__kernel void best_classes(__global const stored* scores, __global int* best, int rows,
                           int classes) {
  const int row = get_global_id(0);
  if (row >= rows) return;
  scores += (size_t)row * classes;
  int index = 0;
  float most = LOAD(scores, 0);
  for (int i = 1; i < classes; ++i) {
    const float v = LOAD(scores, i);
    if (v > most) {
      most = v;
      index = i;
    }
  }
  best[row] = index;
}

#ifdef LABEL
// CTCGreedyDecoderSeqLen, in whole numbers: sequences are rows of `best`, `lengths` long. `blank`
// may be null: the last class. `counts` may be null.
__kernel void decode_sequences(__global const int* best, __global const LENGTH* lengths,
                               __global const BLANK* blank, __global LABEL* labels,
                               __global COUNT* counts, int steps, int batch, int classes,
                               int merge) {
  const int n = get_global_id(0);
  if (n >= batch) return;
  best += (size_t)n * steps;
  labels += (size_t)n * steps;
  long silent = classes - 1;
  if (blank) silent = blank[0];
  const int length = (int)clamp((long)lengths[n], 0L, (long)steps);
  int count = 0;
  int previous = -1;
  for (int step = 0; step < length; ++step) {
    const int label = best[step];
    if (label != silent && !(merge && label == previous)) labels[count++] = label;
    previous = label;
  }
  if (counts) counts[n] = count;
  for (; count < steps; ++count) labels[count] = -1;
}
#endif

// The first 0 of a mask ends its sequence; the last class is the blank.
__kernel void decode_classes(__global const int* best, __global const stored* mask,
                             __global float* labels, int steps, int batch, int classes, int merge) {
  const int n = get_global_id(0);
  if (n >= batch) return;
  labels += (size_t)n * steps;
  int count = 0;
  int previous = -1;
  for (int step = 0; step < steps; ++step) {
    if (LOAD(mask, (size_t)step * batch + n) == 0.0f) break;
    const int label = best[(size_t)step * batch + n];
    if (label != classes - 1 && !(merge && label == previous)) labels[count++] = label;
    previous = label;
  }
  for (; count < steps; ++count) labels[count] = -1.0f;
}
