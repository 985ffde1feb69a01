#include "engine/arrow/ipc_file.h"

#include <nanoarrow_encoder.h>

#include <cerrno>
#include <string_view>
#include <vector>

#include "engine/arrow/c_data.h"

namespace gpustrata::arrow {

namespace {

constexpr std::string_view kMagic{"ARROW1\0\0", 8};  // the last two are padding, which the end has not
constexpr std::string_view kEndOfStream{"\xff\xff\xff\xff\0\0\0\0", 8};

// The dictionaries that the fields name, in the order in which the library numbers them.
void find_dictionaries(const Field& field, std::vector<int32_t>& found) {
  if (field.dictionary >= 0) found.push_back(field.dictionary);
  for (const Field& child : field.children) find_dictionaries(child, found);
}

[[nodiscard]] std::span<const std::byte> bytes_of(const ArrowBuffer& buffer) {
  return {reinterpret_cast<const std::byte*>(buffer.data), static_cast<size_t>(buffer.size_bytes)};
}

}  // namespace

// What nanoarrow's structs hold, and where the file has got to.
struct IpcFile::Encoding {
  Encoding() {
    ArrowArrayViewInitFromType(&view, NANOARROW_TYPE_UNINITIALIZED);
    ArrowIpcFooterInit(&footer);
    ArrowBufferInit(&message);
    ArrowBufferInit(&body);
  }
  ~Encoding() {
    ArrowIpcEncoderReset(&encoder);
    ArrowArrayViewReset(&view);
    ArrowIpcFooterReset(&footer);
    ArrowBufferReset(&message);
    ArrowBufferReset(&body);
    if (schema.release != nullptr) schema.release(&schema);
  }
  Encoding(const Encoding&) = delete;
  Encoding& operator=(const Encoding&) = delete;

  [[nodiscard]] Status failed(int code) const {
    if (code == ENOMEM)
      return fail(ErrorCode::limit_exceeded, -1, "There is not enough memory for a batch of this table.");
    return fail(ErrorCode::internal, -1, "This table does not become Arrow: {}.", error.message);
  }

  ArrowSchema schema{};   // with its dictionaries; its address is what the encoder knows them by
  ArrowArrayView view{};  // of a batch without them
  ArrowIpcEncoder encoder{};
  ArrowIpcFooter footer{};
  ArrowBuffer message{}, body{};
  ArrowError error{};
  int64_t written = 0;
};

namespace {

// The struct of an array that is needed for a moment.
struct Exported {
  Exported(const std::shared_ptr<const Table>& table, const Field& field, const Array& array) {
    export_array(table, field, array, Dictionaries::as_numbers, arrow);
  }
  ~Exported() { arrow.release(&arrow); }
  Exported(const Exported&) = delete;
  Exported& operator=(const Exported&) = delete;

  ArrowArray arrow{};
};

[[nodiscard]] int view_of(const Field& field, ArrowArrayView& view, ArrowError& error) {
  ArrowSchema schema{};
  export_schema(field, Dictionaries::as_numbers, schema);
  const int code = ArrowArrayViewInitFromSchema(&view, &schema, &error);
  schema.release(&schema);
  return code;
}

}  // namespace

IpcFile::IpcFile(io::ByteSink& sink) : sink_(sink) {}
IpcFile::~IpcFile() = default;

Status IpcFile::write(std::span<const std::byte> bytes) {
  encoding_->written += static_cast<int64_t>(bytes.size());
  return bytes.empty() ? Status() : sink_.write(bytes);
}

Status IpcFile::begin(const Table& table) {
  encoding_ = std::make_unique<Encoding>();
  Encoding& to = *encoding_;
  if (const int code = ArrowIpcEncoderInit(&to.encoder); code != 0) return to.failed(code);
  export_schema(table.schema, Dictionaries::as_texts, to.schema);
  if (const int code = view_of(table.schema, to.view, to.error); code != 0) return to.failed(code);
  if (Status status = write(io::bytes_of(kMagic)); !status) return status;
  if (const int code = ArrowIpcEncoderEncodeSchema(&to.encoder, &to.schema, &to.error); code != 0)
    return to.failed(code);
  return write_message(nullptr);
}

// What was encoded, and its body. `places`: of the footer.
Status IpcFile::write_message(ArrowBuffer* places) {
  Encoding& to = *encoding_;
  to.message.size_bytes = 0;
  if (const int code = ArrowIpcEncoderFinalizeBuffer(&to.encoder, 1, &to.message); code != 0)
    return to.failed(code);
  if (places != nullptr) {
    ArrowIpcFileBlock place{};
    place.offset = to.written;
    place.metadata_length = static_cast<int32_t>(to.message.size_bytes);
    place.body_length = to.body.size_bytes;
    if (const int code = ArrowBufferAppend(places, &place, sizeof place); code != 0) return to.failed(code);
  }
  if (Status status = write(bytes_of(to.message)); !status) return status;
  Status status = write(bytes_of(to.body));
  to.body.size_bytes = 0;
  return status;
}

Status IpcFile::take(const std::shared_ptr<const Table>& table, const Array& batch) {
  if (encoding_ == nullptr) {
    if (Status begun = begin(*table); !begun) return begun;
  }
  Encoding& to = *encoding_;
  const Exported exported(table, table->schema, batch);
  if (const int code = ArrowArrayViewSetArray(&to.view, &exported.arrow, &to.error); code != 0)
    return to.failed(code);
  if (const int code = ArrowIpcEncoderEncodeSimpleRecordBatch(&to.encoder, &to.view, &to.body, &to.error);
      code != 0)
    return to.failed(code);
  return write_message(&to.footer.record_batch_blocks);
}

Status IpcFile::write_dictionary(const std::shared_ptr<const Table>& table, int64_t id, const Array& texts) {
  Encoding& to = *encoding_;
  const Field field{"", "+s", false, {text_field()}};
  const Array array{texts.length, 0, {nullptr}, {texts}};
  ArrowArrayView view{};
  int code = view_of(field, view, to.error);
  if (code == 0) {
    const Exported exported(table, field, array);
    code = ArrowArrayViewSetArray(&view, &exported.arrow, &to.error);
    if (code == 0) code = GpustrataEncodeDictionary(&to.encoder, id, &view, &to.body, &to.error);
  }
  ArrowArrayViewReset(&view);
  return code == 0 ? write_message(&to.footer.dictionary_blocks) : to.failed(code);
}

Status IpcFile::finish(const std::shared_ptr<const Table>& table) {
  Encoding& to = *encoding_;
  std::vector<int32_t> dictionaries;
  find_dictionaries(table->schema, dictionaries);
  for (size_t id = 0; id < dictionaries.size(); ++id) {
    const Array& texts = table->dictionaries[static_cast<size_t>(dictionaries[id])];
    if (Status status = write_dictionary(table, static_cast<int64_t>(id), texts); !status) return status;
  }
  if (Status status = write(io::bytes_of(kEndOfStream)); !status) return status;
  if (const int code = GpustrataEncodeFooter(&to.encoder, &to.schema, &to.footer, &to.error); code != 0)
    return to.failed(code);
  to.message.size_bytes = 0;
  if (const int code = ArrowIpcEncoderFinalizeBuffer(&to.encoder, 0, &to.message); code != 0)
    return to.failed(code);
  if (const int code = ArrowBufferAppendInt32(&to.message, static_cast<int32_t>(to.message.size_bytes));
      code != 0)
    return to.failed(code);
  if (Status status = write(bytes_of(to.message)); !status) return status;
  return write(io::bytes_of(kMagic.substr(0, 6)));
}

}  // namespace gpustrata::arrow
