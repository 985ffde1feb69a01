/* Compiled in the place of nanoarrow's own encoder, which it includes: its functions that walk fields and buffers are
 * static. */
#include "nanoarrow/ipc/encoder.c"

#include "nanoarrow_encoder.h"

ArrowErrorCode GpustrataEncodeDictionary(struct ArrowIpcEncoder* encoder, int64_t id,
                                         const struct ArrowArrayView* view, struct ArrowBuffer* body,
                                         struct ArrowError* error) {
  struct ArrowIpcEncoderPrivate* private = (struct ArrowIpcEncoderPrivate*)encoder->private_data;
  flatcc_builder_t* builder = &private->builder;
  struct ArrowIpcBufferEncoder buffer_encoder = {
      .encode_buffer = &ArrowIpcEncoderBuildContiguousBodyBufferCallback,
      .encode_buffer_state = body,
      .body_length = 0,
  };

  FLATCC_RETURN_UNLESS_0(Message_start_as_root(builder), error);
  FLATCC_RETURN_UNLESS_0(Message_version_add(builder, ns(MetadataVersion_V5)), error);
  FLATCC_RETURN_UNLESS_0(Message_header_DictionaryBatch_start(builder), error);
  FLATCC_RETURN_UNLESS_0(DictionaryBatch_id_add(builder, id), error);
  FLATCC_RETURN_UNLESS_0(DictionaryBatch_data_start(builder), error);
  FLATCC_RETURN_UNLESS_0(RecordBatch_length_add(builder, view->length), error);
  NANOARROW_RETURN_NOT_OK_WITH_ERROR(ArrowBufferResize(&private->buffers, 0, 0), error);
  NANOARROW_RETURN_NOT_OK_WITH_ERROR(ArrowBufferResize(&private->nodes, 0, 0), error);
  NANOARROW_RETURN_NOT_OK(ArrowIpcEncoderEncodeRecordBatchImpl(encoder, &buffer_encoder, view,
                                                               &private->buffers, &private->nodes, error));
  FLATCC_RETURN_UNLESS_0(RecordBatch_nodes_create(builder, (struct ns(FieldNode)*)private->nodes.data,
                                                  private->nodes.size_bytes / sizeof(struct ns(FieldNode))),
                         error);
  FLATCC_RETURN_UNLESS_0(RecordBatch_buffers_create(builder, (struct ns(Buffer)*)private->buffers.data,
                                                    private->buffers.size_bytes / sizeof(struct ns(Buffer))),
                         error);
  FLATCC_RETURN_UNLESS_0(DictionaryBatch_data_end(builder), error);
  FLATCC_RETURN_UNLESS_0(Message_header_DictionaryBatch_end(builder), error);
  FLATCC_RETURN_UNLESS_0(Message_bodyLength_add(builder, buffer_encoder.body_length), error);
  FLATCC_RETURN_IF_NULL(ns(Message_end_as_root(builder)), error);
  return NANOARROW_OK;
}

/* Member by member: what lies between them is 0 in the file. */
static void copy_blocks(const struct ArrowBuffer* from, struct ns(Block) * to) {
  const struct ArrowIpcFileBlock* blocks = (const struct ArrowIpcFileBlock*)from->data;
  const int64_t count = from->size_bytes / sizeof(struct ArrowIpcFileBlock);
  memset(to, 0, count * sizeof(*to));
  for (int64_t i = 0; i < count; i++) {
    to[i].offset = blocks[i].offset;
    to[i].metaDataLength = blocks[i].metadata_length;
    to[i].bodyLength = blocks[i].body_length;
  }
}

ArrowErrorCode GpustrataEncodeFooter(struct ArrowIpcEncoder* encoder, const struct ArrowSchema* schema,
                                     const struct ArrowIpcFooter* footer, struct ArrowError* error) {
  struct ArrowIpcEncoderPrivate* private = (struct ArrowIpcEncoderPrivate*)encoder->private_data;
  flatcc_builder_t* builder = &private->builder;
  const int64_t dictionaries = footer->dictionary_blocks.size_bytes / sizeof(struct ArrowIpcFileBlock);
  const int64_t batches = footer->record_batch_blocks.size_bytes / sizeof(struct ArrowIpcFileBlock);

  FLATCC_RETURN_UNLESS_0(Footer_start_as_root(builder), error);
  FLATCC_RETURN_UNLESS_0(Footer_version_add(builder, ns(MetadataVersion_V5)), error);
  FLATCC_RETURN_UNLESS_0(Footer_schema_start(builder), error);
  NANOARROW_RETURN_NOT_OK(ArrowIpcEncodeSchema(builder, schema, &private->dictionary_encodings, error));
  FLATCC_RETURN_UNLESS_0(Footer_schema_end(builder), error);

  FLATCC_RETURN_UNLESS_0(Footer_dictionaries_start(builder), error);
  struct ns(Block)* places = ns(Footer_dictionaries_extend(builder, dictionaries));
  FLATCC_RETURN_IF_NULL(places, error);
  copy_blocks(&footer->dictionary_blocks, places);
  FLATCC_RETURN_UNLESS_0(Footer_dictionaries_end(builder), error);

  FLATCC_RETURN_UNLESS_0(Footer_recordBatches_start(builder), error);
  places = ns(Footer_recordBatches_extend(builder, batches));
  FLATCC_RETURN_IF_NULL(places, error);
  copy_blocks(&footer->record_batch_blocks, places);
  FLATCC_RETURN_UNLESS_0(Footer_recordBatches_end(builder), error);

  FLATCC_RETURN_IF_NULL(ns(Footer_end_as_root(builder)), error);
  return NANOARROW_OK;
}
