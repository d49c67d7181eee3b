#include "onnx_graph.h"

#include <stdlib.h>
#include <string.h>

/* A protobuf message is a row of fields: a number with a wire type, then a varint, 4 or 8 bytes, or
 * a length and as many bytes. */
typedef struct {
  const uint8_t *at, *end;
} Reader;

typedef struct {
  uint32_t number, wire;
  uint64_t value;
  Bytes content; /* of wire type 2 */
} Field;

enum { WIRE_VARINT = 0, WIRE_8_BYTES = 1, WIRE_CONTENT = 2, WIRE_4_BYTES = 5 };

/* Numbers of onnx.proto. */
enum {
  MODEL_GRAPH = 7,
  GRAPH_NODE = 1,
  GRAPH_INITIALIZER = 5,
  GRAPH_INPUT = 11,
  GRAPH_OUTPUT = 12,
  NODE_INPUT = 1,
  NODE_OUTPUT = 2,
  NODE_NAME = 3,
  NODE_TYPE = 4,
  NODE_ATTRIBUTE = 5,
  NODE_DOMAIN = 7,
  ATTRIBUTE_NAME = 1,
  ATTRIBUTE_INT = 3,
  ATTRIBUTE_TEXT = 4,
  ATTRIBUTE_INTS = 8,
  TENSOR_NAME = 8,
  TENSOR_RAW_DATA = 9,
  VALUE_NAME = 1
};

static int read_varint(Reader* reader, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
    const uint8_t byte = *reader->at++;
    *value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return 0;
  }
  return -1;
}

/* 1: a field; 0: the end; -1: malformed. */
static int next_field(Reader* reader, Field* field) {
  uint64_t key;
  if (reader->at == reader->end) return 0;
  if (read_varint(reader, &key) != 0) return -1;
  memset(field, 0, sizeof *field);
  field->number = (uint32_t)(key >> 3);
  field->wire = key & 7;
  uint64_t size = 0;
  if (field->wire == WIRE_VARINT) return read_varint(reader, &field->value) == 0 ? 1 : -1;
  if (field->wire == WIRE_8_BYTES) size = 8;
  if (field->wire == WIRE_4_BYTES) size = 4;
  if (field->wire == WIRE_CONTENT && read_varint(reader, &size) != 0) return -1;
  if (size == 0 && field->wire != WIRE_CONTENT) return -1;
  if (size > (uint64_t)(reader->end - reader->at)) return -1;
  field->content.data = reader->at;
  field->content.size = (size_t)size;
  reader->at += size;
  return 1;
}

static Reader reader_of(Bytes message) {
  const Reader reader = {message.data, message.data + message.size};
  return reader;
}

int bytes_equal(Bytes a, Bytes b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

int bytes_are(Bytes bytes, const char* text) {
  return bytes.size == strlen(text) &&
         (bytes.size == 0 || memcmp(bytes.data, text, bytes.size) == 0);
}

/* A new place at the end of an array, all zeros; null without memory. */
static void* grown(void** array, size_t* count, size_t item_bytes) {
  void* more = realloc(*array, (*count + 1) * item_bytes);
  if (more == NULL) return NULL;
  *array = more;
  void* item = (char*)more + (*count)++ * item_bytes;
  return memset(item, 0, item_bytes);
}

/* The content of one field of a message; empty when it is not there. */
static Bytes content_of(Bytes message, uint32_t number) {
  Reader reader = reader_of(message);
  Bytes found = {NULL, 0};
  Field field;
  while (next_field(&reader, &field) > 0) {
    if (field.number == number && field.wire == WIRE_CONTENT) found = field.content;
  }
  return found;
}

static int read_node(Bytes message, OnnxNode* node) {
  Reader reader = reader_of(message);
  Field field;
  int more;
  node->message = message;
  while ((more = next_field(&reader, &field)) > 0) {
    if (field.wire != WIRE_CONTENT) continue;
    if (field.number == NODE_INPUT) {
      if (node->input_count < ONNX_MOST_VALUES) node->inputs[node->input_count] = field.content;
      ++node->input_count;
    }
    if (field.number == NODE_OUTPUT) {
      if (node->output_count < ONNX_MOST_VALUES) node->outputs[node->output_count] = field.content;
      ++node->output_count;
    }
    if (field.number == NODE_NAME) node->name = field.content;
    if (field.number == NODE_TYPE) node->type = field.content;
    if (field.number == NODE_DOMAIN) node->domain = field.content;
  }
  return more;
}

static int read_name(Bytes message, Bytes** names, size_t* count) {
  Bytes* name = (Bytes*)grown((void**)names, count, sizeof(Bytes));
  if (name == NULL) return -1;
  *name = content_of(message, VALUE_NAME);
  return 0;
}

static int read_graph(Bytes message, OnnxGraph* graph) {
  Reader reader = reader_of(message);
  Field field;
  int more;
  while ((more = next_field(&reader, &field)) > 0) {
    if (field.wire != WIRE_CONTENT) continue;
    int status = 0;
    if (field.number == GRAPH_NODE) {
      OnnxNode* node = (OnnxNode*)grown((void**)&graph->nodes, &graph->node_count, sizeof *node);
      status = node == NULL ? -1 : read_node(field.content, node);
    } else if (field.number == GRAPH_INITIALIZER) {
      OnnxWeights* weights =
          (OnnxWeights*)grown((void**)&graph->weights, &graph->weights_count, sizeof *weights);
      if (weights == NULL) return -1;
      weights->name = content_of(field.content, TENSOR_NAME);
      weights->content = content_of(field.content, TENSOR_RAW_DATA);
    } else if (field.number == GRAPH_INPUT) {
      status = read_name(field.content, &graph->inputs, &graph->input_count);
    } else if (field.number == GRAPH_OUTPUT) {
      status = read_name(field.content, &graph->outputs, &graph->output_count);
    }
    if (status != 0) return -1;
  }
  return more;
}

int onnx_read(const void* bytes, uint64_t size_bytes, OnnxGraph* graph) {
  const Bytes model = {(const uint8_t*)bytes, (size_t)size_bytes};
  memset(graph, 0, sizeof *graph);
  if (read_graph(content_of(model, MODEL_GRAPH), graph) == 0) return 0;
  onnx_free(graph);
  return -1;
}

void onnx_free(OnnxGraph* graph) {
  free(graph->nodes);
  free(graph->weights);
  free(graph->inputs);
  free(graph->outputs);
  memset(graph, 0, sizeof *graph);
}

/* The message of an attribute; empty when the node has none of this name. */
static Bytes attribute_of(const OnnxNode* node, const char* name) {
  Reader reader = reader_of(node->message);
  Bytes found = {NULL, 0};
  Field field;
  while (next_field(&reader, &field) > 0) {
    if (field.number != NODE_ATTRIBUTE || field.wire != WIRE_CONTENT) continue;
    if (bytes_are(content_of(field.content, ATTRIBUTE_NAME), name)) found = field.content;
  }
  return found;
}

int64_t onnx_int(const OnnxNode* node, const char* attribute, int64_t otherwise) {
  Reader reader = reader_of(attribute_of(node, attribute));
  Field field;
  while (next_field(&reader, &field) > 0) {
    if (field.number == ATTRIBUTE_INT && field.wire == WIRE_VARINT) return (int64_t)field.value;
  }
  return otherwise;
}

int onnx_text(const OnnxNode* node, const char* attribute, Bytes* text) {
  const Bytes message = attribute_of(node, attribute);
  *text = content_of(message, ATTRIBUTE_TEXT);
  return message.size > 0;
}

int onnx_ints(const OnnxNode* node, const char* attribute, int64_t* numbers, size_t count) {
  const Bytes message = attribute_of(node, attribute);
  Reader reader = reader_of(message);
  Field field;
  size_t found = 0;
  if (message.size == 0) return 0;
  while (next_field(&reader, &field) > 0) {
    if (field.number != ATTRIBUTE_INTS) continue;
    if (field.wire == WIRE_VARINT) {
      if (found < count) numbers[found] = (int64_t)field.value;
      ++found;
      continue;
    }
    Reader packed = reader_of(field.content);
    uint64_t value;
    while (packed.at < packed.end && read_varint(&packed, &value) == 0) {
      if (found < count) numbers[found] = (int64_t)value;
      ++found;
    }
  }
  return found == count ? 0 : -1;
}
