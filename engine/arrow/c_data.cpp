#include "engine/arrow/c_data.h"

#include <string>
#include <vector>

namespace gpustrata::arrow {

namespace {

// What an exported schema points to.
struct SchemaParts {
  std::string name, format;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
  ArrowSchema dictionary{};
};

// What an exported array points to.
struct ArrayParts {
  std::shared_ptr<const Table> table;
  std::vector<const void*> buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
  ArrowArray dictionary{};
};

// Both structs have these members.
template <typename Parts, typename Exported>
void release(Exported* exported) {
  const auto* parts = static_cast<Parts*>(exported->private_data);
  // One that was moved elsewhere is released there.
  for (int64_t i = 0; i < exported->n_children; ++i) {
    if (exported->children[i]->release != nullptr) exported->children[i]->release(exported->children[i]);
  }
  if (exported->dictionary != nullptr && exported->dictionary->release != nullptr)
    exported->dictionary->release(exported->dictionary);
  delete parts;
  exported->release = nullptr;
}

}  // namespace

const Field& text_field() {
  static const Field field{"", "u"};
  return field;
}

void export_schema(const Field& field, Dictionaries dictionaries, ArrowSchema& out) {
  auto parts = std::make_unique<SchemaParts>();
  parts->name = field.name;
  parts->format = field.format;
  parts->children.resize(field.children.size());
  for (ArrowSchema& child : parts->children) parts->pointers.push_back(&child);
  out = {};
  out.format = parts->format.c_str();
  out.name = parts->name.c_str();
  out.flags = field.nullable ? ARROW_FLAG_NULLABLE : 0;
  out.n_children = static_cast<int64_t>(field.children.size());
  out.children = parts->pointers.data();
  if (field.dictionary >= 0 && dictionaries == Dictionaries::as_texts) {
    export_schema(text_field(), dictionaries, parts->dictionary);
    out.dictionary = &parts->dictionary;
  }
  for (size_t i = 0; i < field.children.size(); ++i)
    export_schema(field.children[i], dictionaries, parts->children[i]);
  out.private_data = parts.release();
  out.release = release<SchemaParts, ArrowSchema>;
}

void export_array(const std::shared_ptr<const Table>& table, const Field& field, const Array& array,
                  Dictionaries dictionaries, ArrowArray& out) {
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
  if (field.dictionary >= 0 && dictionaries == Dictionaries::as_texts) {
    export_array(table, text_field(), table->dictionaries[static_cast<size_t>(field.dictionary)],
                 dictionaries, parts->dictionary);
    out.dictionary = &parts->dictionary;
  }
  for (size_t i = 0; i < array.children.size(); ++i)
    export_array(table, field.children[i], array.children[i], dictionaries, parts->children[i]);
  out.private_data = parts.release();
  out.release = release<ArrayParts, ArrowArray>;
}

}  // namespace gpustrata::arrow
