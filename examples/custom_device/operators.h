/* What the operators compute. */
#ifndef MYDEV_OPERATORS_H
#define MYDEV_OPERATORS_H

#include "program.h"

/* Why a step cannot run with these shapes; null when it can. Shapes are known. */
const char* step_problem(const Step* step, const Value* const* inputs, const Value* output);

/* Computes one step of a program that was checked. */
void step_run(const Step* step, const Value* const* values, const float* const* sources,
              const Value* output, float* target);

#endif
