#include "engine/base/memo.h"

#include <algorithm>

namespace gpustrata {

// Younger things refer to older ones.
Memo::~Memo() {
  while (!things_.empty()) things_.pop_back();
}

Memo::Thing* Memo::find(const Name& name) {
  const auto found = std::find_if(things_.begin(), things_.end(), [&](const std::shared_ptr<Thing>& one) {
    return one->owner == name.owner && one->type == name.type && one->key == name.key;
  });
  if (found == things_.end()) return nullptr;
  std::rotate(found, found + 1, things_.end());
  const std::shared_ptr<Thing>& thing = things_.back();
  thing->asked = question_;
  if (!being_made_.empty()) being_made_.back().push_back(thing);
  return thing.get();
}

std::vector<std::shared_ptr<Memo::Thing>> Memo::end() {
  auto needs = std::move(being_made_.back());
  being_made_.pop_back();
  return needs;
}

void Memo::keep(const Name& name, std::shared_ptr<Thing> thing, std::vector<std::shared_ptr<Thing>> needs,
                size_t most) {
  const auto is_alike = [&](const std::shared_ptr<Thing>& one) {
    return one->owner == name.owner && one->type == name.type;
  };
  if (static_cast<size_t>(std::count_if(things_.begin(), things_.end(), is_alike)) >= most) {
    const auto oldest = std::find_if(things_.begin(), things_.end(), [&](const std::shared_ptr<Thing>& one) {
      return is_alike(one) && may_go(one);
    });
    if (oldest != things_.end()) things_.erase(oldest);
  }
  thing->owner = name.owner;
  thing->type = name.type;
  thing->key = name.key;
  thing->asked = question_;
  thing->needs = std::move(needs);
  if (!being_made_.empty()) being_made_.back().push_back(thing);
  things_.push_back(std::move(thing));
}

void Memo::needed_by(Thing* thing, std::vector<std::shared_ptr<Thing>> needs) {
  if (thing == nullptr) return;
  for (std::shared_ptr<Thing>& one : needs) {
    if (one.get() != thing && std::find(thing->needs.begin(), thing->needs.end(), one) == thing->needs.end())
      thing->needs.push_back(std::move(one));
  }
}

bool Memo::may_go(const std::shared_ptr<Thing>& thing) const {
  return thing->asked != question_ && thing.use_count() == 1;
}

bool Memo::let_one_go() {
  const auto oldest = std::find_if(things_.begin(), things_.end(),
                                   [this](const std::shared_ptr<Thing>& one) { return may_go(one); });
  if (oldest == things_.end()) return false;
  things_.erase(oldest);
  return true;
}

void Memo::forget(const void* owner) {
  std::erase_if(things_, [owner](const std::shared_ptr<Thing>& one) { return one->owner == owner; });
}

}  // namespace gpustrata
