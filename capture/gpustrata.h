/* gpustrata: a caching allocator and recorder for CUDA memory.
 *
 * The allocator decides as PyTorch's native one does (rounding, pools, splits, expandable segments,
 * out-of-memory retries, statistics), and what it did can be written as a snapshot that gpustrata's viewer,
 * PyTorch's own viewer and Python's pickle open. Settings come from PYTORCH_CUDA_ALLOC_CONF, as in PyTorch.
 *
 * The CUDA driver is loaded at run time. Every function is safe from any thread and may be called at any
 * time, also while the process ends. None throws, but gpustrata_alloc_or_throw(). In a child that was forked
 * after first use all fail.
 *
 * Functions return GPUSTRATA_OK or say what went wrong; gpustrata_last_error() has it in words. Sizes are
 * bytes. `device` counts as cudaSetDevice does. `stream` is a cudaStream_t, NULL the default stream.
 */
/* C, not C++. NOLINTBEGIN(modernize-*) */
#ifndef GPUSTRATA_H
#define GPUSTRATA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GPUSTRATA_API __attribute__((visibility("default")))
#else
#define GPUSTRATA_API
#endif

typedef enum gpustrata_status {
  GPUSTRATA_OK = 0,
  GPUSTRATA_OUT_OF_MEMORY = 1, /* the device has no memory for the request */
  GPUSTRATA_WRONG_USAGE = 2,   /* an unknown pointer, device, option, path; a call in a forked child */
  GPUSTRATA_DEVICE_ERROR = 3,  /* no driver, no device, or the driver refused */
  GPUSTRATA_NO_MEMORY = 4,     /* this process has no memory for tables */
  GPUSTRATA_IO_ERROR = 5       /* a file could not be written; what was recorded is kept */
} gpustrata_status;

/* Of the calling thread; "" if none. Valid until its next failing call. */
GPUSTRATA_API const char* gpustrata_last_error(void);
/* "0.1.0" */
GPUSTRATA_API const char* gpustrata_version(void);

/* ---- Devices ------------------------------------------------------------------------------------------ */

/* 0 without a driver; then gpustrata_describe_devices() says why. */
GPUSTRATA_API int gpustrata_device_count(void);
/* "CUDA driver 13.0, 2 devices". Texts are written to `text`, at most `capacity` bytes, always ended by a 0;
 * the length of the whole text is returned. `text` may be NULL if `capacity` is 0. */
GPUSTRATA_API size_t gpustrata_describe_devices(char* text, size_t capacity);
/* Before anything else: one device of `bytes`, whose addresses have no memory behind them. For trying things
 * out without a GPU. */
GPUSTRATA_API gpustrata_status gpustrata_use_simulated_device(int64_t bytes);
GPUSTRATA_API gpustrata_status gpustrata_memory_info(int device, int64_t* free_bytes, int64_t* total_bytes);

/* ---- Memory ------------------------------------------------------------------------------------------- */

/* The two functions of torch.cuda.memory.CUDAPluggableAllocator. NULL for 0 bytes and when there is no
 * memory. free finds the allocation by `pointer`; `size`, `device` and `stream` are hints and may be 0, -1,
 * NULL. */
GPUSTRATA_API void* gpustrata_alloc(size_t size, int device, void* stream);
GPUSTRATA_API void gpustrata_free(void* pointer, size_t size, int device, void* stream);
/* gpustrata_alloc for C++ callers that do not look at a null result, as PyTorch: throws std::runtime_error
 * with the text, for out of memory "CUDA out of memory. Tried to allocate ...". With
 * gpustrata_hook_begin_allocate_to_pool() the only functions that throw. */
GPUSTRATA_API void* gpustrata_alloc_or_throw(size_t size, int device, void* stream);
/* The pair for a torch.cuda.MemPool: PyTorch calls it under a lock of its own, so it never waits for Python's; stacks
 * have no Python frames then. */
GPUSTRATA_API void* gpustrata_mempool_alloc(size_t size, int device, void* stream);
GPUSTRATA_API void gpustrata_mempool_free(void* pointer, size_t size, int device, void* stream);
/* gpustrata_malloc() is gpustrata_alloc() with the reason. */
GPUSTRATA_API gpustrata_status gpustrata_malloc(void** pointer, size_t size, int device, void* stream);
GPUSTRATA_API gpustrata_status gpustrata_release(void* pointer);
/* `stream` uses the memory too: after it is freed it is not used again before that stream has come this far.
 */
GPUSTRATA_API gpustrata_status gpustrata_use_on_stream(void* pointer, void* stream);
/* Gives cached memory back to the device. */
GPUSTRATA_API gpustrata_status gpustrata_empty_cache(void);
/* The device allocation around a pointer (for sharing it with other processes). */
GPUSTRATA_API gpustrata_status gpustrata_base_allocation(void* pointer, void** base, size_t* size);
/* Device `peer` may use expandable segments of `device`; cudaDeviceEnablePeerAccess does not cover those. */
GPUSTRATA_API gpustrata_status gpustrata_enable_peer_access(int device, int peer);

/* ---- Settings ----------------------------------------------------------------------------------------- */

/* "expandable_segments:True,max_split_size_mb:128"; as PYTORCH_CUDA_ALLOC_CONF, for requests from now on. */
GPUSTRATA_API gpustrata_status gpustrata_set_allocator_settings(const char* settings);
/* Which of two free blocks of one size serves a request, before any device is used: "address" (as PyTorch to 2.11, and if
   nothing is said), "block_number" (2.12), "segment_age" (2.13 and newer). */
GPUSTRATA_API gpustrata_status gpustrata_set_free_order(const char* order);
/* 0 to 1 of the device's memory; 1 = no limit. */
GPUSTRATA_API gpustrata_status gpustrata_set_memory_fraction(double fraction, int device);
/* Below 0 on failure. */
GPUSTRATA_API double gpustrata_get_memory_fraction(int device);

/* ---- Private pools ------------------------------------------------------------------------------------ */

/* Any name but (0, 0). */
typedef struct gpustrata_pool {
  uint64_t graph_id;
  uint64_t user_id;
} gpustrata_pool;
/* Requests of the calling thread come from this pool until _end. Each _begin needs an _end and a _release;
 * memory of a released pool goes back to the device when it is free and the cache is emptied. */
GPUSTRATA_API gpustrata_status gpustrata_pool_begin(int device, gpustrata_pool pool);
GPUSTRATA_API gpustrata_status gpustrata_pool_end(int device, gpustrata_pool pool);
GPUSTRATA_API gpustrata_status gpustrata_pool_release(int device, gpustrata_pool pool);

/* ---- For a CUDAAllocator of PyTorch's own (python/gpustrata/companion.cpp) ------------------------------ */

/* One user of the pool more; it is made if it is not there. gpustrata_pool_release() takes one back. */
GPUSTRATA_API gpustrata_status gpustrata_pool_retain(int device, gpustrata_pool pool);
/* Users of the pool; 0 = there is none, or it was released. Below 0 on failure. */
GPUSTRATA_API int gpustrata_pool_users(int device, gpustrata_pool pool);
/* Whether the pool serves other requests before "out of memory"; it hands out whole blocks. */
GPUSTRATA_API gpustrata_status gpustrata_pool_use_on_oom(int device, gpustrata_pool pool, int use);
GPUSTRATA_API gpustrata_status gpustrata_pool_no_split(int device, gpustrata_pool pool);
/* Cached memory of a pool without users goes back to the device. */
GPUSTRATA_API gpustrata_status gpustrata_pool_empty(int device, gpustrata_pool pool);
/* A graph is captured from here on. Whoever tells of captures gets frees that are put off by them alone, not by every
 * routing to a pool: PyTorch since 2026. `is_captured`, which may be null, says of the calling thread whether the stream that
 * it uses is captured (not 0), and is asked while a capture is under way; it must not call this library. */
GPUSTRATA_API gpustrata_status gpustrata_capture_begin(int device);
GPUSTRATA_API gpustrata_status gpustrata_capture_end(int device);
GPUSTRATA_API gpustrata_status gpustrata_put_off_by_captures_only(int device, int (*is_captured)(int device));
/* The start of every live allocation of the pool: at most `capacity` are written, `*count` is how many there are. */
GPUSTRATA_API gpustrata_status gpustrata_pool_allocations(int device, gpustrata_pool pool, void** pointers,
                                                          size_t capacity, size_t* count);
/* A private pool's blocks now, and back to then: what lives in it meanwhile is freed, what lived then lives again. To be
 * given back with gpustrata_free_checkpoint(). */
typedef struct gpustrata_checkpoint gpustrata_checkpoint;
GPUSTRATA_API gpustrata_status gpustrata_pool_checkpoint(int device, gpustrata_pool pool,
                                                         gpustrata_checkpoint** checkpoint);
GPUSTRATA_API gpustrata_status gpustrata_pool_restore(int device, const gpustrata_checkpoint* checkpoint);
GPUSTRATA_API void gpustrata_free_checkpoint(gpustrata_checkpoint* checkpoint);
/* The pool of a checkpoint. */
GPUSTRATA_API gpustrata_pool gpustrata_checkpoint_pool(const gpustrata_checkpoint* checkpoint);
/* The largest cached block of the device. */
GPUSTRATA_API gpustrata_status gpustrata_largest_cached_block(int device, size_t* bytes);
/* What the device's allocations and segments take now. */
GPUSTRATA_API gpustrata_status gpustrata_memory_usage(int device, int64_t* allocated, int64_t* reserved);
/* The size of the block that starts at the pointer; 0 = no allocation starts there. */
GPUSTRATA_API size_t gpustrata_block_size(void* pointer);
/* 1 while memory history is recorded. */
GPUSTRATA_API int gpustrata_is_recording(void);

/* ---- History ------------------------------------------------------------------------------------------ */

/* As torch.cuda.memory._record_memory_history(). Fill with gpustrata_default_history() first. */
typedef struct gpustrata_history {
  const char* enabled;      /* "all"; "state": only live blocks; NULL: stop and forget */
  const char* context;      /* who keeps a stack: "all", "alloc", "state", NULL */
  const char* stacks;       /* "all": C++ and Python frames; "python" */
  int64_t max_entries;      /* newest events kept per device, at least 1; INT64_MAX: all */
  int clear_history;        /* forget what was recorded before */
  const char* skip_actions; /* names separated by commas, "" or NULL for none */
} gpustrata_history;
GPUSTRATA_API void gpustrata_default_history(gpustrata_history* history);
/* NULL: the defaults. */
GPUSTRATA_API gpustrata_status gpustrata_record_memory_history(const gpustrata_history* history);
/* Put on events of the calling thread from now on; "" = none. */
GPUSTRATA_API gpustrata_status gpustrata_set_user_metadata(const char* text);
/* Named parts of the program, shown above the timeline. They nest; both calls come from one thread. */
GPUSTRATA_API gpustrata_status gpustrata_region_begin(const char* name, int device);
GPUSTRATA_API gpustrata_status gpustrata_region_end(int device);
/* A text in the history of one live allocation. */
GPUSTRATA_API gpustrata_status gpustrata_annotate(void* pointer, const char* text);
/* Writes a snapshot: beside `path` first, then renamed. Symbolic links are followed; a pipe or a device is
 * written in place. */
GPUSTRATA_API gpustrata_status gpustrata_dump_snapshot(const char* path);
/* The bytes of that file, to be given back with gpustrata_free_bytes(). */
GPUSTRATA_API gpustrata_status gpustrata_snapshot(char** bytes, size_t* size);
GPUSTRATA_API void gpustrata_free_bytes(char* bytes);
/* Dump there at every out of memory: PATH, then PATH with .1, .2, ... before the suffix, 16 at most. "" =
 * off. */
GPUSTRATA_API gpustrata_status gpustrata_set_oom_dump(const char* path);

/* From now on what the history records is in this file as well, as it happens: killed or not, the program leaves every event
 * there (engine/io/journal/README.md). At most `max_size` bytes, 1 MiB or more; 0 = 256 MiB. The oldest events go. Another journal
 * takes the place of this one; "" or NULL ends it. */
GPUSTRATA_API gpustrata_status gpustrata_journal(const char* path, int64_t max_size);

/* What gathers C++ stacks: "libunwind", or the compiler's "libgcc", 20 times slower, where libunwind.so.8 is
 * not there or GPUSTRATA_UNWINDER=libgcc is set. */
GPUSTRATA_API const char* gpustrata_cpp_unwinder(void);
/* Before a Python interpreter ends: no Python stacks from now on. gpustrata_torch.py calls it by itself. */
GPUSTRATA_API void gpustrata_stop_python_stacks(void);

/* ---- Observing an allocator that is not this one (python/gpustrata/observer.cpp) ------------------------ */

/* One entry of the history of PyTorch's allocator, as it happens. */
typedef struct gpustrata_observed_event {
  /* As in PyTorch's TraceEntry: 0 alloc, 1 free_requested, 2 free_completed, 3 segment_alloc, 4 segment_free,
     5 segment_map, 6 segment_unmap, 7 snapshot, 8 oom, 9 annotate. */
  int32_t action;
  int32_t device; /* whose lock is held */
  uint64_t address;
  int64_t size;
  int64_t stream;
  gpustrata_pool pool;
  uint64_t time;               /* of the clock of gpustrata_observable */
  const char* compile_context; /* NULL: "N/A" */
  const char* user_metadata;   /* NULL: this PyTorch has none */
} gpustrata_observed_event;
typedef struct gpustrata_observed_block {
  uint64_t address;
  int64_t size;
  int64_t requested_size;
  int32_t is_allocated; /* else it is free, or waits for streams */
  int32_t is_active;    /* allocated, or waits for streams */
} gpustrata_observed_block;
typedef struct gpustrata_observed_segment {
  int32_t device;
  int32_t is_large;
  int32_t is_expandable;
  int32_t block_count;
  uint64_t address;
  int64_t total_size;
  int64_t allocated_size;
  int64_t active_size;
  int64_t requested_size;
  int64_t stream;
  gpustrata_pool pool;
  const gpustrata_observed_block* blocks; /* ascending, without gaps */
} gpustrata_observed_segment;
/* What hears of a state; `to` is what it was given with. */
typedef struct gpustrata_observed_state {
  void* to;
  void (*segment)(void* to, const gpustrata_observed_segment* segment);
  void (*settings)(void* to, const char* text,
                   const char* json); /* PYTORCH_CUDA_ALLOC_CONF, allocator_settings */
} gpustrata_observed_state;
/* The allocator that is observed. Its functions throw nothing. */
typedef struct gpustrata_observable {
  int32_t device_count;
  int32_t events_have_pools;
  uint64_t (*now)(void); /* a clock that goes evenly; its unit is found out */
  /* Tells `state` of all devices. Meanwhile, under the lock of each device in turn, gpustrata_observed() hears of a
   * `snapshot`. NULL, or in words why it cannot. */
  const char* (*snapshot)(const gpustrata_observed_state* state);
} gpustrata_observable;
typedef enum gpustrata_observed_stacks {
  GPUSTRATA_STACKS_NONE = 0,
  GPUSTRATA_STACKS_PYTHON = 1,
  GPUSTRATA_STACKS_NATIVE = 2,
  GPUSTRATA_STACKS_ALL = 3
} gpustrata_observed_stacks;

/* Under the lock of the device. Waits for no other lock than this library's own, which nobody holds who waits for an
 * allocator or for Python's lock. */
GPUSTRATA_API void gpustrata_observed(const gpustrata_observed_event* event);
/* A named part of the program begins or ends on the calling thread. */
GPUSTRATA_API void gpustrata_observed_region(const char* name, int begins, int device, uint64_t time);

/* Before Python stacks are observed, twice, from different depths: where this interpreter keeps its frames is learnt, then
 * compared. The caller is Python code, at least two functions deep, one of which C called. */
GPUSTRATA_API gpustrata_status gpustrata_learn_python(void);
/* From now on what the allocator does is kept: of each device the newest `max_entries`. The entry of the snapshot that
 * begins it must come back field by field. */
GPUSTRATA_API gpustrata_status gpustrata_observe(const gpustrata_observable* allocator,
                                                 gpustrata_observed_stacks stacks, int64_t max_entries);
/* As gpustrata_observe(), but what the allocator does goes to a file as it happens: gpustrata_journal(). Nothing is kept for
 * gpustrata_observation_take(). */
GPUSTRATA_API gpustrata_status gpustrata_observe_to_journal(const gpustrata_observable* allocator,
                                                            gpustrata_observed_stacks stacks,
                                                            const char* path, int64_t max_size);
/* Of that journal: events of a device so far; below 0: there is no such device, or no journal. */
GPUSTRATA_API int64_t gpustrata_observed_journal_events(int device);
/* Whether its oldest events are gone. */
GPUSTRATA_API int gpustrata_observed_journal_is_cut(void);
/* Nothing is kept any more; what was kept is forgotten, and a journal is closed. */
GPUSTRATA_API gpustrata_status gpustrata_observe_end(void);
/* What was kept and the state that it led to, of one moment; to be given back with gpustrata_observation_free(). */
typedef struct gpustrata_observation gpustrata_observation;
GPUSTRATA_API gpustrata_status gpustrata_observation_take(gpustrata_observation** observation);
/* Events of a device; below 0: there is no such device. */
GPUSTRATA_API int64_t gpustrata_observation_events(const gpustrata_observation* observation, int device);
/* Segments of a device. */
GPUSTRATA_API int64_t gpustrata_observation_segments(const gpustrata_observation* observation, int device);
/* Older ones that are lost, of all devices. */
GPUSTRATA_API int64_t gpustrata_observation_lost(const gpustrata_observation* observation);
/* As gpustrata_dump_snapshot(). Once. */
GPUSTRATA_API gpustrata_status gpustrata_observation_write(gpustrata_observation* observation,
                                                           const char* path);
GPUSTRATA_API void gpustrata_observation_free(gpustrata_observation* observation);

/* ---- Statistics --------------------------------------------------------------------------------------- */

/* torch.cuda.memory_stats() as a JSON object; see gpustrata_describe_devices() for how texts are returned. 0
 * on failure. */
GPUSTRATA_API size_t gpustrata_memory_stats(int device, char* text, size_t capacity);
/* torch.cuda.memory_summary(). */
GPUSTRATA_API size_t gpustrata_memory_summary(int device, int abbreviated, char* text, size_t capacity);
GPUSTRATA_API gpustrata_status gpustrata_reset_peak_memory_stats(int device);
GPUSTRATA_API gpustrata_status gpustrata_reset_accumulated_memory_stats(int device);

/* ---- Optional hooks of CUDAPluggableAllocator -----------------------------------------------------------
 */

GPUSTRATA_API void gpustrata_hook_init(int device_count);                       /* set_init_fn */
GPUSTRATA_API void gpustrata_hook_reset(void);                                  /* set_reset_fn */
GPUSTRATA_API void gpustrata_hook_memory_fraction(double fraction, int device); /* set_memory_fraction_fn */
GPUSTRATA_API void* gpustrata_hook_base_alloc(void* pointer, size_t* size);     /* set_base_alloc_fn */
GPUSTRATA_API void gpustrata_hook_record_stream(void* pointer, void* stream);   /* set_record_stream_fn */
/* gpustrata_hook_begin_allocate_to_pool, _end_allocate_to_pool, _release_pool have C++ types:
 * front/pluggable.cpp. */

#ifdef __cplusplus
}
#endif
#endif
/* NOLINTEND(modernize-*) */
