#include "capture/python/native/exported_stream.h"

#include <cerrno>
#include <new>
#include <utility>

namespace gpustrata::python {

namespace {

using arrow::Dictionaries;

struct Stream {
  std::shared_ptr<const arrow::Table> table;
  size_t next = 0;
};

[[nodiscard]] Stream& stream_of(ArrowArrayStream* stream) {
  return *static_cast<Stream*>(stream->private_data);
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  try {
    arrow::export_schema(stream_of(stream).table->schema, Dictionaries::as_texts, *out);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
  Stream& at = stream_of(stream);
  *out = {};
  if (at.next == at.table->batches.size()) return 0;
  try {
    arrow::export_array(at.table, at.table->schema, at.table->batches[at.next], Dictionaries::as_texts, *out);
    ++at.next;
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

const char* get_last_error(ArrowArrayStream*) { return "out of memory"; }

void release_stream(ArrowArrayStream* stream) {
  delete &stream_of(stream);
  stream->release = nullptr;
}

}  // namespace

void export_stream(std::shared_ptr<const arrow::Table> table, ArrowArrayStream& out) {
  auto stream = std::make_unique<Stream>();
  stream->table = std::move(table);
  out = {get_schema, get_next, get_last_error, release_stream, stream.release()};
}

}  // namespace gpustrata::python
