#include "engine/serve/access.h"

#include <gmock/gmock.h>

#include <set>

#include "engine/serve/server.h"

namespace gpustrata::serve {
namespace {

using testing::HasSubstr;

TEST(ServeAccess, AddressesToListenOn) {
  const auto host = [](std::string_view text) {
    const auto address = listen_address(text);
    return address ? fmt::format("{} {} {}", address->host, address->port, address->is_v6) : "wrong";
  };
  EXPECT_EQ(host("127.0.0.1:8000"), "127.0.0.1 8000 false");
  EXPECT_EQ(host("localhost:0"), "127.0.0.1 0 false");
  EXPECT_EQ(host(":80"), "127.0.0.1 80 false");
  EXPECT_EQ(host("65535"), "127.0.0.1 65535 false");
  EXPECT_EQ(host("[::1]:1"), "::1 1 true");
  EXPECT_EQ(host("0.0.0.0:1"), "0.0.0.0 1 false");
  for (const std::string_view wrong :
       {"", "a", "127.0.0.1", "1:65536", "::1:80", "[]:80", "1.2.3.4:-1", "1.2.3.4: 1"})
    EXPECT_EQ(host(wrong), "wrong") << wrong;
  EXPECT_TRUE(is_loopback("127.0.0.1"));
  EXPECT_TRUE(is_loopback("::1"));
  EXPECT_FALSE(is_loopback("0.0.0.0"));
}

TEST(ServeAccess, TheHostMustBeThisServerWhateverThePort) {
  const Access access{"token", {"gpu7.example", "10.0.0.7"}};
  for (const std::string_view own : {"127.0.0.1:8000", "localhost", "LocalHost:1", "[::1]:9",
                                     "gpu7.example:80", "GPU7.example", "10.0.0.7:8000"})
    EXPECT_TRUE(access.is_own_host(own)) << own;
  for (const std::string_view other :
       {"", ":80", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "127.evil.example",
        "127.0.0.2", "[::2]:80", "[::1", "[::1]x", "::1", "localhost:", "localhost:x", "localhost:99999",
        "gpu7.example.evil", "a:b:1"})
    EXPECT_FALSE(access.is_own_host(other)) << other;
}

TEST(ServeAccess, TheOriginMustBeThePagesOwn) {
  EXPECT_TRUE(is_own_origin("", "127.0.0.1:8000"));
  EXPECT_TRUE(is_own_origin("http://127.0.0.1:8000", "127.0.0.1:8000"));
  for (const std::string_view other :
       {"null", "http://127.0.0.1:8001", "https://127.0.0.1:8000", "http://evil.example",
        "http://127.0.0.1:8000.evil.example", "http://127.0.0.1:8000/"})
    EXPECT_FALSE(is_own_origin(other, "127.0.0.1:8000")) << other;
}

TEST(ServeAccess, TheTokenComesFirst) {
  EXPECT_EQ(below_token("/abc/files", "abc"), "files");
  EXPECT_EQ(below_token("/abc/", "abc"), "");
  for (const std::string_view other :
       {"", "/", "/abc", "abc/files", "/abd/files", "/abcd/files", "/ab/cfiles", "//abc/"})
    EXPECT_EQ(below_token(other, "abc"), std::nullopt) << other;
}

TEST(ServeAccess, RandomNamesDiffer) {
  std::set<std::string> names;
  for (int i = 0; i < 1000; ++i) names.insert(random_name());
  EXPECT_EQ(names.size(), 1000);
  EXPECT_EQ(names.begin()->size(), 32);
}

TEST(ServedPage, MayAskItsOwnServerOnly) {
  const auto page = served_page(
      "<meta content=\"connect-src 'none'; x\"><meta name=\"holds\" content=\"gpustrata-snapshot\" />");
  ASSERT_TRUE(page.has_value());
  EXPECT_THAT(*page, HasSubstr("connect-src 'self'; x"));
  EXPECT_THAT(*page, HasSubstr("<meta name=\"gpustrata-server\""));
  EXPECT_FALSE(served_page("<html></html>").has_value());
}

}  // namespace
}  // namespace gpustrata::serve
