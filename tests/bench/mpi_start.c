/* An MPI program that does nothing: rank 0 says when each rank began and when it was past the first barrier, as
 * nanoseconds of CLOCK_MONOTONIC, which all hosts of a testbed share. Then it ends the job by MPI_Abort: MPI_Finalize
 * of MPICH 4.0 with UCX over TCP may hang, under any launcher. "bare": without MPI, each says it for itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long long now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static void nap(void) {
  const struct timespec some = {0, 20000000};
  nanosleep(&some, NULL);
}

int main(int count, char** words) {
  long long own[2] = {now(), 0};
  if (count > 1 && strcmp(words[1], "bare") == 0) {
    printf("began %lld past %lld\n", own[0], own[0]);
    return 0;
  }
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
