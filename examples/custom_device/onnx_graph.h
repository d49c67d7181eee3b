/* As much of an ONNX file in memory as this device needs: nodes, their attributes, weights. */
#ifndef MYDEV_ONNX_GRAPH_H
#define MYDEV_ONNX_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#define ONNX_MOST_VALUES 8 /* of a node; more are counted, not kept */

/* A text or message inside the file, which must stay where it is. */
typedef struct {
  const uint8_t* data;
  size_t size;
} Bytes;

typedef struct {
  Bytes name, type, domain;
  size_t input_count, output_count;
  Bytes inputs[ONNX_MOST_VALUES], outputs[ONNX_MOST_VALUES];
  Bytes message; /* for the attributes */
} OnnxNode;

typedef struct {
  Bytes name, content;
} OnnxWeights;

typedef struct {
  size_t node_count, weights_count, input_count, output_count;
  OnnxNode* nodes;
  OnnxWeights* weights;
  Bytes* inputs; /* names */
  Bytes* outputs;
} OnnxGraph;

/* 0: read; then onnx_free(). Checks every length: nothing outside of the bytes is touched. */
int onnx_read(const void* bytes, uint64_t size_bytes, OnnxGraph* graph);
void onnx_free(OnnxGraph* graph);

int bytes_equal(Bytes a, Bytes b);
int bytes_are(Bytes bytes, const char* text);

int64_t onnx_int(const OnnxNode* node, const char* attribute, int64_t otherwise);
/* 1: the node has this text attribute, which is then in `text`. */
int onnx_text(const OnnxNode* node, const char* attribute, Bytes* text);
/* Fills `numbers` where the attribute has exactly `count`; leaves them where it is absent. -1:
 * another count. */
int onnx_ints(const OnnxNode* node, const char* attribute, int64_t* numbers, size_t count);

#endif
