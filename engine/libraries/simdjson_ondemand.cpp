// simdjson for the page: without its DOM parser, 20 KB of code that On-Demand, all that is used here, never
// calls.
#include <simdjson.h>

namespace simdjson::fallback {
namespace {
namespace stage2 {

// Instead of simdjson's own.
struct tape_builder {
  template <bool>
  static error_code parse_document(dom_parser_implementation&, dom::document&) {
    return UNSUPPORTED_ARCHITECTURE;
  }
};

}  // namespace stage2
}  // namespace
}  // namespace simdjson::fallback

#define SIMDJSON_SRC_GENERIC_STAGE2_TAPE_BUILDER_H
#include <simdjson.cpp>
