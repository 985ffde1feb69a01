#include "engine/base/units.h"

#include <gtest/gtest.h>

#include <limits>

namespace gpustrata {
namespace {

TEST(Units, SizesHaveOneDecimalAndABinaryUnit) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(1024), "1.0 KiB");
  EXPECT_EQ(size_text(1536), "1.5 KiB");
  EXPECT_EQ(size_text(int64_t{71} << 30), "71.0 GiB");
  // 9.31 GiB are not enough where 9.3 are said to be; whole tenths stay.
  EXPECT_EQ(size_text(9'997'000'000), "9.3 GiB");
  EXPECT_EQ(needed_text(9'997'000'000), "9.4 GiB");
  EXPECT_EQ(needed_text(1536), "1.5 KiB");
  EXPECT_EQ(needed_text(1537), "1.6 KiB");
  EXPECT_EQ(needed_text((int64_t{1} << 20) - 1), "1.0 MiB");
  EXPECT_EQ(needed_text(1000), "1000 B");
  EXPECT_EQ(fitting_text(1638), "1.5 KiB");
  EXPECT_EQ(fitting_text(1536), "1.5 KiB");
  EXPECT_EQ(fitting_text((int64_t{1} << 20) - 1), "1023.9 KiB");
  EXPECT_EQ(size_text(int64_t{3} << 40), "3.0 TiB");
}

TEST(Units, SizesChangeUnitByTheRoundedNumber) {
  EXPECT_EQ(size_text(1024 * 1024 - 1), "1.0 MiB");      // not 1024.0 KiB
  EXPECT_EQ(size_text(1024 * 1024 - 52), "1023.9 KiB");  // 1023.949...
}

TEST(Units, TibIsTheLargestUnit) {
  // 2^63 - 1 bytes are 8388608 TiB, less one byte.
  EXPECT_EQ(size_text(std::numeric_limits<int64_t>::max()), "8388608.0 TiB");
  EXPECT_EQ(size_text(std::numeric_limits<int64_t>::min()), "-8388608.0 TiB");
}

TEST(Units, ExactSizesNameTheBytesOnce) {
  EXPECT_EQ(exact_size_text(512), "512 bytes");
  EXPECT_EQ(exact_size_text(76450234368), "71.2 GiB (76,450,234,368 bytes)");
}

TEST(Units, CountsAreGroupedByThousands) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(-1234567), "-1,234,567");
}

TEST(Units, DurationsUseTwoUnitsAtMost) {
  EXPECT_EQ(duration_text(0), "0 us");
  EXPECT_EQ(duration_text(999), "999 us");
  EXPECT_EQ(duration_text(12345), "12.3 ms");
  EXPECT_EQ(duration_text(999'960), "1.0 s");
  EXPECT_EQ(duration_text(4'600'000), "4.6 s");
  EXPECT_EQ(duration_text(200'000'000), "3 min 20 s");
  EXPECT_EQ(duration_text(7'500'000'000), "2 h 5 min");
  EXPECT_EQ(duration_text(int64_t{76} * 3600 * 1'000'000), "3 d 4 h");
  EXPECT_EQ(duration_text(-4'600'000), "-4.6 s");
}

}  // namespace
}  // namespace gpustrata
