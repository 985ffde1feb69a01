// What was reduced from many ranks: of files, whatever view is open.
#include "engine/answers/fleet.h"
#include "engine/session/replies.h"

namespace gpustrata::session::reply {

Status fleet(Asked& asked) {
  const model::Recording& recording = asked.session.recording();
  const auto number = static_cast<size_t>(asked.arguments.integer("fleet"));
  if (number >= recording.fleets.size())
    return fail(ErrorCode::wrong_usage, -1, "there is no fleet {} in this file", number);
  const model::Fleet& found = *recording.fleets[number];
  answers::to_json(asked.json(), found, answers::CurveBytes::apart);
  if (Status written = asked.answer.column("curves.allocated", found.curves.allocated.span()); !written)
    return written;
  return asked.answer.column("curves.reserved", found.curves.reserved.span());
}

}  // namespace gpustrata::session::reply
