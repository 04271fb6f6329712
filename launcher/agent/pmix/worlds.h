/* The namespaces that libpmix serves in this helper process, and the conversion between their ranks and the agent's
 * numbers of ranks. */
#pragma once
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/agent/pmix/frames.h"
#include "launcher/agent/pmix/pmix_abi.h"

/* A namespace that is served, which is an MPI_COMM_WORLD: the job's own, or that of spawned ranks. The agent numbers
 * all ranks of the job; those of this namespace begin at `base`. */
typedef struct {
  char name[kNamespaceSize];
  uint32_t base;
  uint32_t size;
} World;

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER; /* guards what libpmix's thread uses, too */
static World* worlds;
static uint32_t world_count;

static World take_world(Input* in, uint32_t base) {
  World out;
  memset(&out, 0, sizeof out);
  char* const name = take_text(in);
  const size_t length = strlen(name);
  memmove(out.name, name, length < kNamespaceSize ? length : kNamespaceSize - 1);
  free(name);
  out.base = base;
  out.size = take_count(in);
  return out;
}

static void remember_world(const World* world) {
  pthread_mutex_lock(&opening);
  worlds = need(realloc(worlds, (world_count + 1) * sizeof *worlds));
  worlds[world_count++] = *world;
  pthread_mutex_unlock(&opening);
}

/* Removes the namespace that begins at `base`, and returns it; one of size 0 if there is none. */
static World forget_world(uint32_t base) {
  World out = {"", 0, 0};
  pthread_mutex_lock(&opening);
  for (uint32_t i = 0; i < world_count; ++i) {
    if (worlds[i].base != base) continue;
    out = worlds[i];
    worlds[i] = worlds[--world_count];
    break;
  }
  pthread_mutex_unlock(&opening);
  return out;
}

/* The process of a rank of the agent's numbering; one with an empty namespace if there is none. */
static PmixProc proc_of(uint32_t rank) {
  PmixProc out;
  memset(&out, 0, sizeof out);
  pthread_mutex_lock(&opening);
  for (uint32_t i = 0; i < world_count; ++i) {
    if (rank < worlds[i].base || rank - worlds[i].base >= worlds[i].size) continue;
    memmove(out.nspace, worlds[i].name, sizeof out.nspace);
    out.rank = rank - worlds[i].base;
  }
  pthread_mutex_unlock(&opening);
  return out;
}

/* The namespace of a process; one of size 0 if it is not served. */
static World world_of(const PmixProc* proc) {
  World out = {"", UINT32_MAX, 0};
  pthread_mutex_lock(&opening);
  for (uint32_t i = 0; i < world_count; ++i) {
    if (strncmp(worlds[i].name, proc->nspace, kNamespaceSize) == 0) out = worlds[i];
  }
  pthread_mutex_unlock(&opening);
  return out;
}

/* The agent's number of a rank; UINT32_MAX if the process is no rank of a known namespace. */
static uint32_t rank_of(const PmixProc* proc) {
  const World world = world_of(proc);
  return proc->rank < world.size ? world.base + proc->rank : UINT32_MAX;
}
