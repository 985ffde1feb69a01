// Every command, in words and as JSON, on small snapshots with hostile values: it may refuse, but in words, and nothing
// that it prints may steer a terminal or break the form it promised.
#include "tests/fuzz/run_commands.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  gpustrata::tests::run_some_command(data, size);
  return 0;
}
