// What `gpustrata fleet` reads: lines of facts, snapshots, which become such lines here, and how ranks are grouped.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/cli/console.h"
#include "engine/cli/failure.h"
#include "engine/fleet/fact_table.h"

namespace gpustrata::cli {

struct FleetFile {
  std::string path;
  bool is_named = false;  // by a person; else it was found in a folder
};
// Files below the paths, by name; hidden ones and links to folders are left out. Failure: unreadable.
[[nodiscard]] Outcome<std::vector<FleetFile>> files_below(const std::vector<std::string>& paths);

// A file of facts, packed or not, or one that is none and is turned into facts. A reduced file in a folder is passed by. What
// a line of facts does not say of run, host and rank, the file's folders do. What cannot be read is among
// FactTable::not_read(). Failure: limit_exceeded of the table.
[[nodiscard]] Outcome<void> add_file(fleet::FactTable& facts, const FleetFile& file, const Console& console);

// The CSV of --groups. Failure: wrong_usage, with the line.
[[nodiscard]] Outcome<void> add_groups_of(fleet::FactTable& facts, const std::string& path);

// "tp=8,dp=4,pp=2": rank = tp + 8 * (dp + 4 * pp). Failure: wrong_usage.
using Layout = std::vector<std::pair<std::string, int64_t>>;
[[nodiscard]] Outcome<Layout> layout_of(const std::string& text);
// Groups of every kind: those ranks that have all other numbers in common; of kind pp those of one stage.
[[nodiscard]] Outcome<void> add_layout(fleet::FactTable& facts, const Layout& layout);

}  // namespace gpustrata::cli
