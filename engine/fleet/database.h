// SQLite in memory: what runs the SQL of this room in the command. Nothing is kept on a disk.
//
// Texts from files only ever reach it as bound values. Memory is limited; beyond it a statement fails.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace gpustrata::fleet {

// A prepared statement. Columns and parameters are counted from 0. Values are valid until the next step.
class Statement {
 public:
  Statement() = default;
  Statement(Statement&&) noexcept = default;
  Statement& operator=(Statement&&) noexcept = default;

  void bind(int parameter, int64_t value);
  // The text must live until the statement is reset.
  void bind(int parameter, std::string_view text);
  void bind_null(int parameter);
  // True: there is a row. Error: invalid_format with SQLite's words, limit_exceeded.
  [[nodiscard]] Result<bool> step();
  // All steps; then ready for other values.
  [[nodiscard]] Status run();
  void reset();

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] int64_t integer(int column) const;
  [[nodiscard]] double number(int column) const;  // NaN for null
  [[nodiscard]] std::string_view text(int column) const;
  // Number of the column of that name; the name must be one of the statement's.
  [[nodiscard]] int column(std::string_view name) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  // `most_bytes` of memory. Error: limit_exceeded.
  [[nodiscard]] static Result<Database> open(int64_t most_bytes);

  // Statements without values, separated by semicolons.
  [[nodiscard]] Status execute(const std::string& sql);
  [[nodiscard]] Result<Statement> prepare(std::string_view sql);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace gpustrata::fleet
