// The peak of the first device of a snapshot, by the engine as a library.
#include <cstdio>
#include <cstring>
#include <fstream>

#include "engine/analysis/report/summary.h"
#include "engine/session/session.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  gpustrata::session::Session session(int64_t{1} << 30);
  while (file && !session.done()) {
    const auto room = session.writable();
    file.read(reinterpret_cast<char*>(room.data()), static_cast<std::streamsize>(room.size()));
    if (!session.commit(static_cast<size_t>(file.gcount()))) return 1;
  }
  if (!session.finish()) return 1;
  const auto summary = gpustrata::analysis::summarize(session.recording());
  if (!summary || summary->snapshots.empty() || summary->snapshots[0].devices.empty()) return 1;
  std::printf("%lld\n", static_cast<long long>(summary->snapshots[0].devices[0].peak_requested_bytes));
}
