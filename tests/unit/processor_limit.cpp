#include "tests/unit/processor_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "tests/unit/sanitized.h"

namespace gpustrata::tests {
namespace {

constexpr int kSlower = kSanitized ? 10 : 1;

const char* limited_test = "";

void say(const char* text) { (void)!write(STDERR_FILENO, text, std::strlen(text)); }

void end_program(int) {
  say(limited_test);
  say(": took more processor time than its limit (unit/processor_limit.h)\n");
  _exit(1);
}

void set_limit(rlim_t seconds) {
  rlimit limit{};
  EXPECT_EQ(getrlimit(RLIMIT_CPU, &limit), 0);
  limit.rlim_cur = std::min(seconds, limit.rlim_max);
  EXPECT_EQ(setrlimit(RLIMIT_CPU, &limit), 0);
}

}  // namespace

ProcessorLimit::ProcessorLimit(int seconds) {
  limited_test = testing::UnitTest::GetInstance()->current_test_info()->name();
  std::signal(SIGXCPU, end_program);
  rusage used{};
  EXPECT_EQ(getrusage(RUSAGE_SELF, &used), 0);
  set_limit(static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1) +
            static_cast<rlim_t>(seconds * kSlower));
}

ProcessorLimit::~ProcessorLimit() { set_limit(RLIM_INFINITY); }

}  // namespace gpustrata::tests
