#include "engine/io/containers/zip_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "engine/base/units.h"

namespace gpustrata::io {

namespace {

using Bytes = std::span<const std::byte>;

// APPNOTE 4.3: signatures and the lengths of the fixed parts, signature included.
constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryEntry = 0x02014b50;
constexpr uint32_t kDirectoryEnd = 0x06054b50;
constexpr uint32_t kDirectoryEnd64 = 0x06064b50;
constexpr uint32_t kArchiveExtra = 0x08064b50;
constexpr uint32_t kDescriptor = 0x08074b50;
constexpr size_t kSignatureBytes = 4;
constexpr size_t kHeaderBytes = 30;
constexpr uint16_t kZip64Extra = 0x0001;
constexpr uint32_t kInZip64 = UINT32_MAX;
constexpr uint16_t kEncrypted = 1;
constexpr size_t kDescriptorBytes = 16;  // with signature
constexpr size_t kDescriptor64Bytes = 24;

[[nodiscard]] uint64_t load(Bytes bytes, size_t at, size_t count) {
  uint64_t number = 0;
  for (size_t i = count; i-- > 0;) number = number << 8 | static_cast<uint64_t>(bytes[at + i]);
  return number;
}
[[nodiscard]] uint16_t load16(Bytes bytes, size_t at) { return static_cast<uint16_t>(load(bytes, at, 2)); }
[[nodiscard]] uint32_t load32(Bytes bytes, size_t at) { return static_cast<uint32_t>(load(bytes, at, 4)); }
[[nodiscard]] uint64_t load64(Bytes bytes, size_t at) { return load(bytes, at, 8); }

[[nodiscard]] bool begins_something(uint32_t signature) {
  return signature == kLocalHeader || signature == kDirectoryEntry || signature == kDirectoryEnd ||
         signature == kDirectoryEnd64 || signature == kArchiveExtra;
}

[[nodiscard]] std::optional<Packing> packing_of(uint16_t method) {
  switch (method) {
    case 0:
      return Packing::stored;
    case 8:
      return Packing::deflate;
    case 20:  // zstd until APPNOTE 6.3.8
    case 93:
      return Packing::zstd;
    default:
      return std::nullopt;
  }
}

[[nodiscard]] std::string name_of_method(uint16_t method) {
  switch (method) {
    case 9:
      return "deflate64";
    case 12:
      return "bzip2";
    case 14:
      return "LZMA";
    case 95:
      return "xz";
    default:
      return fmt::format("method {}", method);
  }
}

}  // namespace

ZipReader::ZipReader(OpenedFile& file, std::string place, int depth)
    : file_(file), members_(file, std::move(place), depth) {}

Status ZipReader::commit(size_t bytes) {
  if (at_ == At::end) return {};
  bytes_begin_ += static_cast<int64_t>(next_);
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(next_));
  next_ = 0;
  const Bytes in = buffer_.first(bytes);
  bytes_.insert(bytes_.end(), in.begin(), in.end());
  while (at_ != At::end && read()) {
  }
  return {};
}

bool ZipReader::read() {
  switch (at_) {
    case At::signature:
      return read_signature();
    case At::header:
      return read_header();
    case At::data:
      return read_data();
    case At::stored_data:
      return read_stored_data();
    case At::skip:
      return skip();
    case At::descriptor:
      return read_descriptor();
    case At::search:
      return search();
    case At::end:
      break;
  }
  return false;
}

bool ZipReader::read_signature() {
  if (unread().size() < kSignatureBytes) return false;
  const uint32_t signature = load32(unread(), 0);
  if (signature == kLocalHeader) {
    at_ = At::header;
  } else if (begins_something(signature)) {
    at_ = At::end;
  } else {
    file_.recording.diagnostics.add(model::Diag::damaged, offset(),
                                    "something else stands where the next file of the archive should begin");
    at_ = At::search;
  }
  return true;
}

bool ZipReader::read_header() {
  const Bytes bytes = unread();
  if (bytes.size() < kHeaderBytes) return false;
  const size_t name_length = load16(bytes, 26);
  const size_t length = kHeaderBytes + name_length + load16(bytes, 28);
  if (bytes.size() < length) return false;
  header_ = {offset(),          load16(bytes, 6),  load16(bytes, 8),
             load32(bytes, 14), load32(bytes, 18), load32(bytes, 22)};
  read_extra(bytes.subspan(kHeaderBytes + name_length, length - kHeaderBytes - name_length));
  const std::string name(reinterpret_cast<const char*>(bytes.data()) + kHeaderBytes, name_length);
  next_ += length;
  left_ = header_.has_descriptor() ? 0 : header_.packed;
  begin_member(name);
  return true;
}

// Sizes that need 64 bits: the unpacked one first, each only if its field in the header is full.
void ZipReader::read_extra(Bytes extra) {
  for (size_t at = 0; at + 4 <= extra.size();) {
    const size_t length = load16(extra, at + 2);
    const Bytes field = extra.subspan(at + 4, std::min(length, extra.size() - at - 4));
    if (load16(extra, at) == kZip64Extra) {
      size_t next = 0;
      for (uint64_t* size : {&header_.unpacked, &header_.packed}) {
        if (*size != kInZip64 || next + 8 > field.size()) continue;
        *size = load64(field, next);
        next += 8;
      }
    }
    at += 4 + length;
  }
}

void ZipReader::begin_member(std::string_view name) {
  if (name.ends_with('/') && (header_.has_descriptor() || left_ == 0)) {  // a folder
    return pass_over();
  }
  if ((header_.flags & kEncrypted) != 0) {
    members_.leave_out(name, header_.offset, "it is encrypted; unpack it with its password first");
    return pass_over();
  }
  const std::optional<Packing> packing = packing_of(header_.method);
  if (!packing) {
    members_.leave_out(
        name, header_.offset,
        fmt::format("it is packed with {}; unpack the archive first", name_of_method(header_.method)));
    return pass_over();
  }
  if (!members_.begin(name, *packing, header_.offset)) {
    at_ = At::end;
    return;
  }
  if (!header_.has_descriptor()) {
    members_.current().expect_bytes(static_cast<int64_t>(std::min<uint64_t>(header_.unpacked, INT64_MAX)));
  }
  at_ = *packing == Packing::stored && header_.has_descriptor() ? At::stored_data : At::data;
}

// Behind the data of a member, if it is known where that is.
void ZipReader::pass_over() { at_ = header_.has_descriptor() ? At::search : At::skip; }

bool ZipReader::skip() {
  const size_t count = static_cast<size_t>(std::min<uint64_t>(left_, unread().size()));
  next_ += count;
  left_ -= count;
  if (left_ > 0) return false;
  at_ = At::signature;
  return true;
}

bool ZipReader::read_data() {
  Unpacking& member = members_.current();
  const bool size_known = !header_.has_descriptor();
  Bytes own = unread();
  if (own.empty() && (!size_known || left_ > 0)) return false;
  if (size_known) own = own.first(static_cast<size_t>(std::min<uint64_t>(left_, own.size())));
  const size_t before = own.size();
  member.feed(own);
  next_ += before - own.size();
  if (size_known) left_ -= before - own.size();
  const bool fits =
      member.crc() == header_.crc && static_cast<uint64_t>(member.unpacked()) == header_.unpacked;
  switch (member.state()) {
    case Unpacking::State::ended:
      if (!size_known) {
        at_ = At::descriptor;
      } else if (left_ == 0 || member.packing() != Packing::zstd) {  // else a further frame of zstd
        end_member(fits);
        pass_over();
      }
      return true;
    case Unpacking::State::running:
      if (!size_known || left_ > 0) return !unread().empty();
      if (member.packing() == Packing::stored) {
        end_member(fits);
      } else {
        members_.end(Members::End::cut, "its compressed data ends too early");
      }
      pass_over();
      return true;
    default:
      stop_member();
      pass_over();
      return true;
  }
}

void ZipReader::end_member(bool fits) {
  if (fits) {
    members_.end(Members::End::complete);
  } else {
    members_.end(Members::End::wrong_checksum, kChecksumProblem);
  }
}

// Ends a member whose data will not be read to its end.
void ZipReader::stop_member() {
  const Unpacking& member = members_.current();
  switch (member.state()) {
    case Unpacking::State::too_much:
      members_.end(
          Members::End::too_much,
          member.unpacked() == 0
              ? "not unpacked, because what came before it unpacks to more than is read of an archive"
              : fmt::format("more than {} and {} times the size of the archive",
                            size_text(kFreeUnpackedBytes), kUnpackedPerPacked));
      break;
    case Unpacking::State::damaged:
      members_.end(
          member.problem() == kChecksumProblem ? Members::End::wrong_checksum : Members::End::damaged,
          member.problem());
      break;
    default:
      members_.end(Members::End::complete);
  }
}

// Data that is stored without a size ends where a descriptor fits it: signature, checksum, twice the length.
bool ZipReader::read_stored_data() {
  Unpacking& member = members_.current();
  const auto hand_on = [&](size_t count) {
    Bytes part = unread().first(count);
    while (!part.empty()) member.feed(part);
    next_ += count;
  };
  const Bytes bytes = unread();
  size_t at = 0;
  while (at + kSignatureBytes <= bytes.size() && load32(bytes, at) != kDescriptor) {
    const void* found = std::memchr(bytes.data() + at + 1, 'P', bytes.size() - at - 1);
    at = found != nullptr ? static_cast<size_t>(static_cast<const std::byte*>(found) - bytes.data())
                          : bytes.size();
  }
  at = std::min(at, bytes.size());
  hand_on(at);
  const Bytes rest = unread();
  if (rest.size() < kDescriptor64Bytes) return false;
  const auto length = static_cast<uint64_t>(member.unpacked());
  const bool fits = load32(rest, 4) == member.crc();
  const bool is_long = fits && load64(rest, 8) == length && load64(rest, 16) == length;
  const bool is_short = fits && load32(rest, 8) == length && load32(rest, 12) == length;
  if (!is_long && !is_short) {
    hand_on(1);  // it only looks like one
    return true;
  }
  next_ += is_long ? kDescriptor64Bytes : kDescriptorBytes;
  members_.end(Members::End::complete);
  at_ = At::signature;
  return true;
}

// Behind compressed data. The signature is optional and sizes have 4 or 8 bytes; another signature follows.
bool ZipReader::read_descriptor() {
  const Bytes bytes = unread();
  if (bytes.size() < kDescriptor64Bytes + kSignatureBytes) return false;
  const Unpacking& member = members_.current();
  const size_t crc_at = load32(bytes, 0) == kDescriptor ? kSignatureBytes : 0;
  const auto packed = static_cast<uint64_t>(member.packed());
  const auto unpacked = static_cast<uint64_t>(member.unpacked());
  const bool crc_fits = load32(bytes, crc_at) == member.crc();
  if (load64(bytes, crc_at + 4) == packed && begins_something(load32(bytes, crc_at + 20))) {
    next_ += crc_at + 20;
    end_member(crc_fits && load64(bytes, crc_at + 12) == unpacked);
    at_ = At::signature;
  } else if (load32(bytes, crc_at + 4) == static_cast<uint32_t>(packed) &&
             begins_something(load32(bytes, crc_at + 12))) {
    next_ += crc_at + 12;
    end_member(crc_fits && load32(bytes, crc_at + 8) == static_cast<uint32_t>(unpacked));
    at_ = At::signature;
  } else {
    members_.end(Members::End::damaged, "its sizes do not follow its data");
    at_ = At::search;
  }
  return true;
}

// The next header: its signature, a method that exists, a name of sane length.
bool ZipReader::search() {
  const Bytes bytes = unread();
  for (size_t at = 0;;) {
    const void* found = at < bytes.size() ? std::memchr(bytes.data() + at, 'P', bytes.size() - at) : nullptr;
    at = found != nullptr ? static_cast<size_t>(static_cast<const std::byte*>(found) - bytes.data())
                          : bytes.size();
    if (bytes.size() - at < kHeaderBytes) {
      // The end of the archive is shorter than a header.
      if (bytes.size() - at >= kSignatureBytes && load32(bytes, at) == kDirectoryEnd) at_ = At::end;
      next_ += at;
      return false;
    }
    const uint32_t signature = load32(bytes, at);
    const bool is_header = signature == kLocalHeader && load16(bytes, at + 8) < 100 &&
                           load16(bytes, at + 26) > 0 && load16(bytes, at + 26) < kWholeOperand;
    if (is_header || signature == kDirectoryEntry || signature == kDirectoryEnd64) {
      next_ += at;
      at_ = At::signature;
      return true;
    }
    ++at;
  }
}

Status ZipReader::finish() {
  if (members_.has_current()) {
    if (at_ == At::stored_data) {
      Bytes rest = unread();
      while (!rest.empty()) members_.current().feed(rest);
    }
    members_.end(Members::End::cut, "the archive ends inside of it");
  } else if (at_ != At::end && members_.snapshots() > 0) {
    file_.recording.diagnostics.add(model::Diag::truncated, offset(), "the archive has no directory");
  }
  return members_.conclude("zip archive");
}

}  // namespace gpustrata::io
