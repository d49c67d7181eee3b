/* A collector of the ITT interface, as VTune brings one: ittnotify loads it where
   INTEL_LIBITTNOTIFY64 names it and asks it for functions. Writes what it is told to the file that
   HET_ITT_EVENTS names, an event a line, fields separated by tabs: begin THREAD DOMAIN NAME a task
   of that thread, inside those that are open end THREAD DOMAIN                     of the last one
     begin_id THREAD DOMAIN ADDRESS:NUMBER NAME
     end_id THREAD DOMAIN ADDRESS:NUMBER
   Every library with a part of ittnotify of its own (oneDNN, oneTBB) tells its tasks here, too. */
#define INTEL_NO_MACRO_BODY
#define INTEL_ITTNOTIFY_API_PRIVATE
#include <ittnotify.h>
#include <ittnotify_config.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Protects what follows; taken alone. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static FILE* events;
static __itt_domain* domains;
static __itt_string_handle* names;

static long this_thread(void) {
  return syscall(SYS_gettid);
}

static char* copy_of(const char* text) {
  char* const copy = strdup(text);
  if (copy == NULL) abort();
  return copy;
}

static void* zeroed(size_t size) {
  void* const memory = calloc(1, size);
  if (memory == NULL) abort();
  return memory;
}

static __itt_domain* ITTAPI domain_create(const char* name) {
  pthread_mutex_lock(&mutex);
  __itt_domain* found = domains;
  while (found != NULL && strcmp(found->nameA, name) != 0) found = found->next;
  if (found == NULL) {
    found = zeroed(sizeof *found);
    found->flags = 1; /* wanted */
    found->nameA = copy_of(name);
    found->next = domains;
    domains = found;
  }
  pthread_mutex_unlock(&mutex);
  return found;
}

static __itt_string_handle* ITTAPI string_handle_create(const char* name) {
  pthread_mutex_lock(&mutex);
  __itt_string_handle* found = names;
  while (found != NULL && strcmp(found->strA, name) != 0) found = found->next;
  if (found == NULL) {
    found = zeroed(sizeof *found);
    found->strA = copy_of(name);
    found->next = names;
    names = found;
  }
  pthread_mutex_unlock(&mutex);
  return found;
}

static void ITTAPI task_begin(const __itt_domain* domain, __itt_id id, __itt_id parent,
                              __itt_string_handle* name) {
  (void)id;
  (void)parent;
  pthread_mutex_lock(&mutex);
  fprintf(events, "begin\t%ld\t%s\t%s\n", this_thread(), domain->nameA, name->strA);
  pthread_mutex_unlock(&mutex);
}

static void ITTAPI task_end(const __itt_domain* domain) {
  pthread_mutex_lock(&mutex);
  fprintf(events, "end\t%ld\t%s\n", this_thread(), domain->nameA);
  pthread_mutex_unlock(&mutex);
}

static void ITTAPI task_begin_overlapped(const __itt_domain* domain, __itt_id id, __itt_id parent,
                                         __itt_string_handle* name) {
  (void)parent;
  pthread_mutex_lock(&mutex);
  fprintf(events, "begin_id\t%ld\t%s\t%llx:%llu\t%s\n", this_thread(), domain->nameA, id.d1, id.d2,
          name->strA);
  pthread_mutex_unlock(&mutex);
}

static void ITTAPI task_end_overlapped(const __itt_domain* domain, __itt_id id) {
  pthread_mutex_lock(&mutex);
  fprintf(events, "end_id\t%ld\t%s\t%llx:%llu\n", this_thread(), domain->nameA, id.d1, id.d2);
  pthread_mutex_unlock(&mutex);
}

static const struct {
  const char* name;
  void* function;
} functions[] = {
    {"__itt_domain_create", (void*)domain_create},
    {"__itt_string_handle_create", (void*)string_handle_create},
    {"__itt_task_begin", (void*)task_begin},
    {"__itt_task_end", (void*)task_end},
    {"__itt_task_begin_overlapped", (void*)task_begin_overlapped},
    {"__itt_task_end_overlapped", (void*)task_end_overlapped},
};

/* What ittnotify calls, once in every library that has it. What is not in the table is not wanted.
 */
__attribute__((visibility("default"))) void ITTAPI __itt_api_init(__itt_global* library,
                                                                  __itt_group_id groups) {
  (void)groups;
  pthread_mutex_lock(&mutex);
  if (events == NULL) {
    const char* const path = getenv("HET_ITT_EVENTS");
    events = path == NULL ? NULL : fopen(path, "w");
    if (events == NULL) {
      fprintf(stderr, "the collector cannot write HET_ITT_EVENTS (%s)\n", path ? path : "not set");
      abort();
    }
  }
  pthread_mutex_unlock(&mutex);
  for (__itt_api_info* api = library->api_list_ptr; api->name != NULL; ++api) {
    void* wanted = NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
      if (strcmp(api->name, functions[i].name) == 0) wanted = functions[i].function;
    }
    *api->func_ptr = wanted;
  }
}

__attribute__((destructor)) static void close_events(void) {
  pthread_mutex_lock(&mutex);
  if (events != NULL) fflush(events);
  pthread_mutex_unlock(&mutex);
}
