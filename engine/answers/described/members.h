// What an answer is made of, said once: describe(members, parts...) names the members of a JSON object one by one. The same
// function writes them, and tells a schema what they are (schema.h).
//
//   void describe(Members& m, const EventContext& context, const Pin& pin) {
//     m.is("Pin", "A segment whose free memory something live holds back.");
//     m.bytes({"free_bytes", "Of its free blocks."}, pin.free_bytes);
//     m.text({"who", "Of the largest block."}, [&] { return who_text(context, pin.largest); });
//   }
//
// A schema has no row and shows one of zeros. So whatever is not simply a field (a call, what a pointer or an optional holds)
// is said by a function, which is called only where there is a row; and what a part refers to is asked for by of(). An optional is a value that may be null; members that may
// be absent stand behind `if (const auto there = m.when(...))`. In WebAssembly there are no schemas: descriptions are gone.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "engine/answers/text/text_out.h"
#include "engine/base/json_writer.h"
#include "engine/base/words.h"

namespace gpustrata::answers {

class Schema;

// Of a member, in words what it says, and its head where it is a column of a table. The last two are not in the page's engine.
#ifdef __EMSCRIPTEN__
struct Name {
  [[gnu::always_inline]] constexpr Name(const char* of_member, const char* = "", const char* = "")
      : name(of_member) {}
  const char* name;
};
inline constexpr bool kHasSchemas = false;
#else
struct Name {
  constexpr Name(const char* of_member, const char* in_words = "", const char* of_column = "")
      : name(of_member), doc(in_words), head(of_column) {}
  const char *name, *doc, *head;
};
inline constexpr bool kHasSchemas = true;
#endif

// What a number counts, or what else a value is. Some of them are types of the page (schema.cpp).
enum class As : uint8_t {
  flag,
  count,
  number,
  share,
  bytes,
  microseconds,
  axis,
  rank,
  block_row,
  segment_row,
  text,
  pool,
  any
};

// The words of an enum, by its numbers.
using Words = std::span<const std::string_view>;
template <typename Enum, size_t count>
struct WordsOf {
  std::string_view words[count];
  constexpr std::string_view operator[](Enum one) const { return words[static_cast<size_t>(one)]; }
  constexpr operator Words() const { return words; }
};
template <auto last, typename... Text>
[[nodiscard]] constexpr auto words_up_to(Text... words) {
  static_assert(sizeof...(Text) == static_cast<size_t>(last) + 1, "a word for each");
  return WordsOf<decltype(last), sizeof...(Text)>{{words...}};
}

// What columns hold, by the names of the wire (session/frame.h).
enum class Element : uint8_t { i32, f32, f64, u8, rgba };
inline constexpr std::string_view kElements[] = {"i32", "f32", "f64", "u8", "rgba"};
template <typename T>
inline constexpr Element kElementOf = std::is_same_v<T, int32_t>   ? Element::i32
                                      : std::is_same_v<T, float>   ? Element::f32
                                      : std::is_same_v<T, double>  ? Element::f64
                                      : std::is_same_v<T, uint8_t> ? Element::u8
                                                                   : Element::rgba;

// Where columns go.
class ColumnSink {
 public:
  // Of a column, until the next one. Null: there is no memory.
  [[nodiscard]] virtual std::byte* room(std::string_view name, Element element, size_t count) = 0;
  // The object in the answer that has the columns until it is left.
  void enter(std::string_view name) { place_.append(name).append(1, '.'); }
  void leave(size_t name_length) { place_.resize(place_.size() - name_length - 1); }

 protected:
  ColumnSink() = default;
  ~ColumnSink() = default;
  std::string place_;  // "curves."
};

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
struct Value {
  using Type = T;
};
template <typename T>
struct Value<std::optional<T>> {
  using Type = T;
};
// What an optional holds; of anything else itself.
template <typename T>
using ValueOf = typename Value<std::remove_cvref_t<T>>::Type;

class Members {
 public:
  explicit Members(JsonWriter& json) : json_(&json) {}
  Members(JsonWriter& json, ColumnSink& columns) : json_(&json), columns_(&columns) {}
  explicit Members(Schema& schema) : schema_(&schema) {}

  // The name of this object among the types of the page, and in words what it is.
  [[gnu::always_inline]] void is(Name name) {
    if constexpr (kHasSchemas) {
      if (schema_ != nullptr) name_it(name);
    }
  }
  // The command writes it as a line: "ops --json".
  [[gnu::always_inline]] void line(Name name) {
    if constexpr (kHasSchemas) {
      if (schema_ != nullptr) name_line(name);
    }
  }

  // Values: a field, an optional one, or a function that gives one.
  [[gnu::always_inline]] void flag(Name name, const auto& says) { put(As::flag, name, says); }
  [[gnu::always_inline]] void count(Name name, const auto& says) { put(As::count, name, says); }
  [[gnu::always_inline]] void number(Name name, const auto& says) { put(As::number, name, says); }
  [[gnu::always_inline]] void share(Name name, const auto& says) { put(As::share, name, says); }
  [[gnu::always_inline]] void bytes(Name name, const auto& says) { put(As::bytes, name, says); }
  [[gnu::always_inline]] void microseconds(Name name, const auto& says) { put(As::microseconds, name, says); }
  [[gnu::always_inline]] void axis(Name name, const auto& says) { put(As::axis, name, says); }
  [[gnu::always_inline]] void rank(Name name, const auto& says) { put(As::rank, name, says); }
  [[gnu::always_inline]] void block_row(Name name, const auto& says) { put(As::block_row, name, says); }
  [[gnu::always_inline]] void segment_row(Name name, const auto& says) { put(As::segment_row, name, says); }
  [[gnu::always_inline]] void text(Name name, const auto& says) { put(As::text, name, says); }

  // "0x7f0000000000"
  void address(Name name, uint64_t address);
  // One of these: the number of it (an enum, an optional one), or the word itself. An empty word is null.
  template <typename T>
  void word(Name name, Words words, const T& says) {
    if constexpr (std::is_invocable_v<const T&>) {
      if (is_schema()) return one_of(name, words, kIsOptional<std::invoke_result_t<const T&>>);
      word(name, words, says());
    } else {
      if (is_schema()) return one_of(name, words, kIsOptional<T>);
      if constexpr (kIsOptional<T>) {
        says ? word(name, words, *says) : write_null(name.name);
      } else if constexpr (std::is_enum_v<T>) {
        write_word(name.name, words[static_cast<size_t>(says)]);
      } else {
        write_word(name.name, says);
      }
    }
  }

  // The same of an enum whose words are said with it (base/words.h).
  template <typename T>
  void word(Name name, const T& says) {
    if constexpr (std::is_invocable_v<const T&>) {
      word(name, Words(kWordsOf<ValueOf<std::invoke_result_t<const T&>>>), says);
    } else {
      word(name, Words(kWordsOf<ValueOf<T>>), says);
    }
  }

  // An object in this one.
  template <std::invocable Describe>
  void object(Name name, const Describe& members) {
    begin(name, '{');
    members();
    end('}');
  }
  // Of what an optional or a pointer holds, or null.
  template <typename Row, typename Describe>
  requires std::invocable<Describe, decltype(*std::declval<const Row&>())>
  void object(Name name, const Row& row, const Describe& members) {
    if (is_schema()) {
      begin(name, '{', true);
      members(sample<std::remove_cvref_t<decltype(*row)>>());
    } else {
      if (!row) return write_null(name.name);
      begin(name, '{');
      members(*row);
    }
    end('}');
  }
  // Objects, one for each row. `rows` may be a function that gives them.
  template <typename Rows, typename Describe>
  void list(Name name, const Rows& rows, const Describe& members) {
    if constexpr (std::is_invocable_v<const Rows&>) {
      if (!is_schema()) return list(name, rows(), members);
      sample_list<std::remove_cvref_t<decltype(*std::begin(rows()))>>(name, members);
    } else if (is_schema()) {
      sample_list<std::remove_cvref_t<decltype(*std::begin(rows))>>(name, members);
    } else {
      begin(name, '[');
      for (const auto& row : rows) {
        if (json_->refused()) break;
        json_->begin_object();
        members(row);
        json_->end_object();
      }
      end(']');
    }
  }
  // Of rows that have a description of their own.
  template <typename Rows>
  void list(Name name, const Rows& rows) {
    list(name, rows, [this](const auto& row) { describe(*this, row); });
  }
  // Of rows that a function gives one by one: produce(add), add(row...).
  template <typename... Row, typename Produce, typename Describe>
  void each(Name name, const Produce& produce, const Describe& members) {
    begin(name, '[');
    if (is_schema()) {
      members(sample<Row>()...);
    } else {
      produce([&](const Row&... row) {
        json_->begin_object();
        members(row...);
        json_->end_object();
      });
    }
    end(']');
  }
  // Values alone, one for each row. `rows` may be a function that gives them.
  template <typename Rows, typename Says>
  void values(As as, Name name, const Rows& rows, const Says& says) {
    if constexpr (std::is_invocable_v<const Rows&>) {
      using Said = std::invoke_result_t<Says, decltype(*std::begin(rows()))>;
      if (is_schema()) return values_of(as, name, kIsOptional<std::remove_cvref_t<Said>>, false);
      values(as, name, rows(), says);
    } else {
      using Said = std::invoke_result_t<Says, decltype(*std::begin(rows))>;
      if (is_schema()) return values_of(as, name, kIsOptional<std::remove_cvref_t<Said>>, false);
      begin(name, '[');
      for (const auto& row : rows) json_->value(says(row));
      end(']');
    }
  }
  // The rows themselves; a function may give an optional list, which may be null.
  template <typename Rows>
  void texts(Name name, const Rows& rows) {
    if constexpr (std::is_invocable_v<const Rows&>) {
      if (is_schema())
        return values_of(As::text, name, false, kIsOptional<std::invoke_result_t<const Rows&>>);
      texts(name, rows());
    } else if constexpr (kIsOptional<Rows>) {
      if (rows) return texts(name, *rows);
      write_null(name.name);
    } else {
      values(
          As::text, name, rows, [](const auto& row) -> const auto& { return row; });
    }
  }
  // An object whose members are named by the rows. `rows` may be a function that gives them.
  template <typename Rows, typename NameOf, typename Says>
  void by_name(As as, Name name, const Rows& rows, const NameOf& name_of_row, const Says& says) {
    if (is_schema()) return values_by_name(as, name);
    if constexpr (std::is_invocable_v<const Rows&>) {
      by_name(as, name, rows(), name_of_row, says);
    } else {
      begin(name, '{');
      for (const auto& row : rows) {
        if (json_->refused()) break;
        json_->member(name_of_row(row), says(row));
      }
      end('}');
    }
  }
  // One of several objects, null for none.
  template <typename... Each, typename Describe>
  void one_of(Name name, const std::variant<std::monostate, Each...>& which, const Describe& members) {
    if (is_schema()) {
      begin_one_of(name);
      ((begin("", '{'), members(sample<Each>()), end('}')), ...);
      return end('}');
    }
    if (which.index() == 0) return write_null(name.name);
    begin(name, '{');
    std::visit(
        [&](const auto& one) {
          if constexpr (!std::is_same_v<const std::monostate&, decltype(one)>) members(one);
        },
        which);
    end('}');
  }
  // A column, which stands behind the JSON: a value for each row.
  template <typename Rows, typename Says>
  void column(As as, Name name, const Rows& rows, const Says& says) {
    using Value = std::remove_cvref_t<decltype(says(*std::begin(rows)))>;
    if (is_schema()) return column_of(as, name, kElementOf<Value>);
    if (columns_ == nullptr) return;
    auto* at = reinterpret_cast<Value*>(columns_->room(name.name, kElementOf<Value>, std::size(rows)));
    if (at == nullptr) return;
    for (const auto& row : rows) *at++ = says(row);
  }
  template <typename Rows>
  void column(As as, Name name, const Rows& rows) {
    column(as, name, rows, [](const auto& value) { return value; });
  }
  // One that is painted into the frame by who asks.
  void painted([[maybe_unused]] Name name) {
    if (is_schema()) column_of(As::any, name, Element::rgba);
  }
  // So many columns: says(i, row).
  template <typename Rows, typename Says>
  void columns(As as, Name name, size_t count, const Rows& rows, const Says& says) {
    if (is_schema()) {
      using Value = std::remove_cvref_t<decltype(says(0, *std::begin(rows)))>;
      return column_of(as, name, kElementOf<Value>, true);
    }
    begin(name, '[');
    for (size_t i = 0; i < count; ++i) json_->null();
    end(']');
    const Place inside(*this, name.name);
    for (size_t i = 0; i < count; ++i)
      column(as, std::to_string(i).c_str(), rows, [&](const auto& row) { return says(i, row); });
  }
  // An object of columns, or so many of them.
  template <std::invocable Describe>
  void of_columns(Name name, const Describe& members) {
    begin(name, '{');
    const Place inside(*this, name.name);
    members();
    end('}');
  }
  template <typename Describe>
  void of_columns(Name name, size_t count, const Describe& members) {
    begin(name, '[');
    if (is_schema()) members(0);
    for (size_t i = 0; i < count && !is_schema(); ++i) {
      json_->begin_object();
      const Place outer(*this, name.name);
      const std::string number = std::to_string(i);
      const Place inside(*this, number);
      members(i);
      json_->end_object();
    }
    end(']');
  }
  // What is JSON text already, or is bounded as it is written. An array of rows of their own description, or of texts.
  template <typename Row, typename Write>
  void written(Name name, std::span<const Row> rows, const Write& write_to) {
    if (!is_schema()) return written(As::any, name, write_to);
    if constexpr (std::is_convertible_v<Row, std::string_view>) {
      texts(name, rows);
    } else {
      list(name, rows);
    }
  }
  template <typename Write>
  void written_by_name(Name name, const Write& write_to) {
    if (is_schema()) return values_by_name(As::text, name);
    written(As::any, name, write_to);
  }
  template <typename Write>
  void written(As as, Name name, const Write& write_to, bool may_be_null = false) {
    if (is_schema()) return value(as, name, may_be_null);
    json_->key(name.name);
    write_to(*json_);
  }

  // Members that may be absent: they are there if it says so.
  class When {
   public:
    When(Schema* schema, bool there);
    ~When();
    When(const When&) = delete;
    When& operator=(const When&) = delete;
    explicit operator bool() const { return there_; }

   private:
    [[maybe_unused]] Schema* schema_;  // where no answer of those compiled together is conditional
    bool there_;
  };
  [[nodiscard]] When when(bool there) { return When(is_schema() ? schema_ : nullptr, there || is_schema()); }
  template <std::invocable Decide>
  [[nodiscard]] When when(const Decide& there) {
    return when(is_schema() || there());
  }

  // What a function finds; nothing in a schema.
  template <typename Find>
  [[nodiscard, gnu::always_inline]] auto found(const Find& find) {
    return is_schema() ? std::invoke_result_t<Find>() : find();
  }

  // What a part refers to.
  template <typename T>
  [[nodiscard, gnu::always_inline]] const T& of(const T& part) {
    return is_schema() ? sample<T>() : part;
  }

  // Whether members are named only: nothing may be looked at. In the page's engine, where little is inlined, what is said to a
  // schema must go away with it.
  [[nodiscard, gnu::always_inline]] bool is_schema() const { return kHasSchemas && schema_ != nullptr; }

  // A row of zeros, which only a schema sees.
  template <typename T>
  [[nodiscard]] static const T& sample() {
    // NOLINTNEXTLINE(bugprone-sizeof-expression): T may be a pointer
    alignas(T) static const char nothing[sizeof(T)] = {};
    return reinterpret_cast<const T&>(nothing);
  }

 private:
  template <typename T>
  [[gnu::always_inline]] void put(As as, Name name, const T& says) {
    if constexpr (std::is_invocable_v<const T&>) {
      if (is_schema()) return value(as, name, kIsOptional<std::invoke_result_t<const T&>>);
      write_any(name, says());
    } else {
      if (is_schema()) return value(as, name, kIsOptional<T>);
      write_any(name, says);
    }
  }
  template <typename T>
  [[gnu::always_inline]] void write_any(Name name, const T& says) {
    if constexpr (kIsOptional<T>) {
      if (says) return write_any(name, *says);
      write_null(name.name);
    } else {
      write(name, says);
    }
  }
  template <typename T>
  [[gnu::always_inline]] void write(Name name, const T& says) {
    if constexpr (std::is_same_v<T, bool>) {
      write_flag(name.name, says);
    } else if constexpr (std::is_integral_v<T>) {
      write_whole(name.name, static_cast<int64_t>(says));
    } else if constexpr (std::is_floating_point_v<T>) {
      write_real(name.name, says);
    } else {
      write_text(name.name, says);
    }
  }

  void write_text(const char* name, std::string_view says);
  void write_flag(const char* name, bool says);
  void write_whole(const char* name, int64_t says);
  void write_real(const char* name, double says);
  void write_null(const char* name);
  void write_word(const char* name, std::string_view word);

  template <typename Row, typename Describe>
  void sample_list(Name name, const Describe& members) {
    begin(name, '[');
    members(sample<Row>());
    end(']');
  }
  // Where columns stand that are named now.
  class Place {
   public:
    Place(Members& m, std::string_view name) : columns_(m.columns_), length_(name.size()) {
      if (columns_ != nullptr) columns_->enter(name);
    }
    ~Place() {
      if (columns_ != nullptr) columns_->leave(length_);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    ColumnSink* columns_;
    size_t length_;
  };

  // With a schema: told to it.
  void begin(Name name, char bracket, bool may_be_null = false);
  void end(char bracket);
  void name_it(Name name);
  void name_line(Name name);
  void value(As as, Name name, bool may_be_null);
  void one_of(Name name, Words words, bool may_be_null);
  void values_of(As as, Name name, bool each_may_be_null, bool may_be_null);
  void values_by_name(As as, Name name);
  void column_of(As as, Name name, Element element, bool several = false);
  void begin_one_of(Name name);

  JsonWriter* json_ = nullptr;
  ColumnSink* columns_ = nullptr;
  Schema* schema_ = nullptr;
};

// All that is ever written as JSON, so that a schema of it can be printed.
class Described {
 public:
  explicit Described(void (*describe)(Members&)) : describe_(describe), next_(first_) { first_ = this; }
  template <typename Take>
  static void for_each(const Take& take) {
    for (const Described* one = first_; one != nullptr; one = one->next_) take(one->describe_);
  }

 private:
  void (*describe_)(Members&);
  const Described* next_;
  static inline constinit const Described* first_ = nullptr;
};
template <typename... Parts>
struct DescribedParts {
  static inline const Described one{[](Members& m) { describe(m, Members::sample<Parts>()...); }};
};
template <typename... Parts>
void keep_schema() {
  if constexpr (kHasSchemas) static_cast<void>(&DescribedParts<Parts...>::one);
}

// The object that describe() of the same parts names.
template <typename... Parts>
requires requires(Members& m, const Parts&... parts) { describe(m, parts...); }
void to_json(JsonWriter& json, const Parts&... parts) {
  keep_schema<Parts...>();
  Members m(json);
  json.begin_object();
  describe(m, parts...);
  json.end_object();
}

// The same with its columns.
template <typename... Parts>
void to_columns(JsonWriter& json, ColumnSink& columns, const Parts&... parts) {
  keep_schema<Parts...>();
  Members m(json, columns);
  json.begin_object();
  describe(m, parts...);
  json.end_object();
}

// The same, or null where there is no row. `around` is told before it.
template <typename Row, typename... Around>
void or_null_to_json(JsonWriter& json, const Row& row, const Around&... around) {
  keep_schema<Around..., std::remove_cvref_t<decltype(*row)>>();
  row ? to_json(json, around..., *row) : json.null();
}

// An array of the objects of rows; `around` is told before each.
template <typename Rows, typename... Around>
void list_to_json(JsonWriter& json, const Rows& rows, const Around&... around) {
  json.begin_array();
  keep_schema<Around..., std::remove_cvref_t<decltype(*std::begin(rows))>>();
  for (const auto& row : rows) to_json(json, around..., row);
  json.end_array();
}

}  // namespace gpustrata::answers
