// Faults that are put in on purpose (--plant), to see that the simulation finds them: what stands around the programs
// does what a program that is wrong would have come to.
#pragma once
#include <string>
#include <string_view>

#include "common/wire/codec.h"

namespace sml::sim::plants {

inline constexpr const char* kLostExit = "a lost exit frame";
inline constexpr const char* kCreditTwice = "credit given back twice";
inline constexpr const char* kKeptStore = "a store kept across attempts";
inline constexpr const char* kReleasedTwice = "a host released twice";
inline constexpr const char* kForgottenStop = "a stop that forgets one host";
inline constexpr const char* kLostBytes = "bytes lost with a connection";
inline constexpr const char* kAll[] = {kLostExit, kCreditTwice, kKeptStore, kReleasedTwice, kForgottenStop, kLostBytes};

// Whether the fault is put in, and strikes this time.
bool strikes(const char* fault);

// What comes in the place of whole frames that the launcher sends.
std::string sent_by_launcher(std::string frames);

// What comes in the place of the frames that an agent writes. Without a fault for them it is not used.
class AgentFrames {
 public:
  static bool tampered_with();
  std::string pass(std::string_view bytes);

 private:
  wire::Decoder<wire::ToLauncher> decoder_;
};

}  // namespace sml::sim::plants
