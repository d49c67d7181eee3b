#include "python/gst/element/python_start.h"

#include <Python.h>
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "python/gst/element/process_life.h"

namespace het::python {
namespace {

/// As in the names of its folders.
std::string compiled_version() {
  return fmt::format("{}.{}", PY_MAJOR_VERSION, PY_MINOR_VERSION);
}

Status check_version() {
  const std::string running(Py_GetVersion());
  const std::string compiled = compiled_version();
  if (running.compare(0, compiled.size(), compiled) == 0 &&
      (running.size() == compiled.size() || running[compiled.size()] < '0' ||
       running[compiled.size()] > '9')) {
    return {};
  }
  return error(StatusCode::NotSupported,
               "heteropython was built for Python {}, but this process has Python {}; run it with "
               "the former, or build gst-hetero with -Dpython-executable of the latter",
               compiled, running.substr(0, running.find(' ')));
}

/// GStreamer loads plugins with what they need, for themselves; Python's extension modules look for
/// its symbols among those of the whole process.
void make_symbols_global() {
  Dl_info library{};
  if (dladdr(reinterpret_cast<void*>(&Py_IsInitialized), &library) == 0) return;
  dlopen(library.dli_fname, RTLD_NOLOAD | RTLD_GLOBAL | RTLD_NOW);
}

/// The program whose site-packages count: the virtual environment's if it is for this version.
std::string program() {
  const char* environment = std::getenv("VIRTUAL_ENV");
  if (!environment || !*environment) return HET_PYTHON;
  const std::filesystem::path folder(environment);
  std::error_code failure;
  const bool is_ours =
      std::filesystem::exists(folder / "bin/python", failure) &&
      std::filesystem::exists(folder / "lib" / ("python" + compiled_version()), failure);
  return is_ours ? (folder / "bin/python").string() : HET_PYTHON;
}

PyStatus configure(PyConfig& config, const std::string& path) {
  PyStatus status = PyConfig_SetBytesString(&config, &config.program_name, path.c_str());
  if (PyStatus_Exception(status)) return status;
  status = PyConfig_SetBytesString(&config, &config.executable, path.c_str());
  if (PyStatus_Exception(status)) return status;
  char name[] = "heteropython";
  char* arguments[] = {name};
  status = PyConfig_SetBytesArgv(&config, 1, arguments);
  if (PyStatus_Exception(status)) return status;
  return Py_InitializeFromConfig(&config);
}

Status start(void (*finish)()) {
  make_symbols_global();
  // The locale is the application's.
  PyPreConfig before;
  PyPreConfig_InitPythonConfig(&before);
  before.configure_locale = 0;
  before.coerce_c_locale = 0;
  before.coerce_c_locale_warn = 0;
  before.parse_argv = 0;
  PyStatus status = Py_PreInitialize(&before);
  const std::string path = program();
  if (!PyStatus_Exception(status)) {
    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    config.install_signal_handlers = 0;
    config.parse_argv = 0;
    status = configure(config, path);
    PyConfig_Clear(&config);
  }
  if (PyStatus_Exception(status)) {
    return error(StatusCode::Internal, "starting Python {} as {} failed: {}", compiled_version(),
                 path, status.err_msg ? status.err_msg : "it wants to exit");
  }
  finish_at_exit(finish);
  PyEval_SaveThread();
  return {};
}

}  // namespace

Status ensure_python(void (*finish)()) {
  HET_TRY(check_version());
  // Taken before Python is there, so never while the GIL is asked for.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (Py_IsInitialized()) return {};
  return start(finish);
}

std::string python_in_words() {
  const std::string version(Py_GetVersion());
  std::string text = "Python " + version.substr(0, version.find(' '));
  PyObject* const executable = PySys_GetObject("executable");
  const char* const path =
      executable && PyUnicode_Check(executable) ? PyUnicode_AsUTF8(executable) : nullptr;
  if (path) text += fmt::format(" ({})", path);
  PyErr_Clear();
  return text;
}

bool is_python_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

}  // namespace het::python
