/*
 * A model inside the application's own OpenCL context: a kernel of ours fills the input, the output
 * is read by our queue, and nothing goes over the host in between. Argument: an ONNX or IR model
 * with one float32 input of known shape. HETERO_GPU_ALLOW_CPU=1 lets an OpenCL on the CPU count.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <hetinference/c.h>
#include <stdio.h>
#include <stdlib.h>

static const char* const kFill =
    "__kernel void fill(__global float* x) {"
    "  const size_t i = get_global_id(0);"
    "  x[i] = (float)(i % 97) / 97.0f;"
    "}";

static void check(HetStatus status) {
  if (status == HET_OK) return;
  fprintf(stderr, "%s\n", het_last_error());
  exit(1);
}

static void check_cl(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "%s: OpenCL error %d\n", what, code);
  exit(1);
}

static size_t count(const HetPort* port) {
  size_t values = 1;
  for (uint32_t i = 0; i < port->rank; ++i) {
    if (port->shape[i] < 0) {
      fprintf(stderr, "'%s' has no fixed shape\n", port->name);
      exit(1);
    }
    values *= (size_t)port->shape[i];
  }
  return values;
}

/* A port of the request reads or writes this memory, in the order of the queue. */
static void bind(HetRequest* request, HetContext* context, const HetPort* port, cl_mem memory,
                 cl_command_queue queue) {
  HetTensor tensor = {.struct_size = sizeof tensor};
  tensor.type = port->type;
  tensor.rank = port->rank;
  tensor.shape = port->shape;
  check(het_request_set_cl_tensor(request, port->name, context, &tensor, memory, queue));
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: cl_tensors MODEL\n");
    return 2;
  }
  /* The application's own OpenCL. */
  cl_int code;
  cl_platform_id platform;
  cl_device_id device;
  check_cl(clGetPlatformIDs(1, &platform, NULL), "find a platform");
  check_cl(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "find a device");
  cl_context cl = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  check_cl(code, "make a context");
  cl_command_queue queue = clCreateCommandQueue(cl, device, 0, &code);
  check_cl(code, "make a queue");
  cl_program program = clCreateProgramWithSource(cl, 1, (const char**)&kFill, NULL, &code);
  check_cl(clBuildProgram(program, 1, &device, "", NULL, NULL), "build a kernel");
  cl_kernel fill = clCreateKernel(program, "fill", &code);
  check_cl(code, "make a kernel");

  /* A model in that context. */
  HetCore* core;
  HetContext* context;
  HetModel* model;
  HetCompiledModel* compiled;
  HetRequest* request;
  check(het_core_open(&core));
  const HetContextObject objects[] = {{sizeof *objects, "cl_context", cl}};
  check(het_core_create_context(core, "GPU", objects, 1, &context));
  check(het_core_read_model(core, argv[1], &model));
  check(het_core_compile_model(core, model, "GPU", NULL, 0, context, &compiled));
  check(het_compiled_model_create_request(compiled, &request));

  HetPort input = {.struct_size = sizeof input};
  HetPort output = {.struct_size = sizeof output};
  check(het_compiled_model_input(compiled, 0, &input));
  check(het_compiled_model_output(compiled, 0, &output));
  const size_t inputs = count(&input);
  const size_t outputs = count(&output);
  cl_mem x = clCreateBuffer(cl, CL_MEM_READ_WRITE, inputs * sizeof(float), NULL, &code);
  check_cl(code, "make the input's buffer");
  cl_mem y = clCreateBuffer(cl, CL_MEM_READ_WRITE, outputs * sizeof(float), NULL, &code);
  check_cl(code, "make the output's buffer");
  bind(request, context, &input, x, queue);
  bind(request, context, &output, y, queue);

  /* Nobody waits until the result is wanted: the queue has the order. */
  check_cl(clSetKernelArg(fill, 0, sizeof x, &x), "set an argument");
  check_cl(clEnqueueNDRangeKernel(queue, fill, 1, NULL, &inputs, NULL, 0, NULL, NULL), "fill");
  check(het_request_start_async(request));
  float* values = malloc(outputs * sizeof *values);
  check_cl(
      clEnqueueReadBuffer(queue, y, CL_TRUE, 0, outputs * sizeof *values, values, 0, NULL, NULL),
      "read the output");
  check(het_request_wait(request, -1));
  size_t best = 0;
  for (size_t i = 1; i < outputs; ++i) best = values[i] > values[best] ? i : best;
  printf("'%s' -> '%s': %zu values, the largest is %.4f, number %zu\n", input.name, output.name,
         outputs, values[best], best);

  free(values);
  het_request_release(request);
  het_compiled_model_release(compiled);
  het_model_release(model);
  het_context_release(context);
  het_core_release(core);
  clReleaseMemObject(x);
  clReleaseMemObject(y);
  clReleaseKernel(fill);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(cl);
  return 0;
}
