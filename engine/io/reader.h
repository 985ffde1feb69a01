// The one interface of all readers: bytes in, any chunk boundary, a Recording out.
//
// The reader owns its input buffer, so that a caller (a file, a browser stream) writes the bytes once and
// nothing is copied again:
//   while (bytes left) { span = reader.writable(); n = fill(span); reader.commit(n); }   reader.finish();
// After an Error nothing more is read. `finish` succeeds whenever something could be read that can be
// shown; what was lost is in Recording::diagnostics.
// A reader adds parts to the recording and leaves it open, since its file may be one of several: AnyReader seals it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/base/status.h"

namespace gpustrata::io {

class Reader {
 public:
  virtual ~Reader() = default;
  // At least 256 KiB, 64-byte aligned, valid until the next `commit`.
  [[nodiscard]] virtual std::span<std::byte> writable() = 0;
  // What `writable` will be after the next `commit`, so that another thread can fill it while that one runs.
  // Empty: not now, or no memory.
  [[nodiscard]] virtual std::span<std::byte> writable_ahead() { return {}; }
  // `bytes` of writable() were filled; reads as far as it can. An Error here means: nothing can be shown.
  // Damage after something was read is no Error: further input is ignored (`done()`).
  [[nodiscard]] virtual Status commit(size_t bytes) = 0;
  // No more input. Called once, and nothing but format() after it.
  [[nodiscard]] virtual Status finish() = 0;
  // True once the rest of the input does not matter (STOP seen, damaged, budget exhausted).
  [[nodiscard]] virtual bool done() const { return false; }
  // Total input size if known: only a hint for reserving memory and for telling what would be needed.
  virtual void expect_bytes(int64_t /*total*/) {}
  // What was read, after finish(): "pickle", "json in gzip".
  [[nodiscard]] virtual std::string format() const = 0;
};

// Copies `bytes` in, in as many pieces as it takes.
[[nodiscard]] Status push(Reader& reader, std::span<const std::byte> bytes);

}  // namespace gpustrata::io
