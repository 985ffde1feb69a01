#include "capture/python/native/table.h"

#include <cerrno>
#include <new>
#include <utility>

namespace memstrata::python {

namespace {

// What an exported schema points to.
struct SchemaParts {
  std::string name, format;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
  ArrowSchema dictionary{};
};

void release_schema(ArrowSchema* schema) {
  const auto* parts = static_cast<SchemaParts*>(schema->private_data);
  for (int64_t i = 0; i < schema->n_children; ++i) {
    if (schema->children[i]->release != nullptr) schema->children[i]->release(schema->children[i]);
  }
  if (schema->dictionary != nullptr && schema->dictionary->release != nullptr)
    schema->dictionary->release(schema->dictionary);
  delete parts;
  schema->release = nullptr;
}

void export_schema(const Field& field, ArrowSchema& out) {
  auto parts = std::make_unique<SchemaParts>();
  parts->name = field.name;
  parts->format = field.format;
  parts->children.resize(field.children.size());
  for (ArrowSchema& child : parts->children) parts->pointers.push_back(&child);
  out = {};
  out.format = parts->format.c_str();
  out.name = parts->name.c_str();
  out.flags = field.nullable ? kArrowNullable : 0;
  out.n_children = static_cast<int64_t>(field.children.size());
  out.children = parts->pointers.data();
  if (!field.dictionary.empty()) {
    export_schema(field.dictionary.front(), parts->dictionary);
    out.dictionary = &parts->dictionary;
  }
  for (size_t i = 0; i < field.children.size(); ++i) export_schema(field.children[i], parts->children[i]);
  out.private_data = parts.release();
  out.release = release_schema;
}

struct ArrayParts {
  std::shared_ptr<const Table> table;
  std::vector<const void*> buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
  ArrowArray dictionary{};
};

void release_array(ArrowArray* array) {
  const auto* parts = static_cast<ArrayParts*>(array->private_data);
  // One that was moved elsewhere is released there.
  for (int64_t i = 0; i < array->n_children; ++i) {
    if (array->children[i]->release != nullptr) array->children[i]->release(array->children[i]);
  }
  if (array->dictionary != nullptr && array->dictionary->release != nullptr)
    array->dictionary->release(array->dictionary);
  delete parts;
  array->release = nullptr;
}

void export_array(const std::shared_ptr<const Table>& table, const Array& array, ArrowArray& out) {
  auto parts = std::make_unique<ArrayParts>();
  parts->table = table;
  parts->buffers = array.buffers;
  parts->children.resize(array.children.size());
  for (ArrowArray& child : parts->children) parts->pointers.push_back(&child);
  out = {};
  out.length = array.length;
  out.null_count = array.nulls;
  out.n_buffers = static_cast<int64_t>(array.buffers.size());
  out.buffers = parts->buffers.data();
  out.n_children = static_cast<int64_t>(array.children.size());
  out.children = parts->pointers.data();
  if (!array.dictionary.empty()) {
    export_array(table, array.dictionary.front(), parts->dictionary);
    out.dictionary = &parts->dictionary;
  }
  for (size_t i = 0; i < array.children.size(); ++i)
    export_array(table, array.children[i], parts->children[i]);
  out.private_data = parts.release();
  out.release = release_array;
}

struct Stream {
  std::shared_ptr<const Table> table;
  size_t next = 0;
};

[[nodiscard]] Stream& stream_of(ArrowArrayStream* stream) {
  return *static_cast<Stream*>(stream->private_data);
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  try {
    export_schema(stream_of(stream).table->schema, *out);
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
    export_array(at.table, at.table->batches[at.next], *out);
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

int64_t Table::rows() const {
  int64_t rows = 0;
  for (const Array& batch : batches) rows += batch.length;
  return rows;
}

void export_stream(std::shared_ptr<const Table> table, ArrowArrayStream& out) {
  auto stream = std::make_unique<Stream>();
  stream->table = std::move(table);
  out = {get_schema, get_next, get_last_error, release_stream, stream.release()};
}

}  // namespace memstrata::python
