/* libgpustrata_file.so: a file that gpustrata reads, its tables and answers, for Python's ctypes.
 *
 * Nothing throws. Any thread may call anything; calls about one file that is being read come from one thread at a
 * time. Tables and streams live on after their file was closed. Texts of answers are UTF-8 and to be freed.
 */
/* C, not C++. NOLINTBEGIN(modernize-*) */
#ifndef GPUSTRATA_FILE_API_H
#define GPUSTRATA_FILE_API_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPUSTRATA_FILE_API __attribute__((visibility("default")))

typedef struct gpustrata_file gpustrata_file;
typedef struct gpustrata_table gpustrata_table;
struct ArrowArrayStream;

/* What a call says. Of a failure the text is {"file", "error": {"code", "message", "offset", ...}}. */
typedef struct gpustrata_answer {
  int32_t code; /* 0 = success; else an exit code of the gpustrata command (engine/cli/README.md) */
  int64_t size;
  char* text; /* ended by a 0; null if there is none */
} gpustrata_answer;

GPUSTRATA_FILE_API void gpustrata_answer_free(gpustrata_answer* answer);

/* Version of this interface: the Python package was made for one. */
GPUSTRATA_FILE_API int32_t gpustrata_file_interface(void);
GPUSTRATA_FILE_API const char* gpustrata_file_version(void);

/* -- Reading: open, read until it says that nothing is left. `budget_bytes`: what the file may take; 0 = three
 * quarters of the machine's memory. Null: no memory, `answer` says so. */
GPUSTRATA_FILE_API gpustrata_file* gpustrata_file_open(const char* path, int64_t budget_bytes,
                                                       gpustrata_answer* answer);
/* Reads at least `bytes` more, if there are so many. 1 = go on; 0 = all was read and the file can be asked, or
 * reading failed: see `answer`. */
GPUSTRATA_FILE_API int32_t gpustrata_file_read(gpustrata_file* file, int64_t bytes, gpustrata_answer* answer);
/* Bytes read so far, bytes of the file (-1 = unknown), bytes of memory in use. */
GPUSTRATA_FILE_API void gpustrata_file_progress(const gpustrata_file* file, int64_t numbers[3]);
GPUSTRATA_FILE_API void gpustrata_file_close(gpustrata_file* file);

/* -- The same for bytes that come from elsewhere, an object store or memory: begin, write them in order, in pieces of any
 * size, until no more are needed, end. `name`: what answers call it and what `ask` knows it by; nothing of that name is
 * opened. `total_bytes`: of the whole file, -1 = unknown. A file that could not be read can be asked, too: commands
 * then say why. */
GPUSTRATA_FILE_API gpustrata_file* gpustrata_file_begin(const char* name, int64_t total_bytes,
                                                        int64_t budget_bytes, gpustrata_answer* answer);
/* 1 = go on; 0 = the rest does not matter, or reading failed: see `answer`. */
GPUSTRATA_FILE_API int32_t gpustrata_file_write(gpustrata_file* file, const void* bytes, int64_t size,
                                                gpustrata_answer* answer);
/* `total_bytes`: as above, if it is known by now; -1 = those that were written. */
GPUSTRATA_FILE_API void gpustrata_file_end(gpustrata_file* file, int64_t total_bytes,
                                           gpustrata_answer* answer);

/* -- Answers. What can be opened in the file, see answers/report/contents.h. */
GPUSTRATA_FILE_API void gpustrata_file_contents(const gpustrata_file* file, gpustrata_answer* answer);
/* What the command prints for these arguments ("top", PATH, "--json"): files that were opened under the very
 * path are not read again. */
GPUSTRATA_FILE_API void gpustrata_file_ask(const gpustrata_file* const* files, int32_t file_count,
                                           const char* const* arguments, int32_t argument_count,
                                           gpustrata_answer* answer);

/* The command itself, of this process: what `main` gets and returns (../command/main.cpp). */
GPUSTRATA_FILE_API int gpustrata_command(int argc, char** argv);

/* -- Tables. `kind`: TableKind (engine/arrow/snapshot_tables.h). `device`: an ordinal, -1 = host, INT32_MIN = all ordinals. */
GPUSTRATA_FILE_API gpustrata_table* gpustrata_file_table(const gpustrata_file* file, int32_t kind,
                                                         int32_t snapshot, int32_t device,
                                                         gpustrata_answer* answer);
/* The ops of a profiler's trace (engine/arrow/op_table.h). `snapshot`: -1 = all of the file. `device`: "" = all. `processes`: 0 = an op
 * holds the memory records of its thread, 1 = of its process. */
GPUSTRATA_FILE_API gpustrata_table* gpustrata_file_ops(const gpustrata_file* file, int32_t snapshot,
                                                       const char* device, int32_t processes,
                                                       gpustrata_answer* answer);
GPUSTRATA_FILE_API int64_t gpustrata_table_rows(const gpustrata_table* table);
/* A stream of its batches, to be given back by gpustrata_stream_free(), or by the destructor of a capsule named
 * "arrow_array_stream" that holds it. Null: no memory. */
GPUSTRATA_FILE_API struct ArrowArrayStream* gpustrata_table_stream(const gpustrata_table* table);
GPUSTRATA_FILE_API void gpustrata_stream_free(struct ArrowArrayStream* stream);
/* PyCapsule_GetPointer, once before the first capsule: the library is not linked with Python. */
GPUSTRATA_FILE_API void gpustrata_stream_set_capsules(void* (*get_pointer)(void* capsule, const char* name));
/* "arrow_array_stream", for capsules: as long there as any of them, the interpreter's end included. */
GPUSTRATA_FILE_API const char* gpustrata_stream_capsule_name(void);
GPUSTRATA_FILE_API void gpustrata_stream_free_capsule(void* capsule);
GPUSTRATA_FILE_API void gpustrata_table_close(gpustrata_table* table);

#ifdef __cplusplus
}
#endif
#endif
/* NOLINTEND(modernize-*) */
