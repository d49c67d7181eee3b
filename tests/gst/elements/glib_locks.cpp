/// GLib's locks are built on futexes that ThreadSanitizer does not know, so it would report a race
/// for everything that GStreamer protects for us. In a build with that sanitizer, and only there,
/// these definitions come before GLib's: they call GLib's and tell the sanitizer who waited for
/// whom.

#if defined(__SANITIZE_THREAD__)

#include <dlfcn.h>
#include <glib.h>
#include <sanitizer/tsan_interface.h>

namespace {

template <class Function>
Function* real(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// GLib's function of this name; looked up once.
#define HET_REAL(name) static const auto real_##name = real(&name, #name)

#define HET_LOCK(name, type)                                     \
  __attribute__((visibility("default"))) void name(type* lock) { \
    HET_REAL(name);                                              \
    real_##name(lock);                                           \
    __tsan_acquire(lock);                                        \
  }
#define HET_TRYLOCK(name, type)                                      \
  __attribute__((visibility("default"))) gboolean name(type* lock) { \
    HET_REAL(name);                                                  \
    const gboolean locked = real_##name(lock);                       \
    if (locked) __tsan_acquire(lock);                                \
    return locked;                                                   \
  }
#define HET_UNLOCK(name, type)                                   \
  __attribute__((visibility("default"))) void name(type* lock) { \
    HET_REAL(name);                                              \
    __tsan_release(lock);                                        \
    real_##name(lock);                                           \
  }

extern "C" {

HET_LOCK(g_mutex_lock, GMutex)
HET_TRYLOCK(g_mutex_trylock, GMutex)
HET_UNLOCK(g_mutex_unlock, GMutex)
HET_LOCK(g_rec_mutex_lock, GRecMutex)
HET_TRYLOCK(g_rec_mutex_trylock, GRecMutex)
HET_UNLOCK(g_rec_mutex_unlock, GRecMutex)
HET_LOCK(g_rw_lock_writer_lock, GRWLock)
HET_TRYLOCK(g_rw_lock_writer_trylock, GRWLock)
HET_UNLOCK(g_rw_lock_writer_unlock, GRWLock)
HET_LOCK(g_rw_lock_reader_lock, GRWLock)
HET_TRYLOCK(g_rw_lock_reader_trylock, GRWLock)
HET_UNLOCK(g_rw_lock_reader_unlock, GRWLock)

__attribute__((visibility("default"))) void g_cond_wait(GCond* condition, GMutex* mutex) {
  HET_REAL(g_cond_wait);
  __tsan_release(mutex);
  real_g_cond_wait(condition, mutex);
  __tsan_acquire(mutex);
}

__attribute__((visibility("default"))) gboolean g_cond_wait_until(GCond* condition, GMutex* mutex,
                                                                  gint64 end_time) {
  HET_REAL(g_cond_wait_until);
  __tsan_release(mutex);
  const gboolean signalled = real_g_cond_wait_until(condition, mutex, end_time);
  __tsan_acquire(mutex);
  return signalled;
}

}  // extern "C"

#endif
