#!/usr/bin/env bash
# The installed plugin in one process with others that bring their own oneDNN, protobuf, ONNX and OpenCL: python3-onnx, OpenCV's DNN
# (python3-opencv), OpenVINO's wheel and PoCL; ours first and ours last.
# shellcheck source=packaging/checks/begin.sh
. "$(dirname "$0")/begin.sh"
# shellcheck source=packaging/checks/signed.sh
. "$(dirname "$0")/signed.sh"
add_repository
install gstreamer1.0-hetero hetero-doc gstreamer1.0-plugins-base gstreamer1.0-plugins-good pocl-opencl-icd python3-onnx python3-opencv python3-gi \
  gir1.2-gst-plugins-base-1.0 python3-venv
inside sh -euc "python3 -m venv --system-site-packages /root/venv
  /root/venv/bin/pip install -q --disable-pip-version-check openvino==2026.4.0" ||
  fail "pip could not install openvino"
for order in first last; do
  inside HETERO_GPU_ALLOW_CPU=1 /root/venv/bin/python "$root/packaging/checks/beside.py" "$order" /usr/share/doc/hetero-doc
done
