// Who may ask: the rules that need nothing but the texts of a request.
//
// A page of another site cannot read answers (the browser's same-origin rule), but it could make the browser send
// requests, and by DNS rebinding make its own name lead here. So: every address begins with a random token, the
// name in `Host` must be one that this server was given, and `Origin`, where there is one, must be that same name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"

namespace gpustrata::serve {

struct ListenAddress {
  std::string host;   // a numeric address without brackets, or "localhost"
  uint16_t port = 0;  // 0 = a free one
  bool is_v6 = false;
};
// "127.0.0.1:8000", "[::1]:0", "localhost:80", ":8000" and "8000" (loopback). Error: wrong_usage.
[[nodiscard]] Result<ListenAddress> listen_address(std::string_view text);
[[nodiscard]] bool is_loopback(std::string_view host);

// 32 letters and digits from the system's generator; empty if it gives nothing.
[[nodiscard]] std::string random_name();

// The name of "name:port" or "[::1]:port", in lower case; none if it is not of this form.
[[nodiscard]] std::optional<std::string> host_name(std::string_view host);

struct Access {
  std::string token;
  std::vector<std::string> hosts;  // names of this server, in lower case; loopback names always

  // `Host` names this server; the port may be another one (a tunnel).
  [[nodiscard]] bool is_own_host(std::string_view host) const;
};
// No `Origin`, or the one of a page that this server sent.
[[nodiscard]] bool is_own_origin(std::string_view origin, std::string_view host);

// What follows "/TOKEN/"; none if the path does not begin so. Takes as long whichever letter is wrong.
[[nodiscard]] std::optional<std::string_view> below_token(std::string_view path, std::string_view token);

}  // namespace gpustrata::serve
