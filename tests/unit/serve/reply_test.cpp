// What is sent back, as it is and packed.
#include "engine/serve/reply.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "engine/serve/library.h"
#include "tests/unit/serve/served_folder.h"
#include "tests/unit/session/asking.h"

namespace gpustrata::serve {
namespace {

[[nodiscard]] std::string body_of(const Reply& reply) { return std::string(reply.body.get(), reply.size); }

TEST(ServeReply, TextAndJsonSayWhatTheyAre) {
  const Reply text = text_reply(404, "There is nothing here.\n"), json = json_reply(503, "{}");
  EXPECT_EQ(text.status, 404U);
  EXPECT_EQ(text.type, "text/plain; charset=utf-8");
  EXPECT_EQ(body_of(text), "There is nothing here.\n");
  EXPECT_FALSE(text.is_packed);
  EXPECT_FALSE(text.is_gone);
  EXPECT_EQ(json.status, 503U);
  EXPECT_EQ(json.type, "application/json");
  EXPECT_EQ(body_of(json), "{}");
}

TEST(ServeReply, AnEmptyOneHasABodyOfNoBytes) {
  const Reply empty = text_reply(200, "");
  EXPECT_EQ(empty.status, 200U);
  EXPECT_NE(empty.body, nullptr);
  EXPECT_EQ(empty.size, 0U);
}

TEST(ServeReply, PackedFromTwoKiBOn) {
  Reply small = text_reply(200, std::string(2047, 'a')), large = text_reply(200, std::string(2048, 'a'));
  small.pack();
  EXPECT_FALSE(small.is_packed);
  EXPECT_EQ(body_of(small), std::string(2047, 'a'));
  large.pack();
  EXPECT_TRUE(large.is_packed);
  EXPECT_LT(large.size, 100U);
}

TEST(ServeReply, WhatIsPackedIsGzipOfTheSame) {
  const std::string text = small_snapshot(50);
  ASSERT_GT(text.size(), 2048U);
  Reply reply = text_reply(200, text);
  reply.pack();
  ASSERT_TRUE(reply.is_packed);
  const std::string packed = body_of(reply);
  EXPECT_EQ(packed.substr(0, 2), "\x1F\x8B");
  session::Session session(int64_t{1} << 28);
  ASSERT_TRUE(session::read_bytes(session, packed).has_value());
  EXPECT_EQ(session::asked(session, "peaks"), R"({"answer":[[{"device":0,"bytes":50000}]]})");
}

TEST(ServeReply, WhatPackingDoesNotMakeSmallerStaysAsItIs) {
  std::mt19937 random(7);
  std::string noise(4096, ' ');
  for (char& c : noise) c = static_cast<char>(random());
  Reply reply = text_reply(200, noise);
  reply.pack();
  EXPECT_FALSE(reply.is_packed);
  EXPECT_EQ(body_of(reply), noise);
}

TEST(HttpLibraryLoaded, WhatIsMissingIsSaidInWords) {
  const auto missing = load_http_library("libgpustrata_has_no_such.so.1");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::unsupported);
  EXPECT_NE(missing.error().message.find("`serve` needs libmicrohttpd, which is not installed"),
            std::string::npos);
  // A library without its functions.
  const auto other = load_http_library("libc.so.6");
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, ErrorCode::unsupported);
  EXPECT_NE(other.error().message.find("0.9.60 or newer, which this is not"), std::string::npos);
}

}  // namespace
}  // namespace gpustrata::serve
