#include "engine/serve/library.h"

#include <dlfcn.h>

namespace gpustrata::serve {

Result<HttpLibrary> load_http_library(const char* name) {
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return fail(
        ErrorCode::unsupported, -1,
        "`serve` needs libmicrohttpd, which is not installed (Debian: apt-get install libmicrohttpd12).");
  HttpLibrary functions;
  bool is_whole = true;
  const auto find = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
    is_whole = is_whole && function != nullptr;
  };
  find(functions.start_daemon, "MHD_start_daemon");
  find(functions.stop_daemon, "MHD_stop_daemon");
  find(functions.lookup_connection_value, "MHD_lookup_connection_value");
  find(functions.get_connection_info, "MHD_get_connection_info");
  find(functions.create_response_from_buffer, "MHD_create_response_from_buffer");
  find(functions.create_response_from_callback, "MHD_create_response_from_callback");
  find(functions.add_response_header, "MHD_add_response_header");
  find(functions.queue_response, "MHD_queue_response");
  find(functions.destroy_response, "MHD_destroy_response");
  if (!is_whole)
    return fail(ErrorCode::unsupported, -1,
                "`serve` needs libmicrohttpd 0.9.60 or newer, which this is not.");
  return functions;
}

}  // namespace gpustrata::serve
