#include "engine/io/encodings/json/piece_reader.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/json_number.h"
#include "engine/base/utf8.h"
#include "engine/io/limits.h"
#include "engine/io/values/numbers.h"

namespace gpustrata::io::json {

namespace ondemand = simdjson::ondemand;
using model::Diag;
using values::Tag;

static_assert(kPiecePadding >= simdjson::SIMDJSON_PADDING);

struct PieceReader::State {
  State(values::Builder& values, model::Diagnostics& found) : builder(values), diagnostics(found) {}

  values::Builder& builder;
  model::Diagnostics& diagnostics;
  ondemand::parser parser;
  const char* begin = nullptr;  // of the piece
  int64_t offset = 0;           // its place in the text
  bool refused = false;         // memory

  [[nodiscard]] int64_t place(std::string_view token) const { return offset + (token.data() - begin); }

  void keep(bool taken) { refused = refused || !taken; }

  void invalid(int64_t at) {
    diagnostics.add(Diag::invalid_json, at);
    keep(builder.add({Tag::dropped, 0, 0}));
  }

  // What begins with no letter that JSON knows: Python writes NaN and infinities.
  void odd_scalar(std::string_view token) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (token.starts_with("NaN"))
      return keep(builder.add(values::real(std::numeric_limits<double>::quiet_NaN())));
    if (token.starts_with("Infinity")) return keep(builder.add(values::real(kInfinity)));
    if (token.starts_with("-Infinity")) return keep(builder.add(values::real(-kInfinity)));
    invalid(place(token));
  }

  // By the machine's rules, which are exact to 64 bits and tell what is larger; simdjson's own numbers would
  // bring 13 KB of tables for reals.
  void read_number(std::string_view token) {
    const size_t end = std::min(token.find_first_not_of("-0123456789"), token.size());
    const bool whole =
        end == token.size() || std::string_view(".eE").find(token[end]) == std::string_view::npos;
    if (whole) {
      if (const auto value = values::integer_of_text(token.substr(0, end))) return keep(builder.add(*value));
    } else {
      const std::string_view number = token.substr(0, json_number(token).length);
      const std::string_view rest = token.substr(number.size());
      const auto value = values::real_of_text(number);
      if (value && rest.find_first_not_of(" \t\r\n,:]}") != 0 && std::isfinite(values::double_of(*value)))
        return keep(builder.add(*value));
    }
    odd_scalar(token);
  }

  template <typename Json>
  void read_value(Json& json, std::string_view token, int depth) {
    ondemand::json_type type{};
    if (json.type().get(type) != simdjson::SUCCESS) return odd_scalar(token);
    const bool is_container = type == ondemand::json_type::object || type == ondemand::json_type::array;
    if (is_container && depth >= kMaxJsonDepth) {
      diagnostics.add(Diag::text_cut, place(token));
      return keep(builder.add({Tag::dropped, 0, 0}));
    }
    switch (type) {
      case ondemand::json_type::object: {
        ondemand::object object;
        if (json.get_object().get(object) != simdjson::SUCCESS) return invalid(place(token));
        return read_members(object, token, depth);
      }
      case ondemand::json_type::array: {
        ondemand::array array;
        if (json.get_array().get(array) != simdjson::SUCCESS) return invalid(place(token));
        return read_items(array, token, depth);
      }
      case ondemand::json_type::string: {
        std::string_view text;
        // A lone surrogate becomes U+FFFD.
        if (json.get_string(true).get(text) != simdjson::SUCCESS) return invalid(place(token));
        return keep(builder.add_text(text, place(token)));
      }
      case ondemand::json_type::number:
        return read_number(token);
      case ondemand::json_type::boolean: {
        bool truth = false;
        if (json.get_bool().get(truth) != simdjson::SUCCESS) return invalid(place(token));
        return keep(builder.add({Tag::boolean, 0, truth ? uint64_t{1} : uint64_t{0}}));
      }
      case ondemand::json_type::null: {
        bool is_null = false;
        if (json.is_null().get(is_null) != simdjson::SUCCESS || !is_null) return invalid(place(token));
        return keep(builder.add({Tag::none, 0, 0}));
      }
    }
    invalid(place(token));
  }

  void read_members(ondemand::object& object, std::string_view token, int depth) {
    keep(builder.open(true, place(token)));
    bool whole = true;
    for (auto found : object) {
      std::string_view key;
      ondemand::value value;
      if (refused) break;
      if (found.unescaped_key(true).get(key) != simdjson::SUCCESS) {
        whole = false;
        break;
      }
      keep(builder.key(key));
      if (found.value().get(value) != simdjson::SUCCESS) {
        whole = false;
        break;
      }
      if (!refused) read_value(value, value.raw_json_token(), depth + 1);
    }
    end(whole, token);
  }

  void read_items(ondemand::array& array, std::string_view token, int depth) {
    keep(builder.open(false, place(token)));
    bool whole = true;
    for (auto found : array) {
      ondemand::value value;
      if (refused) break;
      if (found.get(value) != simdjson::SUCCESS) {
        whole = false;
        break;
      }
      read_value(value, value.raw_json_token(), depth + 1);
    }
    end(whole, token);
  }

  void end(bool whole, std::string_view token) {
    if (!whole) diagnostics.add(Diag::invalid_json, place(token));
    keep(builder.close(!whole || refused));
  }
};

namespace {

// Same length, so that offsets stay what they are.
void overwrite_invalid(std::span<char> text, model::Diagnostics& diagnostics, int64_t offset) {
  const std::string_view view(text.data(), text.size());
  for (size_t at = 0; at < view.size();) {
    const utf8::Sequence sequence = utf8::sequence_at(view, at);
    if (!sequence.valid) {
      diagnostics.add(Diag::not_utf8, offset + static_cast<int64_t>(at));
      for (size_t i = 0; i < sequence.length; ++i) text[at + i] = '?';
    }
    at += sequence.length;
  }
}

}  // namespace

PieceReader::PieceReader(values::Builder& builder, model::Diagnostics& diagnostics)
    : state_(std::make_unique<State>(builder, diagnostics)) {}

PieceReader::~PieceReader() = default;

bool PieceReader::read(std::span<char> piece, int64_t offset) {
  State& s = *state_;
  s.begin = piece.data();
  s.offset = offset;
  s.refused = false;
  ondemand::document document;
  const auto iterate = [&] {
    return s.parser.iterate(piece.data(), piece.size(), piece.size() + kPiecePadding).get(document);
  };
  simdjson::error_code error = iterate();
  if (error == simdjson::UTF8_ERROR) {
    overwrite_invalid(piece, s.diagnostics, offset);
    error = iterate();
  }
  std::string_view token;
  if (error != simdjson::SUCCESS || document.raw_json_token().get(token) != simdjson::SUCCESS) {
    s.invalid(offset);
  } else {
    s.read_value(document, token, 0);
  }
  return !s.refused;
}

bool PieceReader::read_key(std::span<char> piece, int64_t offset) {
  State& s = *state_;
  overwrite_invalid(piece, s.diagnostics, offset);
  ondemand::document document;
  std::string_view text;
  if (s.parser.iterate(piece.data(), piece.size(), piece.size() + kPiecePadding).get(document) !=
          simdjson::SUCCESS ||
      document.get_string(true).get(text) != simdjson::SUCCESS) {
    s.diagnostics.add(Diag::invalid_json, offset);
    text = {};
  }
  return s.builder.key(text);
}

}  // namespace gpustrata::io::json
