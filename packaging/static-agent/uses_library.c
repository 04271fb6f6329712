/* Tried at configure time: does the C library link with what no_resolver.c has in its place? */
#include <pthread.h>
#include <stdio.h>
#include <wchar.h>

static void* nothing(void* argument) { return argument; }

int main(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, nothing, NULL) != 0) return 1;
  FILE* file = fopen("/dev/null", "w");
  if (file == NULL) return 1;
  fprintf(file, "%ls", L"text");
  return fclose(file);
}
