/* Sends libpmix's upcalls as frames to the agent, and passes the agent's answers back to libpmix.
 *
 * libpmix's thread calls the functions on_...(); main() calls answer(). In all of them, `its` is libpmix's own pointer,
 * which is passed back to it unchanged. */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/agent/pmix/frames.h"
#include "launcher/agent/pmix/pmix_abi.h"
#include "launcher/agent/pmix/worlds.h"

/* ---- pending upcalls */

/* An upcall that the agent must answer; its id is its index in `opened`. One of the five callbacks is set, the others
 * are null. */
typedef struct {
  bool used; /* false: the entry is free */
  PmixDone done;
  PmixData data;
  PmixSpawned spawned;
  PmixFound found;
  PmixInfos group;
  PmixProc* members; /* of the group; allocated */
  size_t member_count;
  char* key; /* the key that is looked up; allocated */
  void* its;
} Open;

/* The mutex `opening` guards both. */
static Open* opened;
static uint32_t open_room; /* number of entries, used or free */

/* Stores an upcall and returns its id. */
static uint32_t open_any(Open one) {
  pthread_mutex_lock(&opening);
  uint32_t id = 0;
  while (id < open_room && opened[id].used) ++id;
  if (id == open_room) {
    open_room = (open_room + 8) * 2;
    opened = need(realloc(opened, open_room * sizeof *opened));
    memset(opened + id, 0, (open_room - id) * sizeof *opened);
  }
  one.used = true;
  opened[id] = one;
  pthread_mutex_unlock(&opening);
  return id;
}

/* The same for an upcall that needs nothing but one of these two callbacks. */
static uint32_t open_one(PmixDone done, PmixData data, void* its) {
  const Open one = {.done = done, .data = data, .its = its};
  return open_any(one);
}

/* Removes a pending upcall and returns it; one without callbacks if none has this id, or none any more. */
static Open close_one(uint32_t id) {
  Open one = {.used = false};
  pthread_mutex_lock(&opening);
  if (id < open_room && opened[id].used) {
    one = opened[id];
    opened[id].used = false;
  }
  pthread_mutex_unlock(&opening);
  return one;
}

/* Reads a published value in the format of put_value(): its type, then a text or bytes. Allocates these. */
static void take_published(Input* in, PmixValue* value) {
  const uint64_t type = take_number(in, 2);
  char* const bytes = need(calloc(1, in->left + 1));
  memmove(bytes, in->at, in->left);
  value->type = (uint16_t)type;
  if (type == kTypeString) {
    value->data.string = bytes;
  } else {
    value->data.object.bytes = bytes;
    value->data.object.size = in->left;
  }
}

/* Passes libpmix a published value and its publisher, or the reason why there is none. Does not free what it allocates:
 * that belongs to the library. */
static void answer_found(const Open* one, int status, const unsigned char* bytes, size_t size) {
  PmixPublished* const out = need(calloc(1, sizeof *out));
  const size_t length = strlen(one->key);
  const bool there = status == kPmixSuccess && size >= 6;
  memmove(out->key, one->key, length < kKeySize ? length : kKeySize - 1);
  if (there) {
    Input in = {bytes, size};
    out->proc = proc_of(take_count(&in));
    take_published(&in, &out->value);
  }
  one->found(there ? kPmixSuccess : status == kPmixSuccess ? kPmixError : status, out, there ? 1 : 0, one->its);
}

/* The answer to a group upcall; free_group() frees it once libpmix has read it. */
typedef struct {
  PmixDataArray members;
  PmixInfo infos[3];
  PmixInfo* given; /* the one of `infos` that holds the ranks' data; null: they gave none */
} GroupAnswer;

static void free_group(void* released) {
  GroupAnswer* const out = released;
  free(out->members.array);
  if (out->given != NULL) free(out->given->value.data.object.bytes); /* null if the library has taken them */
  free(out);
}

/* Adds an info to the answer and returns it, for its value. */
static PmixInfo* next_info(GroupAnswer* out, size_t* count, const char* key, uint16_t type) {
  PmixInfo* const info = &out->infos[(*count)++];
  memmove(info->key, key, strlen(key));
  info->value.type = type;
  return info;
}

/* Passes libpmix the members of the group, its context id, and the data that its ranks have given each other. */
static void answer_group(const Open* one, int status, const unsigned char* bytes, size_t size) {
  GroupAnswer* const out = need(calloc(1, sizeof *out));
  Input in = {bytes, size};
  size_t count = 0;
  out->members.type = kTypeProc;
  out->members.array = one->members;
  out->members.size = one->member_count;
  if (status == kPmixSuccess && size >= 8) {
    const uint64_t context = take_number(&in, 8);
    next_info(out, &count, "pmix.grp.mbrs", kTypeDataArray)->value.data.array = &out->members;
    if (context != 0) next_info(out, &count, "pmix.grp.ctxid", kTypeSize)->value.data.size = (size_t)context;
    if (in.left > 0) {
      out->given = next_info(out, &count, "pmix.grp.endpt", kTypeObject);
      out->given->value.data.object.bytes = need(malloc(in.left));
      out->given->value.data.object.size = in.left;
      memmove(out->given->value.data.object.bytes, in.at, in.left);
    }
  }
  one->group(status, out->infos, count, one->its, free_group, out);
}

/* Carries out an Answer of the agent: calls the callback of its upcall. */
static void answer(Input* in) {
  const uint32_t id = take_count(in);
  const int status = (int)take_count(in);
  const uint32_t size = take_count(in);
  const unsigned char* const at = take(in, size);
  const Open one = close_one(id);
  if (one.done != NULL) one.done(status, one.its);
  if (one.found != NULL) answer_found(&one, status, at, size);
  if (one.group != NULL) answer_group(&one, status, at, size);
  free(one.key);
  if (one.spawned != NULL) {
    char name[kNamespaceSize] = "";
    memmove(name, at, size < kNamespaceSize ? size : kNamespaceSize - 1);
    one.spawned(status, name, one.its);
  }
  if (one.data == NULL) return;
  char* const copy = need(malloc((size_t)size + 1));
  memmove(copy, at, size);
  one.data(status, copy, size, one.its, free, copy);
}

/* ---- upcalls
 *
 * Functions of PmixModule. A result of kPmixSuccess means that the callback `done` has been called or will be, once the
 * agent has answered. After kPmixOperationSucceeded or an error it is not called. */

/* Needs no answer of the agent. */
static int on_connected(const PmixProc* proc, void* object, PmixDone done, void* its) {
  (void)object;
  Buffer out = frame(kConnected);
  put_number(&out, rank_of(proc));
  send_frame(&out);
  if (done == NULL) return kPmixSuccess;
  done(kPmixSuccess, its);
  return kPmixSuccess;
}

static int on_finalized(const PmixProc* proc, void* object, PmixDone done, void* its) {
  (void)object;
  Buffer out = frame(kFinalized);
  put_number(&out, open_one(done, NULL, its));
  put_number(&out, rank_of(proc));
  send_frame(&out);
  return kPmixSuccess;
}

static int on_abort(const PmixProc* proc, void* object, int status, const char* text, PmixProc* procs, size_t count,
                    PmixDone done, void* its) {
  (void)object;
  (void)procs;
  (void)count; /* all ranks of the job end, whatever processes are named */
  Buffer out = frame(kAbort);
  put_number(&out, open_one(done, NULL, its));
  put_number(&out, rank_of(proc));
  put_number(&out, (uint32_t)status);
  put_text(&out, text);
  send_frame(&out);
  return kPmixSuccess;
}

/* Writes the number of ranks and the agent's number of each; UINT32_MAX if it is none of a known namespace. A wildcard
 * stands for all ranks of its namespace, and is written as these. Only if it stands alone and for the job's own
 * namespace, the wildcard itself is written. */
static void put_ranks(Buffer* to, const PmixProc* procs, size_t count) {
  Buffer ranks = {NULL, 0, 0};
  for (size_t i = 0; i < count; ++i) {
    const World world = world_of(&procs[i]);
    if (procs[i].rank != (uint32_t)kRankWildcard) {
      put_number(&ranks, rank_of(&procs[i]));
    } else if (world.size == 0) {
      put_number(&ranks, UINT32_MAX);
    } else if (count == 1 && world.base == 0) {
      put_number(&ranks, (uint32_t)kRankWildcard);
    } else {
      for (uint32_t rank = 0; rank < world.size; ++rank) put_number(&ranks, world.base + rank);
    }
  }
  put_number(to, (uint32_t)(ranks.size / 4));
  put(to, ranks.bytes, ranks.size);
  free(ranks.bytes);
}

static int on_fence(const PmixProc* procs, size_t count, const PmixInfo* infos, size_t info_count, char* data,
                    size_t size, PmixData done, void* its) {
  (void)infos;
  (void)info_count;
  Buffer out = frame(kFence);
  put_number(&out, open_one(NULL, done, its));
  put_ranks(&out, procs, count);
  put_bytes(&out, data, data == NULL ? 0 : size);
  send_frame(&out);
  return kPmixSuccess;
}

static int on_direct_modex(const PmixProc* proc, const PmixInfo* infos, size_t count, PmixData done, void* its) {
  (void)infos;
  (void)count;
  Buffer out = frame(kAskModex);
  put_number(&out, open_one(NULL, done, its));
  put_number(&out, rank_of(proc));
  send_frame(&out);
  return kPmixSuccess;
}

/* Ranks connect or disconnect (MPI_Comm_connect and the like): for the agent, this is a fence without data. */
static int on_connect(const PmixProc* procs, size_t count, const PmixInfo* infos, size_t info_count, PmixDone done,
                      void* its) {
  (void)infos;
  (void)info_count;
  Buffer out = frame(kFence);
  put_number(&out, open_one(done, NULL, its));
  put_ranks(&out, procs, count);
  put_text(&out, "");
  send_frame(&out);
  return kPmixSuccess;
}

static void put_texts(Buffer* to, char** texts) {
  uint32_t count = 0;
  while (texts != NULL && texts[count] != NULL) ++count;
  put_number(to, count);
  for (uint32_t i = 0; i < count; ++i) put_text(to, texts[i]);
}

static const PmixInfo* find_info(const PmixInfo* infos, size_t count, const char* key) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(infos[i].key, key) == 0) return &infos[i];
  }
  return NULL;
}

static const char* text_of(const PmixInfo* infos, size_t count, const char* key) {
  const PmixInfo* const info = find_info(infos, count, key);
  return info == NULL || info->value.type != kTypeString ? NULL : info->value.data.string;
}

static bool is_set(const PmixInfo* infos, size_t count, const char* key) {
  const PmixInfo* const info = find_info(infos, count, key);
  /* A key without a value counts as set. */
  return info != NULL && (info->value.type != kTypeBool || info->value.data.flag);
}

/* Ranks construct or destruct a group. If they need neither a context id nor a barrier, or if the group is local to
 * this host, libpmix does it without the agent. Refuses groups with members that only some of the ranks name. */
static int on_group(int step, char* name, const PmixProc* procs, size_t count, const PmixInfo* infos, size_t info_count,
                    PmixInfos done, void* its) {
  const bool wants_context = is_set(infos, info_count, "pmix.grp.actxid");
  const bool waits = is_set(infos, info_count, "pmix.embed.barrier");
  if (find_info(infos, info_count, "pmix.grp.add") != NULL) return kPmixNotSupported;
  if ((!wants_context && !waits) || is_set(infos, info_count, "pmix.grp.lcl")) return kPmixOperationSucceeded;
  const PmixInfo* const given = find_info(infos, info_count, "pmix.grp.endpt");
  const bool has_bytes = given != NULL && given->value.type == kTypeObject;
  Open one = {.group = done, .member_count = count, .its = its};
  one.members = need(malloc((count + 1) * sizeof *procs));
  memmove(one.members, procs, count * sizeof *procs);
  Buffer out = frame(kGroup);
  put_number(&out, open_any(one));
  put_text(&out, name);
  put_number(&out, (uint32_t)step);
  put_ranks(&out, procs, count);
  put_number(&out, wants_context);
  put_bytes(&out, has_bytes ? given->value.data.object.bytes : NULL, has_bytes ? given->value.data.object.size : 0);
  send_frame(&out);
  return kPmixSuccess;
}

/* Whether put_infos() writes it: not the host list and the working directory, which have fields of their own. */
static bool is_passed_on(const PmixInfo* info) {
  if (strcmp(info->key, "pmix.host") == 0 || strcmp(info->key, "pmix.wdir") == 0) return false;
  return info->value.type == kTypeString || (info->value.type == kTypeBool && info->value.data.flag);
}

static void put_infos(Buffer* to, const PmixInfo* infos, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!is_passed_on(&infos[i])) continue;
    put_text(to, infos[i].key);
    put_text(to, infos[i].value.type == kTypeString ? infos[i].value.data.string : "true");
  }
}

static uint32_t count_infos(const PmixInfo* infos, size_t count) {
  uint32_t passed = 0;
  for (size_t i = 0; i < count; ++i) passed += is_passed_on(&infos[i]);
  return passed;
}

/* A program's own host list and working directory have priority over those of the whole call and of its rank. */
static int on_spawn(const PmixProc* proc, const PmixInfo* infos, size_t info_count, const PmixApp* apps, size_t count,
                    PmixSpawned done, void* its) {
  const Open one = {.spawned = done, .its = its};
  Buffer out = frame(kAskSpawn);
  put_number(&out, open_any(one));
  put_number(&out, rank_of(proc));
  put_number(&out, (uint32_t)count);
  for (size_t i = 0; i < count; ++i) {
    const PmixApp* const app = &apps[i];
    char* command[2] = {app->command, NULL};
    const char* const host = text_of(app->infos, app->info_count, "pmix.host");
    const char* const folder = text_of(app->infos, app->info_count, "pmix.wdir");
    put_texts(&out, app->argv != NULL && app->argv[0] != NULL ? app->argv : command);
    put_texts(&out, app->environment);
    put_text(&out, folder != NULL ? folder : app->directory);
    put_text(&out, host != NULL ? host : text_of(infos, info_count, "pmix.host"));
    put_number(&out, app->count < 0 ? 0 : (uint32_t)app->count);
    put_number(&out, count_infos(infos, info_count) + count_infos(app->infos, app->info_count));
    put_infos(&out, infos, info_count);
    put_infos(&out, app->infos, app->info_count);
  }
  send_frame(&out);
  return kPmixSuccess;
}

/* Writes the length, then the type in 2 bytes, then a text or bytes. */
static void put_value(Buffer* to, const PmixValue* value) {
  const bool text = value->type == kTypeString;
  const char* const bytes = text ? value->data.string : value->data.object.bytes;
  const size_t size = bytes == NULL ? 0 : text ? strlen(bytes) : value->data.object.size;
  const unsigned char type[2] = {(unsigned char)(value->type >> 8), (unsigned char)value->type};
  put_number(to, (uint32_t)(size + sizeof type));
  put(to, type, sizeof type);
  put(to, bytes, size);
}

/* Accepts a single name with a text or bytes as its value, as Open MPI publishes it. Keys that begin with "pmix." are
 * options. */
static int on_publish(const PmixProc* proc, const PmixInfo* infos, size_t count, PmixDone done, void* its) {
  const PmixInfo* what = NULL;
  for (size_t i = 0; i < count; ++i) {
    if (strncmp(infos[i].key, "pmix.", 5) == 0) continue;
    const uint16_t type = infos[i].value.type;
    if (what != NULL || (type != kTypeString && type != kTypeObject)) return kPmixNotSupported;
    what = &infos[i];
  }
  if (what == NULL) return kPmixNotSupported;
  const PmixInfo* const persist = find_info(infos, count, "pmix.persist");
  Buffer out = frame(kPublish);
  put_number(&out, open_one(done, NULL, its));
  put_number(&out, rank_of(proc));
  put_text(&out, what->key);
  put_value(&out, &what->value);
  put_number(&out, persist != NULL && persist->value.data.persistence == kPmixFirstRead);
  send_frame(&out);
  return kPmixSuccess;
}

/* Accepts a single name; so does on_unpublish(). */
static int on_lookup(const PmixProc* proc, char** keys, const PmixInfo* infos, size_t count, PmixFound done,
                     void* its) {
  (void)proc;
  if (keys == NULL || keys[0] == NULL || keys[1] != NULL) return kPmixNotSupported;
  const Open one = {.found = done, .key = need(strdup(keys[0])), .its = its};
  Buffer out = frame(kLookUp);
  put_number(&out, open_any(one));
  put_text(&out, keys[0]);
  put_number(&out, find_info(infos, count, "pmix.wait") != NULL);
  send_frame(&out);
  return kPmixSuccess;
}

static int on_unpublish(const PmixProc* proc, char** keys, const PmixInfo* infos, size_t count, PmixDone done,
                        void* its) {
  (void)proc;
  (void)infos;
  (void)count;
  if (keys == NULL || keys[0] == NULL || keys[1] != NULL) return kPmixNotSupported;
  Buffer out = frame(kUnpublish);
  put_number(&out, open_one(done, NULL, its));
  put_text(&out, keys[0]);
  send_frame(&out);
  return kPmixSuccess;
}

/* Text that a rank's library hands over to be printed; Open MPI 5 does so with its error messages. */
static void on_log(const PmixProc* proc, const PmixInfo* data, size_t count, const PmixInfo* directives,
                   size_t directive_count, PmixDone done, void* its) {
  (void)directives;
  (void)directive_count;
  Buffer out = frame(kLog);
  put_number(&out, open_one(done, NULL, its));
  put_number(&out, rank_of(proc));
  put_text(&out, text_of(data, count, "pmix.log.stdout"));
  put_text(&out, text_of(data, count, "pmix.log.stderr"));
  send_frame(&out);
}

/* libpmix itself removes the files that a rank registers for removal after its end, but only if the server has this
 * function. It refuses all requests that libpmix passes on. */
static int on_job_control(const PmixProc* proc, const PmixProc* targets, size_t target_count, const PmixInfo* infos,
                          size_t count, void* done, void* its) {
  (void)proc;
  (void)targets;
  (void)target_count;
  (void)infos;
  (void)count;
  (void)done;
  (void)its;
  return kPmixNotSupported;
}
