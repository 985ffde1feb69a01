// The journal of the caching allocator: begun, ended, and told what concerns all devices.
#include "capture/front/all_locks.h"
#include "capture/front/caching_allocator.h"
#include "capture/front/report.h"
#include "engine/io/journal/facts.h"
#include "engine/model/recorded_snapshot.h"

namespace gpustrata::capture {

Status CachingAllocator::begin_journal(const std::string& path, int64_t max_size) {
  if (Status usable = refuse_in_child(); !usable) return usable;
  (void)open();
  const AllLocks locks(*this);
  const trace::RecordSettings& settings = recorder_.settings();
  if (!settings.enabled || settings.skipped != 0)
    return fail(
        ErrorCode::wrong_usage, -1,
        "a journal needs the history of all events: call record_memory_history() before it, without skip_actions");
  auto journal =
      Journal::create(path, {.max_size = max_size, .report = [](std::string_view line) { report(line); }});
  if (!journal) return tl::unexpected(journal.error());
  journal_ = std::make_shared<KeptJournal>(std::move(*journal), stacks_);
  for (size_t i = 0; i < recorder_.strings().size(); ++i)
    journal_->note_text(StringId(i), recorder_.strings().view(StringId(i)));
  {
    const std::lock_guard guard(settings_lock_);
    journal_->journal->fact(io::journal::kSettingsFact, config_.last_settings);
    journal_->journal->fact(io::journal::kSettingsJsonFact, model::settings_json(config_));
  }
  int ordinal = -1;
  for (const auto& device : devices_) {
    ++ordinal;
    if (!device->allocator) continue;
    journal_->tell_state(ordinal, device->allocator->state());
    device->told->tell(journal_);
  }
  return {};
}

// Under recorder_lock_, with the time that the recorder gave it.
void CachingAllocator::tell_region(std::string_view name, int device, bool begins) {
  const auto& regions = recorder_.regions();
  if (!journal_ || !recorder_.settings().enabled || regions.size() == 0) return;
  journal_->journal->region(device, journal_->journal->text(name), begins,
                            regions[regions.size() - 1].time_us);
}

// Under all locks.
std::shared_ptr<KeptJournal> CachingAllocator::take_journal() {
  for (const auto& device : devices_) {
    if (device->told) device->told->tell(nullptr);
  }
  return std::exchange(journal_, nullptr);
}

Status CachingAllocator::end_journal() {
  if (Status usable = refuse_in_child(); !usable) return usable;
  std::shared_ptr<KeptJournal> ended;
  {
    const AllLocks locks(*this);
    ended = take_journal();
  }
  if (ended) ended->journal->close();  // without the locks: it writes
  return {};
}

}  // namespace gpustrata::capture
