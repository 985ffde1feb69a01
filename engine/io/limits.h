// Every limit of the readers, with its reason. What passes one is cut or refused, and counted.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpustrata::io {

// -- Input.
// One read of this size costs far less than parsing it; larger ones only hold memory.
inline constexpr size_t kChunkBytes = size_t{4} << 20;
// An operand of at most this size is waited for, so that it lies in one piece; larger ones are collected
// or skipped as they come. Also the longest line of a number, a memo index or the name of a class.
inline constexpr size_t kWholeOperand = 4096;
// Room before the chunk for what the last chunk left unread: an opcode, its length and a whole operand.
inline constexpr size_t kGapBytes = 2 * kWholeOperand;
// Of a longer string only the beginning is kept. Names of templates reach tens of KB.
inline constexpr size_t kKeptString = size_t{1} << 20;

// -- Containers: gzip, zstd, zip, web pages.
// Input and output of one step of unpacking.
inline constexpr size_t kPackedChunkBytes = size_t{256} << 10;
// A container in a container in a ...: people have a gzip in a zip, rarely one more.
inline constexpr int kMaxNesting = 4;
// What compressed streams may make, all levels and members together. Snapshots repeat themselves: pickles
// shrink to a tenth or a fiftieth, JSON with its stacks written out to a three-hundredth. Deflate cannot do
// more than 1032 to 1, zstd 30,000 to 1; a file of 1 MB must not cause 30 GB of work.
inline constexpr int64_t kFreeUnpackedBytes = int64_t{1} << 30;
inline constexpr int64_t kUnpackedPerPacked = 400;
// A member of an archive that makes more is left out, and what it made does not count: one bomb hides no
// others. So many times; who sends more of them gets to see what came first.
inline constexpr int32_t kForgivenMembers = 1;
// Unpacked behind the end of the snapshot to reach the checksum; whoever packs more than padding there loses
// it.
inline constexpr int64_t kCheckedBehindEnd = int64_t{64} << 10;
// Members of an archive that are looked at, snapshots or not.
inline constexpr int32_t kMaxMembersOfArchive = 4096;
// Window of a zstd stream: what `zstd` makes without --long is at most 8 MiB, with --long 128 MiB.
inline constexpr int kMaxZstdWindowLog = 27;
// A run of base64 letters in a web page is looked at from this length on: less than an empty snapshot has.
inline constexpr size_t kMinBase64 = 40;

// -- JSON.
// The longest piece of text that is handed on as a whole. What is longer is walked through member by member.
inline constexpr size_t kJsonPieceBytes = size_t{128} << 10;
// Containers that are walked through at once: wrappers, snapshot, traces, events, one event, and room.
inline constexpr size_t kMaxJsonWalked = 24;
// Nesting inside one piece; deeper values are left out.
inline constexpr int kMaxJsonDepth = 64;

// -- A reduced fleet, kept as text: twice what 100,000 ranks take. The page parses it, and of a hostile text JSON.parse
// makes seven times as much.
inline constexpr size_t kMostFleetBytes = size_t{128} << 20;

// -- The pickle machine.
// Unfinished containers at once: 16 bytes each and 16 on the stack. Real files nest less than 20 deep, but
// the C++ writer leaves a list's members unfinished until the list ends.
inline constexpr size_t kMaxOpen = size_t{1} << 20;
// The stack is emptied into the container below the topmost mark at this size, and grows only if it cannot.
inline constexpr size_t kFlushValues = size_t{1} << 16;
// Members of a list or dict that are neither rows nor snapshots: more are counted as cut. The longest known
// list of this kind, the frames of a stack, has some hundreds.
inline constexpr size_t kMaxMembers = size_t{1} << 16;
// A dense memo never has more slots than the file has bytes so far; this much is granted beyond.
inline constexpr int64_t kMemoSlack = int64_t{1} << 16;
// Bytes behind STOP that are padding if they are all zero (the HTML helper writes 1 to 3).
inline constexpr int64_t kPaddingBytes = 16;

// -- The snapshot.
// JSON text of unknown data: longest, deepest, and how much may be produced in all. The sum is what keeps
// nested references to the same text ("billion laughs") cheap; honest files stay far below.
inline constexpr size_t kMaxTextBytes = size_t{64} << 10;
inline constexpr uint64_t kMaxTextDepth = 32;
inline constexpr int64_t kFreeTextBytes = int64_t{64} << 20;
inline constexpr int64_t kTextBytesPerInputByte = 16;
// Snapshots in one wrapper, and lists in a device_traces. They are not charged: together at most 12 MiB.
inline constexpr size_t kMaxSnapshots = 1024;
inline constexpr size_t kMaxTraces = 1024;
// Levels of a user's wrapper that become part of a snapshot's name, and bytes of each.
inline constexpr uint64_t kNamedLevels = 3;
inline constexpr size_t kMaxNameBytes = 200;
// Rows copied because several lists share them. An honest file refers to each by a memo index of two bytes or
// more; a list that a thousand others repeat as a whole is none.
inline constexpr int64_t kFreeCopiedRows = int64_t{1} << 20;
inline constexpr int64_t kInputBytesPerCopiedRow = 2;
// What the lifetimes and levels of an event take at most (replay/block_lives.h: 8 bytes, 20 if it is an alloc,
// and two tables of addresses while they are found: 16 bytes, a quarter full, an address per two events). Set
// aside in steps of so many events while reading, given back at the end.
inline constexpr int64_t kReplayBytesPerEvent = 72;
inline constexpr size_t kReplayStep = size_t{1} << 14;
// Set aside at the start and given back when the budget is used up, so that what was read can be closed.
inline constexpr int64_t kSalvageBytes = int64_t{256} << 10;

// -- Writing.
// A converted file holds at most so much, and so much more for each row. What a row takes is its stack: 50
// frames of 100 bytes as JSON. The deepest stacks of C++ reach 40 KB, but not at each of a million events.
inline constexpr int64_t kFreeWrittenBytes = int64_t{1} << 30;
inline constexpr int64_t kWrittenBytesPerRow = int64_t{16} << 10;

}  // namespace gpustrata::io
