// Lets an object be destroyed while the event loop keeps running: its handlers that are still queued then do nothing.
#pragma once
#include <concepts>
#include <memory>
#include <utility>

namespace sml::agent {

// Declare it as the last member, so that it is destroyed first. Used on the thread of the loop only.
class Lifetime {
 public:
  // Wraps `handler` so that it does nothing once the object is destroyed.
  template <class Handler>
  auto guard(Handler handler) const {
    return [ alive = std::weak_ptr<const char>(alive_), handler = std::move(handler) ](
        auto&&... args) mutable requires std::invocable<Handler&, decltype(args)...> {
      if (!alive.expired()) handler(std::forward<decltype(args)>(args)...);
    };
  }

 private:
  std::shared_ptr<const char> alive_ = std::make_shared<const char>('\0');
};

}  // namespace sml::agent
