// Goes into the test programs of the copy: which faults does each test pass? A line "Suite.Name 3 17 ..." for each test
// in GPUSTRATA_FAULT_REACHED + ".tests".
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace {

class Listener : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override {
    planted::on(0);  // opens the file
    if (planted::reached) std::memset(planted::reached, 0, planted::kMost);
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    const char* file = std::getenv("GPUSTRATA_FAULT_REACHED");
    if (!planted::reached || !file) return;
    std::FILE* out = std::fopen((std::string(file) + ".tests").c_str(), "a");
    if (!out) return;
    std::fprintf(out, "%s.%s %d", test.test_suite_name(), test.name(),
                 static_cast<int>(test.result()->elapsed_time()));
    for (int i = 1; i < planted::kMost; ++i)
      if (planted::reached[i]) std::fprintf(out, " %d", i);
    std::fprintf(out, "%s\n", test.result()->Failed() ? " red" : "");
    std::fclose(out);
  }
};

const bool appended = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Listener);
  return true;
}();

}  // namespace
