// Numbers that others cannot guess.
#pragma once
#include <cstddef>
#include <string>

namespace sml::os {

// `bytes` random bytes of the kernel, at most 256, as two digits each, "09af". Empty: it gives none (getrandom(2)).
// Costs one system call; std::random_device asks the processor, and in a virtual machine that is slow.
std::string random_hex(std::size_t bytes);

}  // namespace sml::os
