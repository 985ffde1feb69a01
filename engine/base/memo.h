// What was found once and is kept until its memory is needed for something else.
//
// Each thing has an owner, a type and a key. While a question runs, what it asked for stays where it is: pointers are good
// until the next question. What another kept thing was made from stays, too. Of the rest the one that was used longest ago
// goes first, when making something else meets the end of the budget or when its owner has enough of its type.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/base/status.h"

namespace gpustrata {

// A key of numbers, enums and at most one text, which comes last.
template <typename... Parts>
[[nodiscard]] std::string memo_key(const Parts&... parts) {
  std::string key;
  const auto add = [&key]<typename T>(const T& part) {
    if constexpr (std::is_convertible_v<T, std::string_view>) {
      key.append(std::string_view(part));
    } else {
      static_assert(std::is_enum_v<T> || std::is_integral_v<T>);
      key.append(reinterpret_cast<const char*>(&part), sizeof part);
    }
  };
  (add(parts), ...);
  return key;
}

class Memo {
 public:
  Memo() = default;
  Memo(const Memo&) = delete;
  Memo& operator=(const Memo&) = delete;
  ~Memo();

  static constexpr size_t kUsual = 4;  // of a type, for an owner

  // What is kept, or else what `make` makes: a Result<T>. It may ask here for what it needs. Error: as make().
  template <typename T, typename Make>
  [[nodiscard]] Result<T*> get(const void* owner, std::string_view key, const Make& make,
                               size_t most = kUsual) {
    const Name name{owner, &kType<T>, key};
    if (Thing* known = find(name)) return &static_cast<Of<T>*>(known)->value;
    std::vector<std::shared_ptr<Thing>> needs;
    auto made = with_room([&] {
      begin();
      auto one = make();
      needs = end();
      return one;
    });
    if (!made) return tl::unexpected(made.error());
    auto thing = std::make_shared<Of<T>>(std::move(*made));
    T* const value = &thing->value;
    keep(name, std::move(thing), std::move(needs), most);
    return value;
  }
  // What `make` makes, which is not kept. Where memory is refused, something is let go and it is called once more.
  template <typename Make>
  [[nodiscard]] auto with_room(const Make& make) -> decltype(make()) {
    for (;;) {
      auto made = make();
      if (made || made.error().code != ErrorCode::limit_exceeded || !let_one_go()) return made;
    }
  }
  // Runs `use` on what get() returned before: what it asks for here is needed by that from then on.
  template <typename T, typename Use>
  auto work_on(const void* owner, std::string_view key, const Use& use) -> decltype(use()) {
    Thing* const known = find({owner, &kType<T>, key});
    begin();
    auto done = use();
    needed_by(known, end());
    return done;
  }

  // What was asked for so far may go.
  void next_question() { ++question_; }
  // What an owner has, pinned or not: it is gone, or what it has means something else.
  void forget(const void* owner);
  [[nodiscard]] size_t count() const { return things_.size(); }

 private:
  struct Thing {
    Thing() = default;
    Thing(const Thing&) = delete;
    Thing& operator=(const Thing&) = delete;
    virtual ~Thing() = default;

    const void* owner = nullptr;
    const char* type = nullptr;
    std::string key;
    uint64_t asked = 0;  // the question
    std::vector<std::shared_ptr<Thing>> needs;
  };
  template <typename T>
  struct Of final : Thing {
    explicit Of(T&& made) : value(std::move(made)) {}
    T value;
  };
  template <typename T>
  static constexpr char kType = 0;
  struct Name {
    const void* owner;
    const char* type;
    std::string_view key;
  };

  [[nodiscard]] Thing* find(const Name& name);
  void begin() { being_made_.emplace_back(); }
  [[nodiscard]] std::vector<std::shared_ptr<Thing>> end();
  void keep(const Name& name, std::shared_ptr<Thing> thing, std::vector<std::shared_ptr<Thing>> needs,
            size_t most);
  static void needed_by(Thing* thing, std::vector<std::shared_ptr<Thing>> needs);
  [[nodiscard]] bool may_go(const std::shared_ptr<Thing>& thing) const;
  [[nodiscard]] bool let_one_go();

  std::vector<std::shared_ptr<Thing>> things_;                   // used last at the end
  std::vector<std::vector<std::shared_ptr<Thing>>> being_made_;  // what each needs, the innermost last
  uint64_t question_ = 0;
};

}  // namespace gpustrata
