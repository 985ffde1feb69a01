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

class ServeReply : public testing::Test {
 protected:
  [[nodiscard]] static std::string body_of(const Reply& reply) {
    return std::string(reply.lasting) + std::string(reply.body.data(), reply.body.size());
  }
  [[nodiscard]] Reply reply_of(std::string_view text) {
    Reply reply(budget);
    EXPECT_TRUE(reply.set(std::as_bytes(std::span(text))));
    return reply;
  }
  Budget budget{1 << 20};
};

TEST_F(ServeReply, TextAndJsonSayWhatTheyAre) {
  const Reply text = text_reply(404, "There is nothing here.\n", budget),
              json = json_reply(503, "{}", budget);
  EXPECT_EQ(text.status, 404U);
  EXPECT_EQ(text.type, "text/plain; charset=utf-8");
  EXPECT_EQ(body_of(text), "There is nothing here.\n");
  EXPECT_FALSE(text.is_packed);
  EXPECT_FALSE(text.is_gone);
  EXPECT_EQ(json.status, 503U);
  EXPECT_EQ(json.type, "application/json");
  EXPECT_EQ(body_of(json), "{}");
}

TEST_F(ServeReply, IsChargedUntilItIsGone) {
  {
    const Reply reply = reply_of(std::string(1000, 'a'));
    EXPECT_EQ(budget.used(), 1000);
  }
  EXPECT_EQ(budget.used(), 0);
  ASSERT_TRUE(budget.take(budget.limit() - 10));
  Reply refused(budget);
  EXPECT_FALSE(refused.set(std::as_bytes(std::span(std::string_view("eleven bytes")))));
  EXPECT_TRUE(refused.body.empty());
  const Reply json = json_reply(200, "[1,2,3,4,5,6]", budget);
  EXPECT_EQ(json.status, 503U);
  EXPECT_NE(body_of(json).find("no memory left"), std::string::npos);
}

TEST_F(ServeReply, PackedFromTwoKiBOn) {
  Reply small = reply_of(std::string(2047, 'a')), large = reply_of(std::string(2048, 'a'));
  small.pack(budget);
  EXPECT_FALSE(small.is_packed);
  EXPECT_EQ(body_of(small), std::string(2047, 'a'));
  large.pack(budget);
  EXPECT_TRUE(large.is_packed);
  EXPECT_LT(large.body.size(), 100U);
  EXPECT_EQ(budget.used(), static_cast<int64_t>(2047 + large.body.size()));
}

TEST_F(ServeReply, WhatIsPackedIsGzipOfTheSame) {
  const std::string text = small_snapshot(50);
  ASSERT_GT(text.size(), 2048U);
  Reply reply = reply_of(text);
  reply.pack(budget);
  ASSERT_TRUE(reply.is_packed);
  const std::string packed = body_of(reply);
  EXPECT_EQ(packed.substr(0, 2), "\x1F\x8B");
  session::Session session(int64_t{1} << 28);
  ASSERT_TRUE(session::read_bytes(session, packed).has_value());
  EXPECT_EQ(session::asked(session, "peaks"), R"({"answer":[[{"device":0,"bytes":50000}]]})");
}

TEST_F(ServeReply, WhatPackingDoesNotMakeSmallerStaysAsItIs) {
  std::mt19937 random(7);
  std::string noise(4096, ' ');
  for (char& c : noise) c = static_cast<char>(random());
  Reply reply = reply_of(noise);
  reply.pack(budget);
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
