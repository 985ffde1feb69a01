// glibc has it from 2.32 on; libstdc++'s headers want it. There may always be other threads.
#pragma once
static const char __libc_single_threaded = 0;
