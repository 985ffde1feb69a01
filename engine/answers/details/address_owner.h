// Whose an address is: the answer of `gpustrata owner`, and of the page's search for 0x...
#pragma once

#include "engine/analysis/details/address_owner.h"
#include "engine/analysis/device/event_context.h"
#include "engine/answers/described/members.h"
#include "engine/answers/text/text_out.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::EventContext& context, const analysis::AddressOwner& owner);

// The sentences, and the stacks of the block that holds the address, or else of the last that did.
void to_text(TextOut& out, const analysis::EventContext& context, const analysis::AddressOwner& owner,
             size_t columns);

}  // namespace gpustrata::answers
