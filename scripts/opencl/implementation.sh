# Sourced, after environment.sh, by checks that run on one OpenCL implementation alone.
# shellcheck shell=bash

# opencl_use NAME: what runs behind finds no implementation but this one. pocl: Debian's. intel: Intel's for processors, from PyPI, in
# build-intel-opencl. oclgrind: the checker of kernels that Debian 12 has.
opencl_library_path=${LD_LIBRARY_PATH-}
opencl_use() {
  local vendors=$root/build-opencl/$1 library
  mkdir -p "$vendors"
  export LD_LIBRARY_PATH=$opencl_library_path
  case $1 in
    pocl)
      require check
      library=$(cat /etc/OpenCL/vendors/pocl.icd)
      ;;
    intel)
      require long
      python_environment "$root/build-intel-opencl" -r "$root/scripts/opencl/requirements.txt"
      intel_links "$root/build-intel-opencl/lib" "$vendors/lib"
      library=$vendors/lib/libintelocl.so
      LD_LIBRARY_PATH=$vendors/lib${opencl_library_path:+:$opencl_library_path}
      ;;
    oclgrind)
      require oclgrind
      library=/usr/lib/oclgrind/liboclgrind-rt-icd.so
      [ -e "$library" ] || fail "there is no Oclgrind here: of Debian only release 12 has the package oclgrind"
      ;;
    *) fail "there is no OpenCL implementation '$1'; choose pocl, intel or oclgrind" ;;
  esac
  echo "$library" >"$vendors/$1.icd"
  export OCL_ICD_VENDORS=$vendors HETERO_GPU_ALLOW_CPU=1
}

# intel_links FROM TO: all its libraries but the loader, which would take the place of the system's.
intel_links() {
  local library
  rm -rf "$2"
  mkdir -p "$2"
  for library in "$1"/*.so* "$1"/*.rtl "$1"/*.o "$1"/cl.cfg; do
    case $(basename "$library") in
      libOpenCL* | *-gdb.py) ;;
      *) ln -s "$library" "$2" ;;
    esac
  done
}
