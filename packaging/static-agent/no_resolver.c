/* What the GNU C library 2.36 links into every static program, for an agent that neither asks a name server nor leaves
 * the locale "C": 128 KB of a program that travels to every host, dlopen among it.
 *
 * nptl/pthread_create.c sets __libc_resp to the resolver's state of a new thread, and with the place of that pointer comes
 * the resolver. wcsmbs/wcsmbsload.c has the readers of character sets and locales ready for setlocale; where none is
 * loaded, the library uses tables of its own. CMakeLists.txt tries whether the library at hand links with these. */
#include <pthread.h>
#include <stddef.h>

struct __gconv_step;
extern __thread void* __libc_resp;
extern pthread_rwlock_t __libc_setlocale_lock;
extern int __gconv_lock;
int __gconv_find_transform(const char* to, const char* from, struct __gconv_step** steps, size_t* count, int flags);
int __gconv_close_transform(struct __gconv_step* steps, size_t count);
void __gconv_release_step(struct __gconv_step* step);

__thread void* __libc_resp;
pthread_rwlock_t __libc_setlocale_lock = PTHREAD_RWLOCK_INITIALIZER;
int __gconv_lock;

/* __GCONV_NOCONV: there is no such conversion. */
int __gconv_find_transform(const char* to, const char* from, struct __gconv_step** steps, size_t* count, int flags) {
  (void)to;
  (void)from;
  (void)steps;
  (void)count;
  (void)flags;
  return 1;
}

int __gconv_close_transform(struct __gconv_step* steps, size_t count) {
  (void)steps;
  (void)count;
  return 0;
}

void __gconv_release_step(struct __gconv_step* step) { (void)step; }
