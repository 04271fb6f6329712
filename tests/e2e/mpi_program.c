/* What programs do by MPI, one kind a run: mpi_program KIND [NUMBER]. Each rank says who it is and what it got. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void ring(void) {
  int token = 0;
  if (size == 1) printf("ring 0 of 1 alone\n");
  if (size == 1) return;
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  if (rank > 0) MPI_Recv(&token, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  token += rank;
  MPI_Send(&token, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(&token, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("ring %d of %d got %d\n", rank, size, token);
}

/* All to all, with what does not fit into one packet. */
static void all_to_all(void) {
  enum { kEach = 10000 };
  int* out = malloc(sizeof(int) * kEach * (size_t)size);
  int* in = malloc(sizeof(int) * kEach * (size_t)size);
  for (int i = 0; i < kEach * size; ++i) out[i] = rank * 1000 + i / kEach;
  MPI_Alltoall(out, kEach, MPI_INT, in, kEach, MPI_INT, MPI_COMM_WORLD);
  int wrong = 0;
  for (int i = 0; i < kEach * size; ++i) wrong += in[i] != (i / kEach) * 1000 + rank;
  printf("alltoall %d of %d wrong %d\n", rank, size, wrong);
  free(out);
  free(in);
}

static void one_sided(void) {
  enum { kCells = 1024 };
  int* cells = NULL;
  int got = -1;
  MPI_Win window;
  MPI_Alloc_mem(kCells * sizeof(int), MPI_INFO_NULL, &cells);
  cells[0] = -1;
  cells[1] = rank;
  MPI_Win_create(cells, kCells * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
  MPI_Get(&got, 1, MPI_INT, (rank + 1) % size, 1, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  printf("onesided %d of %d was put %d and got %d\n", rank, size, cells[0], got);
  MPI_Win_free(&window);
  MPI_Free_mem(cells);
}

/* Where the rank runs once MPI has begun; of how many ranks Open MPI sees that they share its core and its NUMA node.
 */
static void bound(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  int sharing[2] = {0, 0};
#ifdef OPEN_MPI
  const int kinds[2] = {OMPI_COMM_TYPE_CORE, OMPI_COMM_TYPE_NUMA};
  for (int i = 0; i < 2; ++i) {
    MPI_Comm part;
    MPI_Comm_split_type(MPI_COMM_WORLD, kinds[i], 0, MPI_INFO_NULL, &part);
    MPI_Comm_size(part, &sharing[i]);
    MPI_Comm_free(&part);
  }
#endif
  printf("bound %d of %d to", rank, size);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) printf(" %d", cpu);
  }
  printf(" core %d numa %d\n", sharing[0], sharing[1]);
}

/* Which ranks the library takes for neighbours, and what the launcher told of the job. */
static void places(void) {
  MPI_Comm node;
  int on_node = 0, found = 0, *universe = NULL, *number = NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &on_node);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &found);
  if (!found) universe = NULL;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &found);
  if (!found) number = NULL;
  printf("place %d of %d node %d universe %d program %d\n", rank, size, on_node, universe ? *universe : -1,
         number ? *number : -1);
  MPI_Comm_free(&node);
}

static void names(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  if (rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name("ocean", MPI_INFO_NULL, port);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  char found[MPI_MAX_PORT_NAME] = "";
  MPI_Lookup_name("ocean", MPI_INFO_NULL, found);
  MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
  printf("name %d of %d %s\n", rank, size, strcmp(port, found) == 0 ? "found" : "wrong");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Unpublish_name("ocean", MPI_INFO_NULL, port);
}

/* A communicator of all ranks and one of every second, made without MPI_COMM_WORLD. */
static void groups(void) {
#ifdef MPI_ERR_SESSION
  MPI_Session session;
  MPI_Group all, half;
  MPI_Comm of_all, of_half;
  int sum = 0, place = 0;
  int every_second[1][3] = {{rank % 2, size - 2 + rank % 2, 2}};
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Group_range_incl(all, 1, every_second, &half);
  MPI_Comm_create_from_group(all, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &of_all);
  MPI_Comm_create_from_group(half, rank % 2 ? "odd" : "even", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &of_half);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, of_all);
  MPI_Comm_rank(of_half, &place);
  printf("group %d of %d sum %d place %d\n", rank, size, sum, place);
  MPI_Comm_free(&of_half);
  MPI_Comm_free(&of_all);
  MPI_Group_free(&half);
  MPI_Group_free(&all);
  MPI_Session_finalize(&session);
#endif
}

/* A session after the last one has ended, and that twice. */
static int one_session_after_the_other(void) {
#ifdef MPI_ERR_SESSION
  for (int turn = 0; turn < 3; ++turn) {
    MPI_Session session;
    MPI_Group all;
    MPI_Comm of_all;
    int sum = 0;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Comm_create_from_group(all, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &of_all);
    MPI_Comm_rank(of_all, &rank);
    MPI_Comm_size(of_all, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, of_all);
    printf("session %d of rank %d of %d sum %d\n", turn, rank, size, sum);
    MPI_Comm_free(&of_all);
    MPI_Group_free(&all);
    MPI_Session_finalize(&session);
  }
#endif
  return 0;
}

/* Three programs: a rank on the second host, two on the first, and one on the second again. */
static void spawn_back(char* program, char* first, char* second) {
  char* words[] = {"child", NULL};
  char* programs[] = {program, program, program};
  char** words_of_each[] = {words, words, words};
  char* hosts[] = {second, first, second};
  const int counts[] = {1, 2, 1};
  MPI_Info infos[3];
  MPI_Comm children, all;
  int sum = 0, place = 0;
  for (int i = 0; i < 3; ++i) {
    MPI_Info_create(&infos[i]);
    MPI_Info_set(infos[i], "host", hosts[i]);
  }
  MPI_Comm_spawn_multiple(3, programs, words_of_each, counts, infos, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(children, 0, &all);
  MPI_Comm_rank(all, &place);
  MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, all);
  printf("spawn %d of %d sum %d\n", rank, size, sum);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&children);
}

/* "KEY VALUE", as the variable INFO has it. */
static MPI_Info wanted_info(void) {
  char key[64], value[256];
  MPI_Info info = MPI_INFO_NULL;
  if (getenv("INFO") == NULL || sscanf(getenv("INFO"), "%63s %255s", key, value) != 2) return info;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, value);
  return info;
}

/* Asks for so many more of this program, which then do `what`, and adds up ranks of both worlds. */
static void spawn(char* program, int count, char* what, MPI_Comm by) {
  MPI_Comm children, all;
  char* words[] = {what, NULL};
  int sum = 0, place = 0, together = 0;
  MPI_Comm_set_errhandler(by, MPI_ERRORS_RETURN);
  const int failed = MPI_Comm_spawn(program, words, count, wanted_info(), 0, by, &children, MPI_ERRCODES_IGNORE);
  if (failed) printf("spawn %d of %d failed\n", rank, size);
  if (failed) return;
  MPI_Intercomm_merge(children, 0, &all);
  MPI_Comm_rank(all, &place);
  MPI_Comm_size(all, &together);
  MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, all);
  printf("spawn %d of %d together %d sum %d\n", rank, size, together, sum);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&children);
}

static void be_child(void) {
  MPI_Comm parent, all;
  int sum = 0, place = 0, parents = 0;
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) printf("child %d of %d without parent\n", rank, size);
  if (parent == MPI_COMM_NULL) return;
  MPI_Comm_remote_size(parent, &parents);
  MPI_Intercomm_merge(parent, 1, &all);
  MPI_Comm_rank(all, &place);
  MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, all);
  printf("child %d of %d place %d of parents %d sum %d\n", rank, size, place, parents, sum);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&parent);
}

static volatile sig_atomic_t is_asked;

static void note(int signo) { is_asked = signo; }

/* Ends well, once this signal has asked it to end. */
static void wait_until_asked(int signo) {
  signal(signo, note);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("all wait\n");
  fflush(stdout);
  while (!is_asked) usleep(10000);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("asked %d of %d\n", rank, size);
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "ring";
  const int number = argc > 2 ? atoi(argv[2]) : 0;
  if (strcmp(kind, "sessions") == 0) return one_session_after_the_other();
  if (strcmp(kind, "late") == 0) sleep((unsigned)number); /* as one that reads its input first */
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(kind, "ring") == 0 || strcmp(kind, "late") == 0) ring();
  if (strcmp(kind, "alltoall") == 0) all_to_all();
  if (strcmp(kind, "onesided") == 0) one_sided();
  if (strcmp(kind, "places") == 0) places();
  if (strcmp(kind, "bound") == 0) bound();
  if (strcmp(kind, "names") == 0) names();
  if (strcmp(kind, "groups") == 0) groups();
  if (strcmp(kind, "spawn") == 0) spawn(argv[0], number, argc > 3 ? argv[3] : "child", MPI_COMM_WORLD);
  if (strcmp(kind, "spawn-back") == 0) spawn_back(argv[0], argv[2], argv[3]);
  if (strcmp(kind, "stay") == 0) pause();
  if (strcmp(kind, "asked") == 0) wait_until_asked(number);
  if (strcmp(kind, "spawn-nothing") == 0) spawn("no-such-program", number, "child", MPI_COMM_WORLD);
  if (strcmp(kind, "spawn-each") == 0) spawn(argv[0], number, "child", MPI_COMM_SELF);
  if (strcmp(kind, "child") == 0) be_child();
  if (strcmp(kind, "child-spawn") == 0) {
    be_child();
    spawn(argv[0], 1, "child", MPI_COMM_WORLD);
  }
  if (strcmp(kind, "child-bound") == 0) {
    bound();
    be_child();
  }
  if (strcmp(kind, "child-abort") == 0) {
    if (rank == size - 1) MPI_Abort(MPI_COMM_WORLD, 9);
    pause();
  }
  if (strcmp(kind, "child-exit") == 0) {
    if (rank == size - 1) _exit(6);
    pause();
  }
  if (strcmp(kind, "abort") == 0) {
    if (rank == size - 1) MPI_Abort(MPI_COMM_WORLD, number);
    pause();
  }
  if (strcmp(kind, "wrong") == 0) { /* what the library ends the job for */
    if (rank == size - 1) MPI_Send(&size, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (strcmp(kind, "crash") == 0) { /* with a line that C may keep */
    printf("step 41 done on rank %d\n", rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) raise(SIGSEGV);
    pause();
  }
  if (strcmp(kind, "leave") == 0) { /* without MPI_Finalize */
    if (rank == size - 1) _exit(number);
    pause();
  }
  if (strcmp(kind, "wait") == 0) { /* all but the last at the barrier, which never comes */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("all wait\n");
    fflush(stdout);
    if (rank == size - 1) pause();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  fflush(stdout);
  return MPI_Finalize();
}
