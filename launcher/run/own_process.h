// Actions of sml-run on its own process; tests/simulation has another implementation.
#pragma once

namespace sml::run {

class OwnProcess {
 public:
  virtual ~OwnProcess() = default;
  // Ctrl-Z. Returns when somebody has continued it.
  virtual void stop() = 0;
};

// As the system has it.
class SystemProcess final : public OwnProcess {
 public:
  void stop() override;
};

}  // namespace sml::run
