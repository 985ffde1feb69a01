// gpustrata convert FILE -o OUT [--to pickle|json|csv|arrow|trace|speedscope|folded|pprof] [--snapshot NAME] [--device D]
//                   [--at MOMENT] [--table events|blocks|segments|lives|stacks] [--run NAME] [--rank N]
//                   [--with TRACE [--offset MICROSECONDS]] [--hex-addresses] [--json]
#pragma once

#include <string>

#include "engine/cli/console.h"
#include "engine/cli/input/with_trace.h"
#include "engine/cli/output/partition.h"

namespace gpustrata::cli {

struct ConvertOptions {
  std::string file;
  std::string output;    // - is standard output
  std::string to;        // empty = by the end of the output's name
  std::string snapshot;  // name or index of one of several; empty = all
  std::string device;    // of stacks: empty = the default one; of arrow: empty = all
  std::string at;        // of stacks; empty = the peak
  std::string table = "events";
  Partition partition;  // of arrow, where the output is a folder
  WithTrace with;       // ops of a trace become part of the stacks
  bool hex_addresses = false;
  bool json = false;  // report as JSON
};

// The exit code: 0; 1 if the options do not fit together or the file; 2 if the file could not be read or the
// output not be written. Then the output is as it was before.
[[nodiscard]] int run_convert(const ConvertOptions& options, const Console& console);

}  // namespace gpustrata::cli
