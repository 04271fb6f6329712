/* An MPI program that does nothing: rank 0 says when each rank began and when it was past the first barrier, as
 * nanoseconds of CLOCK_MONOTONIC, which all hosts of a testbed share. Then it ends the job by MPI_Abort: MPI_Finalize
 * of MPICH 4.0 with UCX over TCP may hang, under any launcher. "bare": without MPI, each says it for itself. "meet":
 * without MPI either, but each has met all others by words of PMI-1 as MPICH's MPI_Init says them, with a card of each.
 * "fences N": so, and then N times more, each with a new card; "began" is before the first of these, "past" after the
 * last. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static void nap(void) {
  const struct timespec some = {0, 20000000};
  nanosleep(&some, NULL);
}

/* Says one line of PMI-1 and hears one, of which it answers the word after `key`. */
static const char* say(int fd, const char* line, const char* key) {
  static char heard[4096];
  size_t size = 0;
  if (write(fd, line, strlen(line)) < 0) exit(3);
  while (size == 0 || heard[size - 1] != '\n') {
    const ssize_t more = read(fd, heard + size, sizeof heard - 1 - size);
    if (more <= 0) exit(3);
    size += (size_t)more;
  }
  heard[size] = 0;
  char* at = strstr(heard, key);
  if (at == NULL) exit(4);
  at += strlen(key);
  at[strcspn(at, " \n")] = 0;
  return at;
}

static int channel(void) { return atoi(getenv("PMI_FD")); }

static void put_card(const char* space, int deck) {
  char line[512];
  snprintf(line, sizeof line, "cmd=put kvsname=%s key=card-%d-%s value=%0200d\n", space, deck, getenv("PMI_RANK"), 7);
  say(channel(), line, "rc=0");
}

static void get_card(const char* space, int deck, int rank) {
  char line[512];
  snprintf(line, sizeof line, "cmd=get kvsname=%s key=card-%d-%d\n", space, deck, rank);
  say(channel(), line, "value=");
}

static void fence(void) { say(channel(), "cmd=barrier_in\n", "cmd=barrier_out"); }

static void meet(char* space, size_t most) {
  const int size = atoi(getenv("PMI_SIZE"));
  char line[512];
  say(channel(), "cmd=init pmi_version=1 pmi_subversion=1\n", "rc=0");
  say(channel(), "cmd=get_maxes\n", "cmd=maxes");
  say(channel(), "cmd=get_appnum\n", "cmd=appnum");
  snprintf(space, most, "%s", say(channel(), "cmd=get_my_kvsname\n", "kvsname="));
  snprintf(line, sizeof line, "cmd=get kvsname=%s key=PMI_process_mapping\n", space);
  say(channel(), line, "value=");
  put_card(space, 0);
  fence();
  for (int i = 0; i < size; ++i) get_card(space, 0, i);
}

/* Without MPI, by words of PMI alone. */
static int alone(int fences) {
  char space[256];
  long long began = now();
  meet(space, sizeof space);
  if (fences > 0) {
    fence(); /* that all have their cards, and begin together */
    began = now();
  }
  for (int deck = 1; deck <= fences; ++deck) {
    put_card(space, deck);
    fence();
  }
  printf("began %lld past %lld\n", began, now());
  fflush(stdout);
  say(channel(), "cmd=finalize\n", "cmd=finalize_ack");
  return 0;
}

int main(int count, char** words) {
  long long own[2] = {now(), 0};
  if (count > 1 && strcmp(words[1], "bare") == 0) {
    printf("began %lld past %lld\n", own[0], own[0]);
    return 0;
  }
  if (count > 1 && strcmp(words[1], "meet") == 0) return alone(0);
  if (count > 2 && strcmp(words[1], "fences") == 0) return alone(atoi(words[2]));
  int size = 0, rank = 0;
  MPI_Init(&count, &words);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  own[1] = now();
  long long* all = calloc((size_t)size * 2, sizeof *all);
  MPI_Gather(own, 2, MPI_LONG_LONG, all, 2, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = 0; i < size; ++i) printf("began %lld past %lld\n", all[2 * i], all[2 * i + 1]);
    fflush(stdout);
    nap(); /* some launchers lose what is under way then */
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (;;) nap();
}
