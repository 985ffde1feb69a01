#include "engine/io/sniff.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/unit/io/py.h"

namespace gpustrata::tests {
namespace {

using io::Format;
using namespace std::string_view_literals;

io::Sniffed sniff(std::string_view text) { return io::sniff(std::as_bytes(std::span(text))); }

TEST(Sniff, PicklesOfAllWritersAreKnown) {
  for (const Writer writer : kAllWriters) {
    EXPECT_EQ(sniff(pickled(Py::dict({{"segments", Py::list({})}, {"device_traces", Py::list({})}}), writer))
                  .format,
              Format::pickle);
    EXPECT_EQ(sniff(pickled(Py::list({Py::dict({{"device", 0}})}), writer)).format, Format::pickle);
    EXPECT_EQ(sniff(pickled(Py::list({}), writer)).format, Format::pickle);
  }
}

TEST(Sniff, ProtocolIsTold) { EXPECT_EQ(sniff("\x80\x04\x95").reason, "A Python pickle (protocol 4)."); }

TEST(Sniff, OtherKindsAreTold) {
  EXPECT_EQ(sniff("\x1f\x8b\x08"sv).format, Format::gzip);
  EXPECT_EQ(sniff("\x28\xb5\x2f\xfd"sv).format, Format::zstd);
  EXPECT_EQ(sniff("PK\x03\x04"sv).format, Format::zip);
  EXPECT_EQ(sniff("\x89PNG\r\n\x1a\n"sv).format, Format::png);
  EXPECT_EQ(sniff("\x89HDF\r\n\x1a\n"sv).format, Format::hdf5);
  EXPECT_EQ(sniff("\x7f"
                  "ELF\2"sv)
                .format,
            Format::elf);
  EXPECT_EQ(sniff("{\"segments\": []}").format, Format::json);
  EXPECT_EQ(sniff("\xEF\xBB\xBF [1]").format, Format::json);
  EXPECT_EQ(sniff("\n<!DOCTYPE html>").format, Format::html);
  EXPECT_EQ(sniff("<HTML>").format, Format::html);
  EXPECT_EQ(sniff(std::string(512, '\0')).format, Format::zeros);
  EXPECT_EQ(sniff("").format, Format::empty);
  EXPECT_EQ(sniff("hello world").format, Format::unknown);
}

TEST(Sniff, PackingsThatAreNotReadComeWithAdvice) {
  EXPECT_NE(sniff("\xfd\x37zXZ\0"sv).reason.find("xz -d"), std::string::npos);
  EXPECT_NE(sniff("BZh91AY"sv).reason.find("bzip2 -d"), std::string::npos);
  EXPECT_FALSE(io::is_read(sniff("BZh91AY"sv).format));
  for (const auto start :
       {"\x1f\x8b"sv, "\x28\xb5\x2f\xfd"sv, "PK\x03\x04"sv, "{"sv, "<html>"sv, "\x80\x04"sv}) {
    EXPECT_TRUE(io::is_read(sniff(start).format)) << start;
  }
}

TEST(Sniff, UnknownFilesAreToldByTheirFirstBytes) {
  EXPECT_NE(sniff("hi").reason.find("68 69"), std::string::npos);
}

}  // namespace
}  // namespace gpustrata::tests
