// Functions of generated expressions, over the vector type of WIDTH elements. Comparisons keep NaN
// where ONNX does: in the value that is compared.
floatw het_max(floatw a, floatw b) { return select(select(b, a, a > b), a, isnan(a)); }
floatw het_min(floatw a, floatw b) { return select(select(b, a, a < b), a, isnan(a)); }
floatw het_relu(floatw a) { return select(a, (floatw)(0.0f), a < 0.0f); }
floatw het_prelu(floatw a, floatw slope) { return select(a, a * slope, a < 0.0f); }
floatw het_clip01(floatw a) { return het_min(het_max(a, (floatw)(0.0f)), (floatw)(1.0f)); }
floatw het_sigmoid(floatw a) { return 1.0f / (1.0f + exp(-a)); }
floatw het_elu(floatw a, float alpha) {
  return select(a, alpha * expm1(a), a < 0.0f);
}
// log(1 + exp(a)) without overflow.
floatw het_softplus(floatw a) { return fmax(a, 0.0f) + log1p(exp(-fabs(a))); }
// 1 + tanh(y) is 2 sigmoid(2 y), which is 0 far below 0 where an OpenCL tanh may stop short of -1.
floatw het_gelu_tanh(floatw a) {
  return a * het_sigmoid(1.5957691216057308f * (a + 0.044715f * a * a * a));
}
