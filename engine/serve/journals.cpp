#include "engine/serve/journals.h"

#include <algorithm>

namespace gpustrata::serve {

bool Journals::is_written(Followed& one, const Stamp& now) {
  const auto time = Clock::now();
  if (one.stamp.journal && one.stamp.inode == now.inode && one.stamp.journal != now.journal) {
    one.is_written = true;  // by whoever, wherever
    one.asked = time;
  } else if (one.stamp.inode != now.inode || time - one.asked >= kAskAgain) {
    one.is_written = one.writer.writes(now.journal->process, now.inode);
    one.asked = time;
  }
  one.stamp = now;
  return one.is_written;
}

answers::ServedJournals Journals::look() {
  const std::lock_guard lock(mutex_);
  if (const auto began = Clock::now(); began >= list_again_) {
    constexpr int kShare = 10;
    names_ = files_.journals();
    const auto ended = Clock::now();
    list_again_ = ended + std::max<Clock::duration>(kListAgain, kShare * (ended - began));
    std::erase_if(followed_, [this](const auto& one) {
      return !std::binary_search(names_.begin(), names_.end(), one.first);
    });
  }
  answers::ServedJournals served;
  for (const std::string& name : names_) {
    const auto file = files_.open(name);
    if (!file || !file->stamp.journal) continue;
    const JournalHead& head = *file->stamp.journal;
    const bool is_growing = is_written(followed_[name], file->stamp);
    answers::ServedJournal shown = journal_of(head);
    shown.name = shown_name(name);
    if (!head.is_closed && !is_growing) shown.state = answers::JournalState::left;
    served.journals.push_back(std::move(shown));
  }
  return served;
}

}  // namespace gpustrata::serve
