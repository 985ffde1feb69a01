#include "engine/session/questions.h"

#include <cmath>

#include "engine/base/utf8.h"
#include "engine/session/replies.h"

namespace gpustrata::session {

namespace {

constexpr std::span<const Question> (*kTables[])() = {
    reply::of_files, reply::of_views,   reply::of_answers, reply::of_trees, reply::of_series, reply::of_ops,
    reply::of_lanes, reply::of_made_in, reply::of_states,  reply::of_runs,  reply::of_fit,
};

constexpr size_t kLongestName = 40;  // of what is repeated in an error

[[nodiscard]] tl::unexpected<Error> wrong_question(std::string_view name, std::string_view why) {
  return fail(ErrorCode::wrong_usage, -1, "{}{}{}", name, name.empty() ? "" : ": ", why);
}

[[nodiscard]] const Question* question_of(std::string_view name) {
  for (const auto of : kTables) {
    for (const Question& question : of()) {
      if (question.name == name) return &question;
    }
  }
  return nullptr;
}

}  // namespace

std::vector<Question> questions() {
  std::vector<Question> all;
  for (const auto of : kTables) all.insert(all.end(), of().begin(), of().end());
  return all;
}

Error reply::in_units(std::string_view text, Error error) {
  if (error.offset >= 0) error.offset = utf8::units_before(text, static_cast<size_t>(error.offset));
  return error;
}

Status answer_question(Session& session, std::span<const std::byte> frame, AnswerFrame& answer) {
  const auto read = read_question(frame);
  if (!read) return tl::unexpected(read.error());
  const auto head = parse_json(read->head);
  if (!head) return tl::unexpected(head.error());
  for (const JsonValue::Member& member : head->members) {
    if (member.name != "ask" && member.name != "view" && member.name != "args")
      return wrong_question("", "the head of a question has `ask`, `view` and `args`");
  }
  const JsonValue* const name = head->find("ask");
  if (name == nullptr || name->kind != JsonValue::Kind::text)
    return wrong_question("", "`ask` must be the name of a question");
  const Question* const question = question_of(name->text);
  if (question == nullptr)
    return fail(ErrorCode::wrong_usage, -1, "there is no question \"{}\"",
                std::string_view(name->text).substr(0, kLongestName));
  if (!session.finished()) return wrong_question(question->name, "no file has been read");

  View* view = nullptr;
  ViewId view_id = 0;
  const JsonValue* const of = head->find("view");
  if (question->of != Question::Of::file) {
    if (of == nullptr || of->kind != JsonValue::Kind::number || of->number != std::floor(of->number))
      return wrong_question(question->name, "`view` must be the number of a view");
    if (of->number >= 1 && of->number <= double{INT32_MAX}) view_id = static_cast<ViewId>(of->number);
    view = session.view(view_id);
    if (view == nullptr)
      return wrong_question(question->name, "there is no such view; it may have been released");
  } else if (of != nullptr) {
    return wrong_question(question->name, "the question is about the file, not about a view");
  }

  static const JsonValue no_arguments = [] {
    JsonValue value;
    value.kind = JsonValue::Kind::object;
    return value;
  }();
  const JsonValue* const given = head->find("args");
  Limits limits;
  if (view != nullptr) view->next_question();
  if (view != nullptr) limits = {view->event_count(), view->rank_count()};
  const auto arguments = Arguments::check(question->arguments, given ? *given : no_arguments, limits);
  if (!arguments) return wrong_question(question->name, arguments.error().message);
  Asked asked{session, view, view_id, *arguments, answer};
  return question->reply(asked);
}

}  // namespace gpustrata::session
