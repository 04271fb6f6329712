/* The part of libpmix's interface that the helper needs, by layout: types and numbers as in every version from 3 to 6
 * on 64-bit systems (pmix_common.h and pmix_server.h of OpenPMIx 3.2, 4.2, 5.0 and its main branch). Declared here, so
 * that the build needs no PMIx; tests/check_pmix_abi.c compares it with the headers of a real one.
 *
 * In all callbacks and functions, `its` is a pointer of the caller, which is passed back to it unchanged. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { kNamespaceSize = 256, kKeySize = 512 };
enum { kRankWildcard = -2 };

enum {
  kPmixSuccess = 0,
  kPmixError = -1,
  kPmixNotSupported = -47,
  kPmixFirstRead = 1, /* a value of pmix.persist */
  kPmixOperationSucceeded = -157,
};

/* Types of a value. The last two are the project's own: the helper has libpmix make a kTypeRegex of such a value. */
enum {
  kTypeBool = 1,
  kTypeString = 3,
  kTypeSize = 4,
  kTypeUint16 = 13,
  kTypeProc = 22,
  kTypeObject = 27,
  kTypeUint32 = 14,
  kTypeInfo = 24,
  kTypeDataArray = 39,
  kTypeRank = 40,
  kTypeRegex = 49,
  kTypeNodeNames = 0xF000,   /* "a,b": PMIx_generate_regex() */
  kTypeRanksOfNodes = 0xF001 /* "0,1;2,3": PMIx_generate_ppn() */
};

typedef struct {
  char nspace[kNamespaceSize];
  uint32_t rank;
} PmixProc;

typedef struct {
  uint16_t type;
  size_t size;
  void* array;
} PmixDataArray;

typedef struct {
  uint16_t type;
  union {
    bool flag;
    char* string;
    size_t size;
    uint16_t uint16;
    uint32_t uint32;
    uint32_t rank;
    struct {
      char* bytes;
      size_t size;
    } object;
    PmixDataArray* array;
    PmixProc* proc;
    uint8_t persistence;
    void* widest[3];
  } data;
} PmixValue;

typedef struct {
  char key[kKeySize];
  uint32_t flags;
  PmixValue value;
} PmixInfo;

typedef struct {
  PmixProc proc;
  char key[kKeySize];
  PmixValue value;
} PmixPublished;

typedef struct {
  char* command;
  char** argv;        /* ends with null */
  char** environment; /* ends with null */
  char* directory;
  int count; /* of ranks */
  PmixInfo* infos;
  size_t info_count;
} PmixApp;

/* The callbacks by which the server completes an upcall: without a result, with the namespace of spawned ranks, with
 * values that were found, with bytes, or with infos. */
typedef void (*PmixDone)(int status, void* its);
typedef void (*PmixSpawned)(int status, char* nspace, void* its);
typedef void (*PmixFound)(int status, PmixPublished* data, size_t count, void* its);
/* libpmix calls PmixRelease with the argument `released` once it does not need the data any more. */
typedef void (*PmixRelease)(void* its);
typedef void (*PmixData)(int status, const char* data, size_t size, void* its, PmixRelease release, void* released);
typedef void (*PmixInfos)(int status, PmixInfo* infos, size_t count, void* its, PmixRelease release, void* released);
/* By this callback libpmix itself returns the data that a rank has published; the data is valid during the call. */
typedef void (*PmixModexReply)(int status, char* data, size_t size, void* its);

/* The functions of a server that libpmix calls (pmix_server_module_t): the first entries, which no version has moved.
 * Null: the server lacks this function. launcher/agent/pmix/upcalls.h explains the results. */
typedef struct {
  int (*client_connected)(const PmixProc* proc, void* object, PmixDone done, void* its);
  int (*client_finalized)(const PmixProc* proc, void* object, PmixDone done, void* its);
  int (*abort)(const PmixProc* proc, void* object, int status, const char* text, PmixProc* procs, size_t count,
               PmixDone done, void* its);
  int (*fence)(const PmixProc* procs, size_t count, const PmixInfo* infos, size_t info_count, char* data, size_t size,
               PmixData done, void* its);
  int (*direct_modex)(const PmixProc* proc, const PmixInfo* infos, size_t count, PmixData done, void* its);
  int (*publish)(const PmixProc* proc, const PmixInfo* infos, size_t count, PmixDone done, void* its);
  int (*lookup)(const PmixProc* proc, char** keys, const PmixInfo* infos, size_t count, PmixFound done, void* its);
  int (*unpublish)(const PmixProc* proc, char** keys, const PmixInfo* infos, size_t count, PmixDone done, void* its);
  int (*spawn)(const PmixProc* proc, const PmixInfo* infos, size_t info_count, const PmixApp* apps, size_t count,
               PmixSpawned done, void* its);
  int (*connect)(const PmixProc* procs, size_t count, const PmixInfo* infos, size_t info_count, PmixDone done,
                 void* its);
  int (*disconnect)(const PmixProc* procs, size_t count, const PmixInfo* infos, size_t info_count, PmixDone done,
                    void* its);
  void* between[6];
  void (*log)(const PmixProc* proc, const PmixInfo* data, size_t count, const PmixInfo* directives,
              size_t directive_count, PmixDone done, void* its);
  void* allocate;
  int (*job_control)(const PmixProc* proc, const PmixProc* targets, size_t target_count, const PmixInfo* infos,
                     size_t count, void* done, void* its);
  void* after[5];
  int (*group)(int step, char* name, const PmixProc* procs, size_t count, const PmixInfo* infos, size_t info_count,
               PmixInfos done, void* its); /* since version 4 */
  void* others[38];
} PmixModule;
