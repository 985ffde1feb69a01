// libmicrohttpd, loaded when a server starts: the command runs without it, and `serve` then says what is missing.
#pragma once

#include <microhttpd.h>

#include "engine/base/status.h"

namespace gpustrata::serve {

// The functions of <microhttpd.h> that are used here.
struct HttpLibrary {
  decltype(&MHD_start_daemon) start_daemon = nullptr;
  decltype(&MHD_stop_daemon) stop_daemon = nullptr;
  decltype(&MHD_lookup_connection_value) lookup_connection_value = nullptr;
  decltype(&MHD_get_connection_info) get_connection_info = nullptr;
  decltype(&MHD_create_response_from_buffer) create_response_from_buffer = nullptr;
  decltype(&MHD_create_response_from_callback) create_response_from_callback = nullptr;
  decltype(&MHD_add_response_header) add_response_header = nullptr;
  decltype(&MHD_queue_response) queue_response = nullptr;
  decltype(&MHD_destroy_response) destroy_response = nullptr;
};

inline constexpr const char* kHttpLibrary = "libmicrohttpd.so.12";

// Stays loaded. Error: unsupported, in words.
[[nodiscard]] Result<HttpLibrary> load_http_library(const char* name = kHttpLibrary);

}  // namespace gpustrata::serve
