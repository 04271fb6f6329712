/* Reads and writes the frames between the helper and its agent (launcher/agent/mpi/pmix_frames.h). The helper's
 * standard input is one end of a socket, which carries the frames of both directions. */
#pragma once
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { kSocket = 0, kHeader = 5 }; /* the descriptor; the bytes of a frame's header */

/* Types of frames, as in pmix_frames.h. */
enum {
  kLoad = 1,
  kServe,
  kAnswer,
  kGiveModex,
  kLeave,
  kAddWorld,
  kForget,
  kLoaded = 16,
  kRefused,
  kServing,
  kConnected,
  kFinalized,
  kAbort,
  kFence,
  kAskModex,
  kModexData,
  kAskSpawn,
  kPublish,
  kLookUp,
  kUnpublish,
  kGroup,
  kLog
};

/* ---- frames (common/wire/frame.h): length of the fields, type, fields; numbers big-endian, lengths before contents */

/* Growing bytes. The owner frees them, or send_frame() does. */
typedef struct {
  char* bytes;
  size_t size;
  size_t room; /* that is allocated */
} Buffer;

/* The fields of a frame that have not been read yet; owns none of these bytes. */
typedef struct {
  const unsigned char* at;
  size_t left;
} Input;

/* Returns its argument; ends the process if that is null because memory is exhausted. */
static void* need(void* memory) {
  if (memory == NULL) _exit(1); /* the agent reports that the helper has ended */
  return memory;
}

static void put(Buffer* to, const void* bytes, size_t size) {
  if (to->room - to->size < size) {
    to->room = (to->size + size) * 2;
    to->bytes = need(realloc(to->bytes, to->room));
  }
  if (size > 0) memmove(to->bytes + to->size, bytes, size);
  to->size += size;
}

static void put_number(Buffer* to, uint32_t number) {
  const unsigned char bytes[4] = {(unsigned char)(number >> 24), (unsigned char)(number >> 16),
                                  (unsigned char)(number >> 8), (unsigned char)number};
  put(to, bytes, sizeof bytes);
}

static void put_bytes(Buffer* to, const void* bytes, size_t size) {
  put_number(to, (uint32_t)size);
  put(to, bytes, size);
}

/* Null counts as an empty text. */
static void put_text(Buffer* to, const char* text) { put_bytes(to, text, text == NULL ? 0 : strlen(text)); }

/* Begins a frame. send_frame() writes the length. */
static Buffer frame(unsigned char type) {
  Buffer out = {NULL, 0, 0};
  put_number(&out, 0);
  put(&out, &type, 1);
  return out;
}

/* Held while a frame is written, as main() and libpmix's thread both send frames. */
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

/* Sends the frame, waiting for room in the socket, and frees it. Ends the process if the agent is gone. */
static void send_frame(Buffer* what) {
  const uint32_t size = (uint32_t)(what->size - kHeader);
  for (int i = 0; i < 4; ++i) what->bytes[i] = (char)(size >> (24 - 8 * i));
  pthread_mutex_lock(&writing);
  for (size_t sent = 0; sent < what->size;) {
    const ssize_t n = write(kSocket, what->bytes + sent, what->size - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(0); /* the agent is gone */
    sent += (size_t)n;
  }
  pthread_mutex_unlock(&writing);
  free(what->bytes);
}

/* Returns false at the end of the socket. */
static bool read_all(void* to, size_t size) {
  for (size_t got = 0; got < size;) {
    const ssize_t n = read(kSocket, (char*)to + got, size - got);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    got += (size_t)n;
  }
  return true;
}

/* Takes bytes off the input. They stay valid as long as the frame. */
static const unsigned char* take(Input* from, size_t size) {
  if (from->left < size) _exit(1); /* the frame is invalid, so it is not from the agent */
  const unsigned char* const at = from->at;
  from->at += size;
  from->left -= size;
  return at;
}

/* A big-endian number of `size` bytes, at most 8. */
static uint64_t take_number(Input* from, size_t size) {
  const unsigned char* const at = take(from, size);
  uint64_t number = 0;
  for (size_t i = 0; i < size; ++i) number = number << 8 | at[i];
  return number;
}

static uint32_t take_count(Input* from) { return (uint32_t)take_number(from, 4); }

/* The caller frees the result. */
static char* take_text(Input* from) {
  const uint32_t size = take_count(from);
  const unsigned char* const at = take(from, size);
  char* const text = need(malloc((size_t)size + 1));
  memmove(text, at, size);
  text[size] = '\0';
  return text;
}
