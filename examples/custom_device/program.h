/* A model as this device runs it: one piece of memory without pointers, which is also what is
 * exported. */
#ifndef MYDEV_PROGRAM_H
#define MYDEV_PROGRAM_H

#include <stdint.h>

#include "inference/custom_device.h"

#define MYDEV_MOST_RANK 6
#define MYDEV_MOST_INPUTS 3
#define MYDEV_NAME_BYTES 96

enum Operator { OP_RELU, OP_SIGMOID, OP_ADD, OP_MUL, OP_MATMUL, OP_CONV, OP_IDENTITY, OP_COUNT };

enum Place { PLACE_CONSTANT, PLACE_INPUT, PLACE_OUTPUT, PLACE_SCRATCH, PLACE_COUNT };

/* A float32 tensor. */
typedef struct {
  int64_t shape[MYDEV_MOST_RANK];
  uint32_t rank;
  uint32_t place; /* enum Place */
  uint64_t index; /* of the input or output; in floats, of the constant or in scratch memory */
} Value;

/* One node. Inputs and output are indices of values. */
typedef struct {
  uint32_t op; /* enum Operator */
  uint32_t input_count;
  uint32_t inputs[MYDEV_MOST_INPUTS];
  uint32_t output;
  int64_t strides[2], dilations[2], pads[4]; /* of OP_CONV; pads: top, left, bottom, right */
  char name[MYDEV_NAME_BYTES];
} Step;

typedef struct {
  char magic[8];
  uint64_t size_bytes;                /* of all */
  uint32_t input_count, output_count; /* the first values, in this order */
  uint32_t value_count, step_count;
  uint64_t constant_floats, scratch_floats;
} ProgramHead;

/* Head, values, steps, constants. */
typedef struct {
  const ProgramHead* head;
  const Value* values;
  const Step* steps;
  const float* constants;
  void* memory;
} Program;

int64_t value_floats(const Value* value);
const char* operator_name(uint32_t op);

/* Says of each node of a model whether the device takes it. `operators` has the types that it may
 * take, separated by blanks; empty: all. Returns a code of the interface. */
int32_t program_query(const HetDeviceModel* model, const char* operators,
                      const HetDeviceSink* sink);
/* Both: 0, and then program_free(); else a code, with the reason told. Bytes may be anything. */
int32_t program_compile(const HetDeviceModel* model, const HetDeviceSink* sink, Program* program);
int32_t program_import(const void* bytes, uint64_t size_bytes, const HetDeviceSink* sink,
                       Program* program);
void program_free(Program* program);

#endif
