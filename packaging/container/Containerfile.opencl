# The image with an OpenCL driver, so that device=GPU and HETERO:GPU,CPU run.
#   podman build -t gst-hetero-opencl -f packaging/container/Containerfile.opencl --build-arg ICD=mesa-opencl-icd .
#   podman run --rm --read-only --tmpfs /tmp --device /dev/dri --group-add keep-groups gst-hetero-opencl ...
# ICD: mesa-opencl-icd (AMD and others), pocl-opencl-icd (a CPU as OpenCL device, with HETERO_GPU_ALLOW_CPU=1). NVIDIA's comes from the
# host (its container toolkit), Intel's from Intel's repository: Debian 13 has none.
FROM gst-hetero
ARG ICD=mesa-opencl-icd
USER root
RUN --mount=type=bind,source=out/repository,target=/repository \
    --mount=type=bind,source=packaging/container/install.sh,target=/install.sh \
    sh /install.sh /repository "$ICD"
ENV POCL_CACHE_DIR=/tmp/pocl
USER hetero
