#include "common/os/private_process.h"

#include <sys/prctl.h>

namespace sml::os {

void become_private() { ::prctl(PR_SET_DUMPABLE, 0L); }

}  // namespace sml::os
