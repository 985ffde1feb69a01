// A journal: what a program's recorder writes as it happens (the format: engine/io/journal/README.md). Version 1.
//
// Read are whole ones, those of a program that was killed (what was left in the ring is taken from there), torn ones (what was
// before the damage is shown, and counted), and those that still grow. The part is a snapshot of the last moment: the events,
// and segments and blocks as the last state and the events behind it make them.
// Not read: kinds of chunks and records that later versions may have; they are passed over.
// The file is kept in memory until its end, since what lies first in it is what happened last.
#pragma once

#include <memory>
#include <string_view>

#include "engine/io/reader.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

[[nodiscard]] bool begins_journal(std::string_view beginning);

[[nodiscard]] std::unique_ptr<Reader> journal_reader(model::Recording& recording);

}  // namespace gpustrata::io
