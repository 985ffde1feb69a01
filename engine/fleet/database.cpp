#include "engine/fleet/database.h"

#include <sqlite3.h>

#include <limits>

namespace gpustrata::fleet {

namespace {

[[nodiscard]] tl::unexpected<Error> failed(sqlite3* database, int code) {
  if (code == SQLITE_NOMEM || code == SQLITE_FULL || code == SQLITE_TOOBIG)
    return fail(ErrorCode::limit_exceeded, -1, "The facts of so many ranks do not fit into memory.");
  return fail(ErrorCode::invalid_format, -1, "{}", sqlite3_errmsg(database));
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

void Statement::bind(int parameter, int64_t value) {
  sqlite3_bind_int64(statement_.get(), parameter + 1, value);
}
void Statement::bind(int parameter, std::string_view text) {
  // Without an address it would be null.
  sqlite3_bind_text64(statement_.get(), parameter + 1, text.empty() ? "" : text.data(), text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}
void Statement::bind_null(int parameter) { sqlite3_bind_null(statement_.get(), parameter + 1); }

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  auto error = failed(sqlite3_db_handle(statement_.get()), code);
  reset();
  return error;
}

Status Statement::run() {
  for (;;) {
    const auto row = step();
    if (!row) return tl::unexpected(row.error());
    if (*row) continue;
    reset();
    return {};
  }
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}
int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::number(int column) const {
  return is_null(column) ? std::numeric_limits<double>::quiet_NaN()
                         : sqlite3_column_double(statement_.get(), column);
}
std::string_view Statement::text(int column) const {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}
int Statement::column(std::string_view name) const {
  const int count = sqlite3_column_count(statement_.get());
  for (int i = 0; i < count; ++i) {
    if (name == sqlite3_column_name(statement_.get(), i)) return i;
  }
  return count;  // reads as null
}

Result<Database> Database::open(int64_t most_bytes) {
  sqlite3_hard_heap_limit64(most_bytes);
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(":memory:", &opened,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY, nullptr);
  Database database;
  database.database_.reset(opened);
  if (code != SQLITE_OK) return failed(opened, code);
  // What a hostile text could reach for is off: nothing is loaded, attached or defined by data.
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(opened, SQLITE_LIMIT_ATTACHED, 0);
  if (Status set = database.execute("PRAGMA temp_store=MEMORY; PRAGMA journal_mode=OFF"); !set)
    return tl::unexpected(set.error());
  return database;
}

Status Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failed(database_.get(), code);
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* prepared = nullptr;
  const int code =
      sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &prepared, nullptr);
  if (code != SQLITE_OK) return failed(database_.get(), code);
  Statement statement;
  statement.statement_.reset(prepared);
  return statement;
}

}  // namespace gpustrata::fleet
