/* Lets only the user whom the helper serves, and root, connect to libpmix.
 *
 * libpmix listens on a port that every user of the host can reach, and believes a client's own statement of its
 * identity. The accept() of this file therefore replaces libc's, as a program's own functions take precedence over
 * those of its libraries, and asks the kernel which user owns the client's end of the connection before libpmix reads a
 * byte. */
#pragma once
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kEstablished = 1, kLongestRow = 512 };
static const uid_t kNobodyKnown = (uid_t)-1; /* no owner has been found */

/* One end of a TCP connection, as in the kernel's messages and tables. */
typedef struct {
  uint16_t port;     /* in network byte order, like the words */
  uint32_t words[4]; /* the address */
  int count;         /* of words: 1 for IPv4, 4 for IPv6 */
} End;

/* Returns false if the address is neither of IPv4 nor of IPv6. */
static bool end_of(const struct sockaddr_storage* from, End* out) {
  memset(out, 0, sizeof *out);
  if (from->ss_family == AF_INET) {
    const struct sockaddr_in* const in = (const struct sockaddr_in*)from;
    out->port = in->sin_port;
    out->count = 1;
    memmove(out->words, &in->sin_addr, sizeof in->sin_addr);
    return true;
  }
  const struct sockaddr_in6* const in = (const struct sockaddr_in6*)from;
  out->port = in->sin6_port;
  out->count = 4;
  memmove(out->words, &in->sin6_addr, sizeof in->sin6_addr);
  return from->ss_family == AF_INET6;
}

/* Returns the user that owns the socket whose own end is `own` and whose remote end is `other`. kNobodyKnown if no such
 * socket is established and open in some process, or if the kernel does not answer. */
static uid_t ask_kernel(const End* own, const End* other) {
  struct {
    struct nlmsghdr head;
    struct inet_diag_req_v2 body;
  } question;
  struct {
    struct nlmsghdr head;
    struct inet_diag_msg body;
    char more[2048];
  } answer;
  memset(&question, 0, sizeof question);
  question.head.nlmsg_len = sizeof question;
  question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.head.nlmsg_flags = NLM_F_REQUEST;
  question.body.sdiag_family = own->count == 1 ? AF_INET : AF_INET6;
  question.body.sdiag_protocol = IPPROTO_TCP;
  question.body.idiag_states = ~0U;
  question.body.id.idiag_sport = own->port;
  question.body.id.idiag_dport = other->port;
  memmove(question.body.id.idiag_src, own->words, sizeof own->words);
  memmove(question.body.id.idiag_dst, other->words, sizeof other->words);
  question.body.id.idiag_cookie[0] = question.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  const int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (netlink < 0) return kNobodyKnown;
  memset(&answer, 0, sizeof answer); /* the kernel answers before send() returns */
  const bool told =
      send(netlink, &question, sizeof question, 0) > 0 &&
      recv(netlink, &answer, sizeof answer, MSG_DONTWAIT) >= (ssize_t)(sizeof answer.head + sizeof answer.body) &&
      answer.head.nlmsg_type == SOCK_DIAG_BY_FAMILY;
  close(netlink);
  const struct inet_diag_msg* const found = &answer.body;
  const bool is_it = told && found->id.idiag_sport == own->port && found->id.idiag_dport == other->port &&
                     found->idiag_state == kEstablished && found->idiag_inode != 0;
  return is_it ? found->idiag_uid : kNobodyKnown;
}

/* Writes an end as /proc/net/tcp has it, with a blank after it; returns the number of characters. */
static size_t put_end(char* to, const End* end) {
  size_t size = 0;
  for (int i = 0; i < end->count; ++i) size += (size_t)sprintf(to + size, "%08X", end->words[i]);
  return size + (size_t)sprintf(to + size, ":%04X ", ntohs(end->port));
}

/* The number in a column of a table row, counted from 0. */
static unsigned long number_in(const char* row, int column) {
  for (; column > 0; --column) {
    row += strspn(row, " ");
    row += strcspn(row, " ");
  }
  row += strspn(row, " ");
  unsigned long out = 0;
  while (*row >= '0' && *row <= '9') out = out * 10 + (unsigned long)(*row++ - '0');
  return out;
}

/* Like ask_kernel(), for kernels that cannot be asked about a single socket: reads the table of all sockets. */
static uid_t read_table(const End* own, const End* other) {
  enum { kUid = 7, kInode = 9 };
  char ends[128], row[kLongestRow];
  size_t size = put_end(ends, own);
  size += put_end(ends + size, other);
  memmove(ends + size, "01 ", sizeof "01 "); /* the state: established */
  uid_t out = kNobodyKnown;
  FILE* const table = fopen(own->count == 1 ? "/proc/self/net/tcp" : "/proc/self/net/tcp6", "re");
  while (table != NULL && fgets(row, sizeof row, table) != NULL) {
    if (strstr(row, ends) != NULL && number_in(row, kInode) != 0) out = (uid_t)number_in(row, kUid);
  }
  if (table != NULL) fclose(table);
  return out;
}

static bool is_served(uid_t user) { return user == geteuid() || user == 0; }

/* Whether the client's end of an accepted connection belongs to the user of the helper or to root. If the connection
 * was reset meanwhile, another process may own a new socket with the same ends, while the bytes of the old one can
 * still be read: so the connection must still be established after the check. */
static bool is_of_user(int fd) {
  struct sockaddr_storage here, there;
  socklen_t size = sizeof here;
  struct ucred peer;
  socklen_t peer_size = sizeof peer;
  End own, other;
  memset(&here, 0, sizeof here);
  memset(&there, 0, sizeof there);
  if (getsockname(fd, (struct sockaddr*)&here, &size) != 0) return false;
  if (here.ss_family == AF_UNIX) {
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) == 0 && is_served(peer.uid);
  }
  size = sizeof there;
  if (getpeername(fd, (struct sockaddr*)&there, &size) != 0 || !end_of(&there, &other) || !end_of(&here, &own))
    return false;
  uid_t user = ask_kernel(&other, &own);
  if (user == kNobodyKnown) user = read_table(&other, &own);
  size = sizeof there;
  return is_served(user) && getpeername(fd, (struct sockaddr*)&there, &size) == 0;
}

/* Closes connections of other users and returns EAGAIN for them: to libpmix, they have not arrived. libpmix calls
 * accept() again if another connection waits. */
int accept4(int listener, __SOCKADDR_ARG address, socklen_t* size, int flags) {
  const int fd = (int)syscall(SYS_accept4, listener, address.__sockaddr__, size, flags);
  if (fd < 0 || is_of_user(fd)) return fd;
  close(fd);
  errno = EAGAIN;
  return -1;
}

int accept(int listener, __SOCKADDR_ARG address, socklen_t* size) { return accept4(listener, address, size, 0); }
