// Places in the code that tests/simulation knows by name; nothing is left of them in a program.
#pragma once

// SML_SWITCH_POINT("name"): something that is rare goes on here. The simulation may let a host die, or a signal come,
// at this very moment. SML_PLANT("fault") STATEMENT; is a fault that the simulation has to find when it is put in.
#ifdef SML_SIMULATION
namespace sml {
void switch_point(const char* name);
bool planted(const char* fault);
}  // namespace sml
#define SML_SWITCH_POINT(name) ::sml::switch_point(name)
#define SML_PLANT(fault) if (::sml::planted(fault))
#else
#define SML_SWITCH_POINT(name) static_cast<void>(0)
#define SML_PLANT(fault) if constexpr (false)
#endif
