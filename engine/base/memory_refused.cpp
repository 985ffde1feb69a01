#include "engine/base/memory_refused.h"

#include "engine/base/units.h"

namespace gpustrata {

tl::unexpected<Error> memory_refused(const Budget& budget, std::string_view what) {
  return fail(ErrorCode::limit_exceeded, -1, "no memory {}: {} bytes are allowed, {} needed", what,
              budget.limit(), budget.needed());
}

tl::unexpected<Error> not_enough_memory(const Budget& budget, std::string_view what) {
  return fail(ErrorCode::limit_exceeded, -1, "not enough memory {}: {} bytes would be needed", what,
              budget.needed());
}

tl::unexpected<Error> file_refused(const Budget& budget) {
  return fail(ErrorCode::limit_exceeded, -1,
              "the memory for this file does not suffice: {} are allowed, about {} would be enough",
              size_text(budget.limit()), size_text(budget.needed()));
}

}  // namespace gpustrata
