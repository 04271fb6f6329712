/* How often libpmix's helper calls libpmix back when its agent answers an upcall twice, and one that never was. */
#include "launcher/agent/pmix/upcalls.h"

#include <stdio.h>

static int calls;

static void count_call(int status, void* its) {
  (void)status;
  (void)its;
  ++calls;
}

static void give_answer(uint32_t id) {
  Buffer fields = {NULL, 0, 0};
  put_number(&fields, id);
  put_number(&fields, kPmixSuccess);
  put_text(&fields, "");
  Input in = {(const unsigned char*)fields.bytes, fields.size};
  answer(&in);
  free(fields.bytes);
}

int main(void) {
  const uint32_t id = open_one(count_call, NULL, NULL);
  give_answer(id);
  give_answer(id);
  give_answer(id + 1000);
  printf("%d\n", calls);
  return 0;
}
