// Unguessable random numbers.
#pragma once
#include <cstddef>
#include <string>

namespace sml::os {

// Returns `bytes` random bytes of the kernel, at most 256, as two hexadecimal digits each, "09af". Empty if the kernel
// gives none (getrandom(2)). Costs one system call; std::random_device uses an instruction of the processor, which is
// slow in a virtual machine.
std::string random_hex(std::size_t bytes);

}  // namespace sml::os
