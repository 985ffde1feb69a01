#include "engine/serve/access.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "engine/base/ascii.h"

namespace gpustrata::serve {

namespace {

[[nodiscard]] std::optional<uint16_t> port_in(std::string_view text) {
  uint16_t port = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
    return std::nullopt;
  return port;
}

}  // namespace

Result<ListenAddress> listen_address(std::string_view text) {
  const auto wrong = [&] {
    return fail(ErrorCode::wrong_usage, -1, "say an address and a port as 127.0.0.1:8000, not \"{}\"",
                text.substr(0, 100));
  };
  ListenAddress address{"127.0.0.1", 0, false};
  const size_t colon = text.rfind(':');
  const auto port = port_in(colon == std::string_view::npos ? text : text.substr(colon + 1));
  if (!port) return wrong();
  address.port = *port;
  if (colon == std::string_view::npos || colon == 0) return address;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    address.is_v6 = true;
    host = host.substr(1, host.size() - 2);
  }
  if (host.empty() || (!address.is_v6 && host.find(':') != std::string_view::npos)) return wrong();
  address.host = host == "localhost" ? "127.0.0.1" : std::string(host);
  return address;
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::string random_name() {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  std::array<unsigned char, 32> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  std::string name;
  for (const unsigned char byte : bytes) name += kLetters[byte % kLetters.size()];
  return name;
}

std::optional<std::string> host_name(std::string_view host) {
  size_t end = host.rfind(':');
  if (host.starts_with('[')) {
    const size_t close = host.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view rest = host.substr(close + 1);
    if (!rest.empty() && (rest[0] != ':' || !port_in(rest.substr(1)))) return std::nullopt;
    return ascii::lower(host.substr(1, close - 1));
  }
  if (end != std::string_view::npos && !port_in(host.substr(end + 1))) return std::nullopt;
  if (end == std::string_view::npos) end = host.size();
  const std::string_view name = host.substr(0, end);
  if (name.empty() || name.find(':') != std::string_view::npos) return std::nullopt;
  return ascii::lower(name);
}

bool Access::is_own_host(std::string_view host) const {
  const auto name = host_name(host);
  if (!name) return false;
  // A name that only looks like an address, such as 127.example.org, is none of ours.
  if (*name == "localhost" || *name == "127.0.0.1" || *name == "::1") return true;
  return std::find(hosts.begin(), hosts.end(), *name) != hosts.end();
}

bool is_own_origin(std::string_view origin, std::string_view host) {
  constexpr std::string_view kScheme = "http://";
  return origin.empty() ||
         (origin.starts_with(kScheme) && ascii::lower(origin.substr(kScheme.size())) == ascii::lower(host));
}

std::optional<std::string_view> below_token(std::string_view path, std::string_view token) {
  if (path.size() < token.size() + 2 || path[0] != '/' || path[token.size() + 1] != '/') return std::nullopt;
  unsigned char different = 0;
  for (size_t i = 0; i < token.size(); ++i)
    different |= static_cast<unsigned char>(static_cast<unsigned char>(path[i + 1]) ^
                                            static_cast<unsigned char>(token[i]));
  if (different != 0) return std::nullopt;
  return path.substr(token.size() + 2);
}

}  // namespace gpustrata::serve
