// For objects that go while the loop runs on: handlers that they have left behind do nothing.
#pragma once
#include <concepts>
#include <memory>
#include <utility>

namespace sml::agent {

// A member of the object, the last one. One thread.
class Lifetime {
 public:
  // `handler`, for as long as the object is there.
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
