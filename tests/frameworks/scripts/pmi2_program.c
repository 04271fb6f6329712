/* What programs ask of PMI-2, by Slurm's libpmi2: pmi2_program ring|abort|spawn|die. Each says who it is and what it
 * got. */
#include <pmi2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void check(int status, const char* what) {
  if (status == PMI2_SUCCESS) return;
  printf("rank %d: %s failed: %d\n", rank, what, status);
  exit(1);
}

static void ring(void) {
  char job[256], key[PMI2_MAX_KEYLEN], value[PMI2_MAX_VALLEN], got[PMI2_MAX_VALLEN];
  int length = 0, found = 0;
  check(PMI2_Job_GetId(job, sizeof job), "job id");
  for (int round = 0; round < 3; ++round) { /* keys may be put again */
    snprintf(key, sizeof key, "card-%d", rank);
    snprintf(value, sizeof value, "tcp://host:%d/a=%d,b", 1000 * round + rank, round);
    check(PMI2_KVS_Put(key, value), "put");
    check(PMI2_KVS_Fence(), "fence");
    const int next = (rank + 1) % size;
    snprintf(key, sizeof key, "card-%d", next);
    check(PMI2_KVS_Get(job, next, key, got, sizeof got, &length), "get");
    snprintf(value, sizeof value, "tcp://host:%d/a=%d,b", 1000 * round + next, round);
    if (strcmp(got, value) != 0 || length != (int)strlen(value)) printf("rank %d got %s, not %s\n", rank, got, value);
    check(PMI2_KVS_Fence(), "fence");
  }
  memset(value, 'x', sizeof value); /* the longest */
  value[sizeof value - 1] = '\0';
  snprintf(key, sizeof key, "long-%d", rank);
  check(PMI2_KVS_Put(key, value), "put of much");
  check(PMI2_KVS_Fence(), "fence");
  snprintf(key, sizeof key, "long-%d", size - 1 - rank);
  check(PMI2_KVS_Get(job, PMI2_ID_NULL, key, got, sizeof got, &length), "get of much");
  if (strcmp(got, value) != 0) printf("rank %d got %d bytes\n", rank, length);
  found = PMI2_KVS_Get(job, PMI2_ID_NULL, "nobody's", got, sizeof got, &length) != PMI2_SUCCESS;
  printf("ring %d of %d: a key that nobody has put is %s\n", rank, size, found ? "none" : got);
}

static void attributes(int first_on_host) {
  char value[PMI2_MAX_ATTRVALUE] = "", got[PMI2_MAX_ATTRVALUE] = "", port[PMI2_MAX_VALLEN] = "";
  int found = 0;
  check(PMI2_Info_GetJobAttr("PMI_process_mapping", value, sizeof value, &found), "mapping");
  printf("mapping %d: %s\n", rank, found ? value : "none");
  if (first_on_host) { /* the others wait for it */
    usleep(100 * 1000);
    check(PMI2_Info_PutNodeAttr("segment", "shm-of-this-host"), "node attribute");
  }
  check(PMI2_Info_GetNodeAttr("segment", got, sizeof got, &found, 1), "node attribute");
  printf("segment %d: %s\n", rank, found ? got : "none");
  if (rank == 0) check(PMI2_Nameserv_publish("ocean", NULL, "port-7"), "publish");
  check(PMI2_KVS_Fence(), "fence");
  check(PMI2_Nameserv_lookup("ocean", NULL, port, sizeof port), "lookup");
  printf("port %d: %s\n", rank, port);
  check(PMI2_KVS_Fence(), "fence");
  if (rank == 0) check(PMI2_Nameserv_unpublish("ocean", NULL), "unpublish");
}

static void spawn(void) {
  const char *commands[] = {"/bin/true"}, **arguments[] = {NULL};
  int counts[] = {0}, most[] = {1}, infos[] = {0}, errors[1] = {0};
  const struct MPID_Info* info[] = {NULL};
  char job[256] = "";
  const int status =
      PMI2_Job_Spawn(1, commands, counts, arguments, most, infos, info, 0, NULL, job, sizeof job, errors);
  printf("spawn %d: %s\n", rank, status == PMI2_SUCCESS ? job : "refused");
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "ring";
  int spawned = 0, number = 0;
  check(PMI2_Init(&spawned, &size, &rank, &number), "init");
  const char* local = getenv("MPI_LOCALRANKID");
  if (strcmp(kind, "ring") == 0) {
    ring();
    attributes(local != NULL && atoi(local) == 0);
  }
  if (strcmp(kind, "spawn") == 0) spawn();
  fflush(stdout);
  if (strcmp(kind, "abort") == 0) {
    if (rank == size - 1) PMI2_Abort(1, "the mesh is empty");
    pause();
  }
  if (strcmp(kind, "die") == 0) { /* the others are at a fence that never ends */
    if (rank == size - 1) _exit(7);
    PMI2_KVS_Fence();
  }
  check(PMI2_Finalize(), "finalize");
  return 0;
}
