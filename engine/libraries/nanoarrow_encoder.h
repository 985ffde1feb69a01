/* What the encoder of nanoarrow's IPC files lacks: dictionaries, and where they lie.
 *
 * Its schemas name dictionaries and its reader takes them, but its writer refuses them (0.9.0). */
#ifndef GPUSTRATA_NANOARROW_ENCODER_H
#define GPUSTRATA_NANOARROW_ENCODER_H

#include <nanoarrow/nanoarrow_ipc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A message with a dictionary, as ArrowIpcEncoderEncodeSimpleRecordBatch() makes one of a batch. `view`: a struct whose
 * only child is the dictionary. */
ArrowErrorCode GpustrataEncodeDictionary(struct ArrowIpcEncoder* encoder, int64_t id,
                                         const struct ArrowArrayView* view, struct ArrowBuffer* body,
                                         struct ArrowError* error);

/* The footer of a file. `schema`: the very one that was encoded before. `footer`: its blocks of both kinds. */
ArrowErrorCode GpustrataEncodeFooter(struct ArrowIpcEncoder* encoder, const struct ArrowSchema* schema,
                                     const struct ArrowIpcFooter* footer, struct ArrowError* error);

#ifdef __cplusplus
}
#endif
#endif
