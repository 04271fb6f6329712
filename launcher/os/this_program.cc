#include "launcher/os/this_program.h"

#include <sys/stat.h>

namespace sml::os {

bool is_this_program(const std::string& file) {
  struct stat own {};
  struct stat other {};
  return ::stat("/proc/self/exe", &own) == 0 && ::stat(file.c_str(), &other) == 0 && own.st_dev == other.st_dev &&
         own.st_ino == other.st_ino;
}

}  // namespace sml::os
