#include "capture/recorder/journal_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "capture/recorder/wall_clock.h"

namespace gpustrata::capture {

using namespace io::journal;

static_assert(std::atomic_ref<uint64_t>::is_always_lock_free, "other processes read them");

namespace {
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE of Linux 5.14, which older headers do not have
}

Result<JournalFile> JournalFile::create(const std::string& path, uint64_t ring_bytes, uint64_t region_bytes) {
  JournalFile file(path, ring_bytes, region_bytes);
  const std::string temporary = fmt::format("{}.{}.part", path, getpid());
  if (Status opened = file.open_as(temporary); !opened) {
    (void)unlink(temporary.c_str());
    return tl::unexpected(opened.error());
  }
  return file;
}

Status JournalFile::open_as(const std::string& temporary) {
  const auto failure = [&](int why) {
    return fail(ErrorCode::io_error, -1, "no journal at {}: {}", path_, std::strerror(why));
  };
  descriptor_ = open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor_ < 0) return failure(errno);
  const uint64_t bytes = kHeaderBytes + ring_bytes_;
  if (const int why = posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes)); why != 0)
    return failure(why);
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED) return failure(errno);
  mapped_ = static_cast<std::byte*>(mapped);
  (void)madvise(mapped, bytes, kPopulateWrite);  // now, not in the middle of the program's first events
  Header header{};
  std::memcpy(header.magic, kMagic.data(), kMagic.size());
  header.version = kVersion;
  header.header_bytes = kHeaderBytes;
  header.ring_bytes = ring_bytes_;
  header.region_bytes = region_bytes_;
  header.process = static_cast<uint64_t>(getpid());
  header.started_us = WallClock().now_us();
  header.check = check_of(header);
  std::memcpy(mapped_, &header, sizeof header);
  if (rename(temporary.c_str(), path_.c_str()) != 0) return failure(errno);
  return {};
}

JournalFile::JournalFile(JournalFile&& other) noexcept
    : path_(std::move(other.path_)),
      ring_bytes_(other.ring_bytes_),
      region_bytes_(other.region_bytes_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      mapped_(std::exchange(other.mapped_, nullptr)) {}

JournalFile::~JournalFile() {
  if (mapped_ != nullptr) (void)munmap(mapped_, kHeaderBytes + ring_bytes_);
  if (descriptor_ >= 0) (void)close(descriptor_);
}

void JournalFile::set_reason(std::string_view reason) {
  const size_t length = std::min<size_t>(reason.size(), kReasonBytes - 1);
  std::memcpy(mapped_ + kReasonAt, reason.data(), length);
  mapped_[kReasonAt + length] = std::byte{};
}

void JournalFile::put_in_parts(uint64_t place, std::span<const std::byte> bytes) {
  const auto first = static_cast<size_t>(ring_bytes_ - place);
  std::byte* const ring = mapped_ + kHeaderBytes;
  std::memcpy(ring + place, bytes.data(), first);
  std::memcpy(ring, bytes.data() + first, bytes.size() - first);
}

void JournalFile::get(uint64_t position, std::span<std::byte> bytes) const {
  const uint64_t place = position & (ring_bytes_ - 1);
  const size_t first = std::min<size_t>(bytes.size(), ring_bytes_ - place);
  const std::byte* const ring = mapped_ + kHeaderBytes;
  if (first > 0) std::memcpy(bytes.data(), ring + place, first);
  if (first < bytes.size()) std::memcpy(bytes.data() + first, ring, bytes.size() - first);
}

Status JournalFile::write(int region, uint64_t offset, std::span<const std::byte> bytes) const {
  uint64_t at = kHeaderBytes + ring_bytes_ + static_cast<uint64_t>(region) * region_bytes_ + offset;
  while (!bytes.empty()) {
    const ssize_t written = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(ErrorCode::io_error, -1, "{}", std::strerror(written < 0 ? errno : ENOSPC));
    at += static_cast<uint64_t>(written);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

bool JournalFile::is_gone() const {
  struct stat about {};
  return fstat(descriptor_, &about) != 0 || about.st_nlink == 0;
}

}  // namespace gpustrata::capture
