#include "program.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_graph.h"
#include "operators.h"

static const char magic[8] = "MYDEV 1";
static const char* const names[OP_COUNT] = {"Relu",   "Sigmoid", "Add",     "Mul",
                                            "MatMul", "Conv",    "Identity"};
static const uint64_t most_floats = (uint64_t)1 << 28; /* of a value, of constants, of scratch */
static const uint32_t most_items = 1u << 20;           /* values or steps */

const char* operator_name(uint32_t op) {
  return op < OP_COUNT ? names[op] : "?";
}

int64_t value_floats(const Value* value) {
  int64_t floats = 1;
  for (uint32_t i = 0; i < value->rank; ++i) floats *= value->shape[i];
  return floats;
}

static int32_t failed(const HetDeviceSink* sink, int32_t code, const char* reason) {
  sink->set_error(sink->context, reason);
  return code;
}

/* ---- which nodes ---- */

/* True where a text of words separated by blanks has the word. */
static int has_word(const char* words, const char* word) {
  const size_t size = strlen(word);
  for (const char* at = words; (at = strstr(at, word)) != NULL; at += size) {
    const int begins = at == words || at[-1] == ' ';
    if (begins && (at[size] == ' ' || at[size] == '\0')) return 1;
  }
  return 0;
}

static uint32_t operator_of(const char* domain, const char* type) {
  uint32_t op = 0;
  while (op < OP_COUNT && (*domain != '\0' || strcmp(names[op], type) != 0)) ++op;
  return op;
}

/* The value as described; 0 where it is no float32 tensor that this device takes. Unknown
 * dimensions stay -1. */
static int describe(const HetValueDesc* desc, Value* value) {
  memset(value, 0, sizeof *value);
  if (desc->type != HET_TYPE_FLOAT32 || desc->rank > MYDEV_MOST_RANK) return 0;
  uint64_t floats = 1;
  value->rank = desc->rank;
  for (uint32_t i = 0; i < desc->rank; ++i) {
    value->shape[i] = desc->shape[i];
    if (desc->shape[i] < 0) continue;
    if ((uint64_t)desc->shape[i] > most_floats) return 0;
    floats *= (uint64_t)desc->shape[i];
    if (floats > most_floats) return 0;
  }
  return 1;
}

static int is_known(const Value* value) {
  for (uint32_t i = 0; i < value->rank; ++i) {
    if (value->shape[i] < 0) return 0;
  }
  return 1;
}

/* Operator and attributes; null, or why the device does not take them. */
static const char* read_step(const OnnxNode* node, uint32_t op, Step* step) {
  Bytes text;
  memset(step, 0, sizeof *step);
  step->op = op;
  step->input_count = (uint32_t)node->input_count;
  for (int i = 0; i < 2; ++i) step->strides[i] = step->dilations[i] = 1;
  const size_t size = node->name.size < MYDEV_NAME_BYTES ? node->name.size : MYDEV_NAME_BYTES - 1;
  if (size > 0) memcpy(step->name, node->name.data, size);
  if (node->input_count > MYDEV_MOST_INPUTS || node->output_count != 1)
    return "it has more inputs or outputs than this device takes";
  for (size_t i = 0; i < node->input_count; ++i) {
    if (node->inputs[i].size == 0) return "an input is omitted";
  }
  if (op != OP_CONV) return NULL;
  if (onnx_text(node, "auto_pad", &text) && !bytes_are(text, "NOTSET"))
    return "no automatic padding";
  if (onnx_int(node, "group", 1) != 1) return "Conv takes one group only";
  if (onnx_ints(node, "strides", step->strides, 2) != 0 ||
      onnx_ints(node, "dilations", step->dilations, 2) != 0 ||
      onnx_ints(node, "pads", step->pads, 4) != 0)
    return "Conv takes two spatial dimensions only";
  return NULL;
}

static const char* refusal(const HetDeviceNode* node, const OnnxNode* onnx, const char* operators) {
  Value inputs[MYDEV_MOST_INPUTS], output;
  const Value* pointers[MYDEV_MOST_INPUTS] = {&inputs[0], &inputs[1], &inputs[2]};
  Step step;
  const uint32_t op = operator_of(node->domain, node->type);
  if (op == OP_COUNT) return "the device has no such operator";
  if (*operators != '\0' && !has_word(operators, node->type))
    return "MYDEV_OPERATORS does not list it";
  const char* reason = read_step(onnx, op, &step);
  if (reason != NULL) return reason;
  if (node->input_count != step.input_count || node->output_count != 1)
    return "it has an input or output that is not in the file";
  /* Until the sizes are known, the operator decides. */
  int known = 1;
  for (uint32_t i = 0; i < step.input_count; ++i) {
    if (node->inputs[i].type == 0) return NULL;
    if (!describe(&node->inputs[i], &inputs[i])) return "float32 of at most 6 dimensions only";
    known = known && is_known(&inputs[i]);
  }
  if (node->outputs[0].type == 0) return NULL;
  if (!describe(&node->outputs[0], &output)) return "float32 of at most 6 dimensions only";
  return known && is_known(&output) ? step_problem(&step, pointers, &output) : NULL;
}

static int32_t read_model(const HetDeviceModel* model, const HetDeviceSink* sink,
                          OnnxGraph* graph) {
  const void* bytes;
  uint64_t size_bytes;
  const int32_t code = model->onnx(model->context, &bytes, &size_bytes);
  if (code != HET_CODE_OK) return failed(sink, code, "the host could not write the model");
  if (onnx_read(bytes, size_bytes, graph) == 0 && graph->node_count >= model->node_count &&
      graph->input_count == model->input_count && graph->output_count == model->output_count)
    return HET_CODE_OK;
  return failed(sink, HET_CODE_INTERNAL, "the host's file could not be read");
}

int32_t program_query(const HetDeviceModel* model, const char* operators,
                      const HetDeviceSink* sink) {
  OnnxGraph graph;
  const int32_t code = read_model(model, sink, &graph);
  if (code != HET_CODE_OK) return code;
  for (uint32_t i = 0; i < model->node_count; ++i)
    sink->answer_node(sink->context, i, refusal(model->nodes[i], &graph.nodes[i], operators));
  onnx_free(&graph);
  return HET_CODE_OK;
}

/* ---- compile ---- */

typedef struct {
  const OnnxGraph* graph;
  uint32_t value_count, step_count;
  Value* values;
  Bytes* value_names;
  const uint8_t** contents; /* of constants */
  Step* steps;
  uint64_t constant_floats, scratch_floats;
} Builder;

/* A new value; its place and index are the caller's to give. */
static uint32_t add_value(Builder* builder, Bytes name, const HetValueDesc* desc,
                          const char** reason) {
  const uint32_t index = builder->value_count++;
  if (!describe(desc, &builder->values[index]) || !is_known(&builder->values[index]))
    *reason = "float32 of at most 6 dimensions and known sizes only";
  builder->value_names[index] = name;
  return index;
}

static uint32_t find_value(const Builder* builder, Bytes name) {
  uint32_t i = 0;
  while (i < builder->value_count && !bytes_equal(builder->value_names[i], name)) ++i;
  return i;
}

/* The value that a node reads: one that is there, or weights of the file. */
static uint32_t source_of(Builder* builder, Bytes name, const HetValueDesc* desc,
                          const char** reason) {
  const uint32_t known = find_value(builder, name);
  if (known < builder->value_count) return known;
  const uint32_t index = add_value(builder, name, desc, reason);
  Value* value = &builder->values[index];
  value->place = PLACE_CONSTANT;
  value->index = builder->constant_floats;
  for (size_t i = 0; i < builder->graph->weights_count; ++i) {
    const OnnxWeights* weights = &builder->graph->weights[i];
    if (!bytes_equal(weights->name, name)) continue;
    if (*reason != NULL || weights->content.size != (size_t)value_floats(value) * sizeof(float))
      break;
    builder->contents[index] = weights->content.data;
    builder->constant_floats += (uint64_t)value_floats(value);
    return index;
  }
  *reason = "a node reads a value that is not in the file";
  return index;
}

static void add_step(Builder* builder, const OnnxNode* onnx, uint32_t op, const HetDeviceNode* node,
                     const char** reason) {
  Step* step = &builder->steps[builder->step_count++];
  const char* problem = read_step(onnx, op, step);
  if (problem != NULL) *reason = problem;
  /* An Identity behind the model's nodes gives an output its name. */
  const uint32_t named = find_value(builder, onnx->outputs[0]);
  HetValueDesc copied = {HET_TYPE_FLOAT32, 0, 0, 0, NULL};
  const int is_named = named < builder->value_count;
  if (node == NULL && is_named) {
    copied.rank = builder->values[named].rank;
    copied.shape = builder->values[named].shape;
  }
  for (uint32_t i = 0; i < step->input_count && *reason == NULL; ++i)
    step->inputs[i] =
        source_of(builder, onnx->inputs[i], node != NULL ? &node->inputs[i] : &copied, reason);
  if (*reason != NULL) return;
  step->output = named;
  if (is_named) return;
  if (node == NULL) {
    *reason = "the host's file could not be read";
    return;
  }
  step->output = add_value(builder, onnx->outputs[0], &node->outputs[0], reason);
  Value* output = &builder->values[step->output];
  output->place = PLACE_SCRATCH;
  output->index = builder->scratch_floats;
  if (*reason == NULL) builder->scratch_floats += (uint64_t)value_floats(output);
}

static const char* build(Builder* builder, const HetDeviceModel* model) {
  const OnnxGraph* graph = builder->graph;
  const char* reason = NULL;
  for (uint32_t i = 0; i < model->input_count; ++i) {
    const uint32_t index = add_value(builder, graph->inputs[i], &model->inputs[i].desc, &reason);
    builder->values[index].place = PLACE_INPUT;
    builder->values[index].index = i;
  }
  for (uint32_t i = 0; i < model->output_count; ++i) {
    const uint32_t source = find_value(builder, graph->outputs[i]);
    const uint32_t index = add_value(builder, graph->outputs[i], &model->outputs[i].desc, &reason);
    builder->values[index].place = PLACE_OUTPUT;
    builder->values[index].index = i;
    if (source == index) continue;
    /* An input that is an output, too. */
    Step* step = &builder->steps[builder->step_count++];
    step->op = OP_IDENTITY;
    step->input_count = 1;
    step->inputs[0] = source;
    step->output = index;
  }
  for (size_t i = 0; i < graph->node_count && reason == NULL; ++i) {
    const HetDeviceNode* node = i < model->node_count ? model->nodes[i] : NULL;
    const uint32_t op = node != NULL ? operator_of(node->domain, node->type) : OP_IDENTITY;
    add_step(builder, &graph->nodes[i], op, node, &reason);
  }
  if (reason == NULL &&
      (builder->constant_floats > most_floats || builder->scratch_floats > most_floats))
    reason = "the model is too large for this device";
  return reason;
}

static void point_into(Program* program) {
  const char* at = (const char*)program->memory;
  program->head = (const ProgramHead*)(const void*)at;
  program->values = (const Value*)(const void*)(at += sizeof(ProgramHead));
  program->steps = (const Step*)(const void*)(at += program->head->value_count * sizeof(Value));
  program->constants = (const float*)(const void*)(at + program->head->step_count * sizeof(Step));
}

static uint64_t size_of(const ProgramHead* head) {
  return sizeof *head + head->value_count * (uint64_t)sizeof(Value) +
         head->step_count * (uint64_t)sizeof(Step) + head->constant_floats * sizeof(float);
}

/* All in one piece. */
static int32_t assemble(const Builder* builder, const HetDeviceModel* model,
                        const HetDeviceSink* sink, Program* program) {
  ProgramHead head;
  memset(&head, 0, sizeof head);
  memcpy(head.magic, magic, sizeof magic);
  head.input_count = model->input_count;
  head.output_count = model->output_count;
  head.value_count = builder->value_count;
  head.step_count = builder->step_count;
  head.constant_floats = builder->constant_floats;
  head.scratch_floats = builder->scratch_floats;
  head.size_bytes = size_of(&head);
  program->memory = malloc((size_t)head.size_bytes);
  if (program->memory == NULL)
    return failed(sink, HET_CODE_OUT_OF_MEMORY, "no memory for the program");
  memcpy(program->memory, &head, sizeof head);
  point_into(program);
  if (head.value_count > 0)
    memcpy((void*)program->values, builder->values, head.value_count * sizeof(Value));
  if (head.step_count > 0)
    memcpy((void*)program->steps, builder->steps, head.step_count * sizeof(Step));
  for (uint32_t i = 0; i < head.value_count; ++i) {
    const Value* value = &builder->values[i];
    if (builder->contents[i] == NULL) continue;
    memcpy((float*)program->constants + value->index, builder->contents[i],
           (size_t)value_floats(value) * sizeof(float));
  }
  return HET_CODE_OK;
}

int32_t program_compile(const HetDeviceModel* model, const HetDeviceSink* sink, Program* program) {
  OnnxGraph graph;
  Builder builder;
  memset(program, 0, sizeof *program);
  int32_t code = read_model(model, sink, &graph);
  if (code != HET_CODE_OK) return code;
  const size_t steps = graph.node_count + graph.output_count + 1;
  const size_t values = graph.input_count + steps * (MYDEV_MOST_INPUTS + 1);
  memset(&builder, 0, sizeof builder);
  builder.graph = &graph;
  builder.values = (Value*)calloc(values, sizeof *builder.values);
  builder.value_names = (Bytes*)calloc(values, sizeof *builder.value_names);
  builder.contents = (const uint8_t**)calloc(values, sizeof *builder.contents);
  builder.steps = (Step*)calloc(steps, sizeof *builder.steps);
  if (builder.values == NULL || builder.value_names == NULL || builder.contents == NULL ||
      builder.steps == NULL) {
    code = failed(sink, HET_CODE_OUT_OF_MEMORY, "no memory for the model");
  } else {
    const char* reason = build(&builder, model);
    code = reason == NULL ? assemble(&builder, model, sink, program)
                          : failed(sink, HET_CODE_NOT_SUPPORTED, reason);
  }
  free(builder.values);
  free(builder.value_names);
  free((void*)builder.contents);
  free(builder.steps);
  onnx_free(&graph);
  return code;
}

/* ---- import ---- */

/* Null, or what is wrong with a value of an imported program. */
static const char* value_problem(const Program* program, uint32_t index) {
  const ProgramHead* head = program->head;
  const Value* value = &program->values[index];
  Value copy;
  if (value->rank > MYDEV_MOST_RANK) return "a value has too many dimensions";
  const HetValueDesc desc = {HET_TYPE_FLOAT32, 0, index, value->rank, value->shape};
  if (!describe(&desc, &copy) || !is_known(&copy)) return "a value has no usable shape";
  const uint64_t floats = (uint64_t)value_floats(value);
  if (index < head->input_count)
    return value->place == PLACE_INPUT && value->index == index ? NULL : "an input is no input";
  if (index < head->input_count + head->output_count)
    return value->place == PLACE_OUTPUT && value->index == index - head->input_count
               ? NULL
               : "an output is no output";
  if (value->place != PLACE_CONSTANT && value->place != PLACE_SCRATCH)
    return "a value has no place";
  const uint64_t room =
      value->place == PLACE_CONSTANT ? head->constant_floats : head->scratch_floats;
  return floats <= room && value->index <= room - floats ? NULL : "a value has no room";
}

static const char* imported_step_problem(const Program* program, const Step* step) {
  const Value* inputs[MYDEV_MOST_INPUTS] = {NULL};
  if (step->input_count > MYDEV_MOST_INPUTS || step->output >= program->head->value_count ||
      memchr(step->name, '\0', MYDEV_NAME_BYTES) == NULL)
    return "a step is malformed";
  for (uint32_t i = 0; i < step->input_count; ++i) {
    if (step->inputs[i] >= program->head->value_count)
      return "a step reads a value that is not there";
    inputs[i] = &program->values[step->inputs[i]];
  }
  const Value* output = &program->values[step->output];
  if (output->place != PLACE_OUTPUT && output->place != PLACE_SCRATCH)
    return "a step writes what is only read";
  return step_problem(step, inputs, output);
}

static const char* program_problem(Program* program, uint64_t size_bytes) {
  const ProgramHead* head = (const ProgramHead*)program->memory;
  if (memcmp(head->magic, magic, sizeof magic) != 0)
    return "the bytes are no program of this device";
  if (head->value_count > most_items || head->step_count > most_items ||
      head->constant_floats > most_floats || head->scratch_floats > most_floats ||
      head->input_count > most_items || head->output_count > most_items ||
      head->input_count + head->output_count > head->value_count ||
      head->size_bytes != size_bytes || size_of(head) != size_bytes)
    return "the program has another size than it says";
  point_into(program);
  for (uint32_t i = 0; i < head->value_count; ++i) {
    const char* problem = value_problem(program, i);
    if (problem != NULL) return problem;
  }
  for (uint32_t i = 0; i < head->step_count; ++i) {
    const char* problem = imported_step_problem(program, &program->steps[i]);
    if (problem != NULL) return problem;
  }
  return NULL;
}

int32_t program_import(const void* bytes, uint64_t size_bytes, const HetDeviceSink* sink,
                       Program* program) {
  memset(program, 0, sizeof *program);
  if (size_bytes < sizeof(ProgramHead))
    return failed(sink, HET_CODE_PARSE_ERROR, "the program is cut off");
  program->memory = malloc((size_t)size_bytes);
  if (program->memory == NULL)
    return failed(sink, HET_CODE_OUT_OF_MEMORY, "no memory for the program");
  memcpy(program->memory, bytes, (size_t)size_bytes);
  const char* problem = program_problem(program, size_bytes);
  if (problem == NULL) return HET_CODE_OK;
  program_free(program);
  return failed(sink, HET_CODE_PARSE_ERROR, problem);
}

void program_free(Program* program) {
  free(program->memory);
  memset(program, 0, sizeof *program);
}
