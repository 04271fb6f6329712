/* Whom the accept() of libpmix's helper lets in: prints a line for each caller. With -DBY_TABLE the kernel cannot be
 * asked for one socket. */
#define _GNU_SOURCE
#include <linux/netlink.h>
#ifdef BY_TABLE
#undef NETLINK_SOCK_DIAG
#define NETLINK_SOCK_DIAG 31 /* there is none */
#endif
#include "launcher/agent/pmix/callers.h"

#include <stdlib.h>
#include <sys/wait.h>

enum { kSomebodyElse = 7700 };

static int check(int status) {
  if (status < 0) perror("pmix_callers");
  if (status < 0) exit(1);
  return status;
}

static void call(const struct sockaddr_storage* where, socklen_t size, uid_t user, bool leaves, int said, int over) {
  const struct linger at_once = {1, 0};
  char byte = 0;
  check(user == 0 ? 0 : setuid(user));
  const int fd = check(socket(where->ss_family, SOCK_STREAM, 0));
  check(connect(fd, (const struct sockaddr*)where, size));
  check((int)write(fd, "evil", 4));
  if (leaves) check(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
  if (leaves) close(fd);
  check((int)write(said, "x", 1));
  exit(check((int)read(over, &byte, 1)) == 1 ? 0 : 1);
}

static void try_one(int family, uid_t user, bool leaves) {
  struct sockaddr_storage where;
  socklen_t size = sizeof where;
  int said[2], over[2];
  char byte = 0;
  memset(&where, 0, sizeof where);
  where.ss_family = (sa_family_t)family;
  if (family == AF_INET) ((struct sockaddr_in*)&where)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (family == AF_INET6) ((struct sockaddr_in6*)&where)->sin6_addr = in6addr_loopback;
  const int listener = check(socket(family, SOCK_STREAM, 0));
  check(bind(listener, (struct sockaddr*)&where, size));
  check(listen(listener, 1));
  check(getsockname(listener, (struct sockaddr*)&where, &size));
  check(pipe(said));
  check(pipe(over));
  if (check(fork()) == 0) call(&where, size, user, leaves, said[1], over[0]);
  check((int)read(said[0], &byte, 1));
  const int fd = accept(listener, NULL, NULL);
  const char* const who = leaves ? "who has left" : user == 0 ? "the user" : "somebody else";
  printf("%s by IPv%d: %s\n", who, family == AF_INET ? 4 : 6, fd >= 0 ? "let in" : errno == EAGAIN ? "closed" : "?");
  fflush(stdout);
  check((int)write(over[1], "x", 1));
  check(wait(NULL));
  close(listener);
}

int main(void) {
  const int families[] = {AF_INET, AF_INET6};
  for (int i = 0; i < 2; ++i) {
    try_one(families[i], 0, false);
    try_one(families[i], kSomebodyElse, false);
    try_one(families[i], 0, true);
  }
  return 0;
}
