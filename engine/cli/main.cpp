#include "engine/cli/process.h"

int main(int argc, char** argv) { return gpustrata::cli::run_as_process(argc, argv); }
