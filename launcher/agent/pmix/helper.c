/* sml-run-pmix: loads libpmix for the agent, which is static and cannot load it.
 *
 * The agent starts it where workers use PMIx, with one end of a socket as standard input, and has it load the host's
 * libpmix. From then on it translates: it sends libpmix's upcalls to the agent as frames, and passes the agent's
 * answers to libpmix. It decides nothing; launcher/agent/mpi/pmix_frames.h and pmix_machine.h have the frames and what
 * follows from them. It exits when the socket closes.
 *
 * Threads: main() reads frames and calls libpmix; libpmix calls back on a thread of its own, which only copies data and
 * writes it to the socket, one frame at a time.
 *
 * Runs on any glibc: it uses no symbol that is newer than the first glibc of its processor (symbols.h, and what
 * CMakeLists.txt links it with). It trusts its agent. It forwards what libpmix makes of the workers' bytes without
 * reading it; other users of the host cannot send it any (callers.h). */
#include "launcher/agent/pmix/symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "launcher/agent/pmix/callers.h"
#include "launcher/agent/pmix/frames.h"
#include "launcher/agent/pmix/pmix_abi.h"
#include "launcher/agent/pmix/upcalls.h"
#include "launcher/agent/pmix/worlds.h"

enum { kCallSeconds = 20, kEndSeconds = 2 };

/* ---- libpmix */

static struct {
  const char* (*version)(void);
  int (*init)(PmixModule* module, PmixInfo* infos, size_t count);
  int (*finalize)(void);
  int (*generate_regex)(const char* names, char** regex);
  int (*generate_ppn)(const char* ranks, char** regex);
  int (*register_nspace)(const char* nspace, int local, PmixInfo* infos, size_t count, PmixDone done, void* its);
  void (*deregister_nspace)(const char* nspace, PmixDone done, void* its);
  int (*register_client)(const PmixProc* proc, uid_t uid, gid_t gid, void* object, PmixDone done, void* its);
  int (*setup_fork)(const PmixProc* proc, char*** environment);
  int (*dmodex_request)(const PmixProc* proc, PmixModexReply done, void* its);
  const char* (*error_string)(int status);
  int (*value_load)(PmixValue* value, const void* data, uint16_t type); /* since version 4.2 */
} pmix;

static bool serving;

static void refuse(const char* what, const char* why) {
  Buffer out = frame(kRefused);
  put_text(&out, what);
  put_text(&out, why);
  send_frame(&out);
}

static bool refuse_unless(int status, const char* what) {
  if (status == kPmixSuccess) return true;
  refuse(what, pmix.error_string(status));
  return false;
}

/* Returns null, or the name of the first symbol that the library lacks. */
static const char* bind_all(void* library) {
  const struct {
    const char* name;
    void* slot;
  } wanted[] = {
      {"PMIx_Get_version", &pmix.version},
      {"PMIx_server_init", &pmix.init},
      {"PMIx_server_finalize", &pmix.finalize},
      {"PMIx_generate_regex", &pmix.generate_regex},
      {"PMIx_generate_ppn", &pmix.generate_ppn},
      {"PMIx_server_register_nspace", &pmix.register_nspace},
      {"PMIx_server_deregister_nspace", &pmix.deregister_nspace},
      {"PMIx_server_register_client", &pmix.register_client},
      {"PMIx_server_setup_fork", &pmix.setup_fork},
      {"PMIx_server_dmodex_request", &pmix.dmodex_request},
      {"PMIx_Error_string", &pmix.error_string},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
    void* const found = dlsym(library, wanted[i].name);
    if (found == NULL) return wanted[i].name;
    memmove(wanted[i].slot, &found, sizeof found);
  }
  void* const load = dlsym(library, "PMIx_Value_load");
  memmove(&pmix.value_load, &load, sizeof load);
  return NULL;
}

/* Loads the first file of the list that can be loaded; if none can, reports the errors of all. RTLD_GLOBAL, as
 * libpmix's components are linked with it by name or find its symbols because they are global. */
static void load(Input* in) {
  Buffer whys = {NULL, 0, 0};
  for (uint32_t left = take_count(in); left > 0; --left) {
    char* const path = take_text(in);
    void* const library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    const char* const lacks = library == NULL ? dlerror() : bind_all(library);
    if (lacks == NULL) {
      Buffer out = frame(kLoaded);
      put_text(&out, path);
      put_text(&out, pmix.version());
      send_frame(&out);
      free(path);
      free(whys.bytes);
      return;
    }
    if (whys.size > 0) put(&whys, "; ", 2);
    if (library != NULL) put(&whys, path, strlen(path));
    if (library != NULL) put(&whys, " lacks ", 7);
    put(&whys, lacks, strlen(lacks));
    free(path);
  }
  put(&whys, "", 1);
  refuse("no libpmix can be loaded", whys.bytes);
  free(whys.bytes);
}

/* ---- values for libpmix, which live as long as the process */

static bool take_infos(Input* in, PmixInfo** infos, size_t* count);

/* Returns false after a refusal has been sent. */
static bool take_regex(PmixValue* value, uint16_t type, const char* text) {
  char* regex = NULL;
  const int status = type == kTypeNodeNames ? pmix.generate_regex(text, &regex) : pmix.generate_ppn(text, &regex);
  if (!refuse_unless(status, "libpmix cannot describe the job's hosts")) return false;
  /* The expression may be compressed, with zero bytes inside: only the library knows its length. */
  if (pmix.value_load != NULL) {
    return refuse_unless(pmix.value_load(value, regex, kTypeRegex), "libpmix cannot describe the job's hosts");
  }
  value->type = kTypeRegex;
  value->data.object.bytes = regex;
  value->data.object.size = strlen(regex) + 1;
  return true;
}

static bool take_array(Input* in, PmixValue* value) {
  PmixDataArray* const array = need(calloc(1, sizeof *array));
  PmixInfo* items = NULL;
  array->type = kTypeInfo;
  if (!take_infos(in, &items, &array->size)) return false;
  array->array = items;
  value->data.array = array;
  return true;
}

static bool take_value(Input* in, PmixValue* value) {
  value->type = (uint16_t)take_number(in, 2);
  const uint64_t number = take_number(in, 8);
  char* const text = take_text(in);
  switch (value->type) {
    case kTypeBool: value->data.flag = number != 0; break;
    case kTypeString: value->data.string = text; return true;
    case kTypeSize: value->data.size = (size_t)number; break;
    case kTypeUint16: value->data.uint16 = (uint16_t)number; break;
    case kTypeUint32:
    case kTypeRank: value->data.uint32 = (uint32_t)number; break;
    case kTypeProc: {
      PmixProc* const proc = need(calloc(1, sizeof *proc));
      *proc = proc_of((uint32_t)number);
      value->data.proc = proc;
      break;
    }
    case kTypeDataArray: free(text); return take_array(in, value);
    default: return take_regex(value, value->type, text);
  }
  free(text);
  return true;
}

static bool take_infos(Input* in, PmixInfo** infos, size_t* count) {
  *count = take_count(in);
  *infos = need(calloc(*count + 1, sizeof **infos));
  for (size_t i = 0; i < *count; ++i) {
    char* const key = take_text(in);
    const size_t size = strlen(key);
    memmove((*infos)[i].key, key, size < kKeySize ? size : kKeySize - 1);
    free(key);
    if (!take_value(in, &(*infos)[i].value)) return false;
  }
  return true;
}

/* ---- calls of libpmix that end later */

static int ended[2]; /* a pipe for their status */

static void note_end(int status, void* its) {
  (void)its;
  if (write(ended[1], &status, sizeof status) < 0) _exit(1);
}

/* The result of a call that returned `status` and, if it continues asynchronously, calls note_end(). */
static int result_of(int status) {
  if (status == kPmixOperationSucceeded) return kPmixSuccess;
  if (status != kPmixSuccess) return status;
  struct pollfd end = {ended[0], POLLIN, 0};
  if (poll(&end, 1, kCallSeconds * 1000) != 1) return kPmixError;
  return read(ended[0], &status, sizeof status) == (ssize_t)sizeof status ? status : kPmixError;
}

/* ---- requests of the agent */

/* Registers a rank and adds its environment to `out`. Returns false after a refusal has been sent. */
static bool add_client(uint32_t rank, Buffer* out) {
  const PmixProc proc = proc_of(rank);
  const int known = pmix.register_client(&proc, getuid(), getgid(), NULL, note_end, NULL);
  if (!refuse_unless(result_of(known), "libpmix does not take a rank")) return false;
  char** environment = NULL;
  if (!refuse_unless(pmix.setup_fork(&proc, &environment), "libpmix has no environment for a rank")) return false;
  uint32_t count = 0;
  while (environment != NULL && environment[count] != NULL) ++count;
  put_number(out, rank);
  put_number(out, count);
  for (uint32_t i = 0; i < count; ++i) put_text(out, environment[i]);
  return true;
}

/* Registers a namespace and its ranks on this host. Returns false after a refusal has been sent. */
static bool add_world(Input* in, const World* world) {
  PmixInfo* infos = NULL;
  size_t info_count = 0;
  if (!take_infos(in, &infos, &info_count)) return false;
  const uint32_t count = take_count(in);
  const int known = pmix.register_nspace(world->name, (int)count, infos, info_count, note_end, NULL);
  if (!refuse_unless(result_of(known), "libpmix does not take the job's description")) return false;
  Buffer out = frame(kServing);
  put_number(&out, count);
  for (uint32_t i = 0; i < count; ++i) {
    if (!add_client(take_count(in), &out)) return false;
  }
  send_frame(&out);
  return true;
}

static void forget(uint32_t base) {
  const World world = forget_world(base);
  if (world.size == 0) return;
  pmix.deregister_nspace(world.name, note_end, NULL);
  result_of(kPmixSuccess);
}

static void add_another(Input* in) {
  const uint32_t base = take_count(in);
  const World world = take_world(in, base);
  remember_world(&world);
  if (!add_world(in, &world)) forget_world(base);
}

static void serve(Input* in) {
  static PmixModule module = {.client_connected = on_connected,
                              .client_finalized = on_finalized,
                              .abort = on_abort,
                              .fence = on_fence,
                              .direct_modex = on_direct_modex,
                              .publish = on_publish,
                              .lookup = on_lookup,
                              .unpublish = on_unpublish,
                              .spawn = on_spawn,
                              .connect = on_connect,
                              .disconnect = on_connect,
                              .log = on_log,
                              .job_control = on_job_control,
                              .group = on_group};
  const World world = take_world(in, 0);
  remember_world(&world);
  PmixInfo* of_server = NULL;
  size_t server_count = 0;
  if (!take_infos(in, &of_server, &server_count)) return;
  if (!refuse_unless(pmix.init(&module, of_server, server_count), "libpmix does not start")) return;
  serving = true;
  add_world(in, &world);
}

static void on_modex_reply(int status, char* data, size_t size, void* its) {
  Buffer out = frame(kModexData);
  put_number(&out, (uint32_t)(uintptr_t)its);
  put_number(&out, (uint32_t)status);
  put_bytes(&out, data, data == NULL ? 0 : size);
  send_frame(&out);
}

static void give_modex(Input* in) {
  const uint32_t id = take_count(in);
  const PmixProc proc = proc_of(take_count(in));
  const int status = pmix.dmodex_request(&proc, on_modex_reply, (void*)(uintptr_t)id);
  if (status != kPmixSuccess) on_modex_reply(status, NULL, 0, (void*)(uintptr_t)id);
}

static void leave(void) {
  signal(SIGALRM, SIG_DFL);
  alarm(kEndSeconds); /* ends the process even if the library hangs */
  for (uint32_t i = 0; serving && i < world_count; ++i) pmix.deregister_nspace(worlds[i].name, note_end, NULL);
  if (serving) pmix.finalize();
  _exit(0);
}

static void obey(unsigned char type, Input* in) {
  switch (type) {
    case kLoad: load(in); break;
    case kServe: serve(in); break;
    case kAnswer: answer(in); break;
    case kGiveModex: give_modex(in); break;
    case kAddWorld: add_another(in); break;
    case kForget: forget(take_count(in)); break;
    default: leave();
  }
}

/* Ignores the signals that end or stop the workers: all that can be ignored, but for SIGCHLD, as libpmix may wait for
 * processes. Sets the name that ps shows, which otherwise is the number of the descriptor from which this program was
 * executed. Forbids tracing (PR_SET_DUMPABLE): a tracer, such as a worker of the same user, could read what ranks
 * publish, and would keep a killed helper from being reaped. */
static void outlive_workers(void) {
  for (int signo = 1; signo < NSIG; ++signo) {
    if (signo != SIGCHLD) signal(signo, SIG_IGN);
  }
  prctl(PR_SET_NAME, "sml-run-pmix");
  prctl(PR_SET_DUMPABLE, 0L);
}

static int run(int count, char** words, char** environment) {
  (void)count;
  (void)words;
  (void)environment;
  outlive_workers();
  if (pipe(ended) != 0) return 1;
  unsigned char head[kHeader];
  while (read_all(head, sizeof head)) {
    Input length = {head, 4};
    const uint32_t size = take_count(&length);
    unsigned char* const body = need(malloc((size_t)size + 1));
    if (!read_all(body, size)) break;
    Input in = {body, size};
    obey(head[4], &in);
    free(body);
  }
  leave();
  return 0;
}

SML_START(run)
