/* SPDX-License-Identifier: BSL-1.0 */
/* The plain C face of every generated library: tensors in, status code out, one constant table per
 * kernel. Generated headers include this file; it includes nothing of the project. runtime/abi.md
 * says what may change in it. */
#ifndef QKV_KERNEL_H
#define QKV_KERNEL_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { QKV_MAX_RANK = 8, QKV_ABI = 6 };

/* Element types; the numbers are those of qkv::dtype. */
enum { QKV_F32 = 0, QKV_BF16 = 1, QKV_F16 = 2, QKV_F64 = 3, QKV_I32 = 4, QKV_B8 = 5 };

/* Where the memory of a tensor is. */
enum { QKV_HOST = 0, QKV_CUDA = 1, QKV_OPENCL = 2 };

/* A view of memory: axes in the order of the spec, innermost last. Strides count elements; the
 * innermost is 1. */
typedef struct qkv_tensor {
  void *data;
  int32_t dtype;
  int32_t rank;
  int32_t device;
  int64_t extent[QKV_MAX_RANK];
  int64_t stride[QKV_MAX_RANK];
} qkv_tensor;

/* An axis of a kernel. size is -1 when the call decides; root is the axis that shares its size
 * (itself, or the target of an alias). */
typedef struct qkv_axis {
  const char *name;
  int64_t size;
  int32_t root;
} qkv_axis;

enum { QKV_IN = 0, QKV_PARAM = 1, QKV_OUT = 2 };

/* An argument of a kernel, in the order of the signature: inputs and params as declared, then
 * outputs. */
typedef struct qkv_argument {
  const char *name;
  int32_t role;
  int32_t dtype;
  int32_t rank;
  const int32_t *axes; /* positions in qkv_kernel.axes */
} qkv_argument;

enum { QKV_SAME = 0, QKV_PRODUCT = 1, QKV_SUM = 2 };

/* size(a) == size(b), size(a) == size(b) * size(c), or size(a) == size(b) + size(c). */
typedef struct qkv_condition {
  int32_t kind;
  int32_t a, b, c; /* positions in qkv_kernel.axes; c is -1 for QKV_SAME */
  const char *text;
} qkv_condition;

/* How a param is laid out before the compiled code of a variant reads it: panels of `panel`
 * columns, zero-padded, so that the element at (rows..., columns...) lies at
 * [outer...][column / panel][row][column % panel]. Each of the three groups lists positions of the
 * argument's own axes, outermost first; rows (and columns) count row-major over their group. */
typedef struct qkv_pack {
  int32_t argument; /* position in qkv_kernel.arguments */
  int32_t panel;
  int32_t n_outer, n_rows, n_columns;
  const int32_t *outer, *rows, *columns;
} qkv_pack;

/* What a call returns: 0, or what is wrong. Numbers and meanings are those of qkv/status.hpp. */
enum {
  QKV_OK = 0,
  QKV_NOT_LINKED,
  QKV_WRONG_VERSION,
  QKV_WRONG_COUNT,
  QKV_WRONG_DTYPE,
  QKV_WRONG_RANK,
  QKV_WRONG_DEVICE,
  QKV_WRONG_EXTENT,
  QKV_WRONG_CONDITION,
  QKV_WRONG_STRIDE,
  QKV_TOO_LARGE,
  QKV_NULL_DATA,
  QKV_MISALIGNED,
  QKV_OVERLAP,
  QKV_OUT_OF_MEMORY,
  QKV_NO_DEVICE,
  QKV_DEVICE_FAILED,
  QKV_UNSUPPORTED,
  QKV_BAD_FILE,
  QKV_KERNEL_FAILED,
  QKV_CACHE_FULL,
  QKV_PEER_SILENT
};

/* The compiled code: halide_buffer_t* for each argument in order (packed params as rank
 * 3 + n_outer), then int32_t* for the size of each axis that is its own root and decided at the
 * call, in the order of the axes. args[0] is the address of the user context pointer. Returns 0 or
 * a Halide error code. */
typedef int (*qkv_entry)(void **args);

/* A part of a kernel that runs by chunks of the positions along an axis: all that is computed
 * before the states; a state after a chunk from that before it; all that is made of the results
 * beside the states; a chunk; all that is computed after the chunks. Its values are its arguments,
 * then its results. A value is one of the kernel's arguments, or after these a temporary; `later`:
 * of one at the bounds between chunks, that after the chunk; outside of chunks, the last one. A
 * part of a chunk gets the positions of the chunk, and one along each outer axis. */
typedef struct qkv_chunk_value {
  int32_t value, later;
} qkv_chunk_value;
typedef struct qkv_chunk_part {
  qkv_entry entry; /* NULL: there is nothing to compute */
  int32_t n_values;
  const qkv_chunk_value *values;
  int32_t n_sizes;
  const int32_t *sizes; /* axes, whose sizes it takes after the values */
} qkv_chunk_part;
typedef struct qkv_chunk_temporary {
  int32_t dtype, rank;
  int32_t at_bounds; /* one at each bound between chunks */
  const int32_t *axes;
} qkv_chunk_temporary;
typedef struct qkv_chunks {
  const qkv_axis *axes;
  int32_t n_axes;
  const qkv_argument *arguments;
  int32_t n_arguments;
  const qkv_chunk_temporary *temporaries;
  int32_t n_temporaries;
  int32_t along, positions; /* the axis; positions of a chunk, the last one's may be fewer */
  int32_t n_outer;
  const int32_t *outer;
  int32_t has_last_state;      /* 1: the state after the last chunk is computed, too */
  const qkv_chunk_part *parts; /* five */
} qkv_chunks;

/* The entry of such a kernel. Positions of the outer axes are tasks: states and chunks of each are
 * computed in order, whatever the number of threads. */
int qkv_run_chunks(void **args, const qkv_chunks *);

/* The code of a kernel for one machine. */
typedef struct qkv_variant {
  const char *machine;  /* its name, as in TARGETS: x86-64-v3, cuda */
  const char *device;   /* where the code runs: host, cuda, opencl, .. */
  int (*can_run)(void); /* 0 if this processor lacks an instruction; NULL: every one has them */
  qkv_entry entry;
  int32_t n_packs;
  const qkv_pack *packs; /* of the params that it reads packed; it reads the others as they are */
} qkv_variant;

/* The first three members are the same in every version. */
typedef struct qkv_kernel {
  uint32_t abi;
  const char *name;
  uint64_t fingerprint; /* of the spec that it was built from */
  int32_t n_axes, n_arguments, n_conditions, n_variants;
  const qkv_axis *axes;
  const qkv_argument *arguments;
  const qkv_condition *conditions;
  const qkv_variant *variants; /* best first */
} qkv_kernel;

/* Runs a kernel: checks every argument against the table, then calls the compiled code. Returns a
 * status code as above; when a check refused, the outputs are as they were; when compiled code or a
 * device failed midway, their contents are undefined. arguments are in the order of the table.
 * text, when given, receives the message (truncated to size, always terminated). */
int qkv_call(const qkv_kernel *kernel, const qkv_tensor *arguments, int32_t n, char *text,
             size_t size);

/* The same with flags. QKV_ACCUMULATE adds the results to the outputs, which are f32 or f64 in the
 * host's memory; on any status but QKV_OK they are as they were. */
enum { QKV_ACCUMULATE = 1 };
int qkv_call_with(const qkv_kernel *kernel, const qkv_tensor *arguments, int32_t n, uint32_t flags,
                  char *text, size_t size);

/* The steps that a kernel keeps for its gradient: qkv/saved.hpp. */
typedef struct qkv_saved qkv_saved;
qkv_saved *qkv_saved_new(void); /* NULL: no memory */
void qkv_saved_free(qkv_saved *);

/* qkv_call_with for a kernel, which then keeps its steps, and for its gradient, which reads them:
 * one that is called <kernel>_gradient. */
int qkv_call_saving(const qkv_kernel *kernel, const qkv_tensor *arguments, int32_t n,
                    uint32_t flags, qkv_saved *saved, char *text, size_t size);
int qkv_call_saved(const qkv_kernel *gradient, const qkv_tensor *arguments, int32_t n,
                   uint32_t flags, qkv_saved *saved, char *text, size_t size);

/* A printed CUDA kernel for GPUs of a compute capability, as compiled code passes it. */
typedef struct qkv_cuda_code {
  const char *ptx;               /* with a 0 at its end */
  uint64_t hash;                 /* of the PTX */
  int64_t blocks;                /* of the grid */
  int64_t merge_blocks;          /* of the grid that merges what the first one wrote; 0: none */
  int32_t capability, exact;     /* 80, 0: from 8.0 on; 90, 1: 9.0 alone */
  int32_t threads, shared_bytes; /* of a block: threads, dynamic shared memory */
  int32_t merge_threads;         /* of a block that merges */
  int32_t fits;                  /* 0: not for calls of these sizes */
  int32_t fills;                 /* least number of blocks per 100 multiprocessors; 0: any */
} qkv_cuda_code;

/* Compiled code calls this to launch a kernel: the first of n codes that fits the call and its GPU,
 * and after it the kernel called NAME_merge where that has blocks. arguments is an array that ends
 * with a null; is_buffer tells those that are halide_buffer_t, which are passed as addresses on the
 * device, from numbers. Launches are asynchronous, in the stream of the call. Returns 0 or a Halide
 * error code; the context of the call has the text. */
int qkv_cuda_launch(void *user_context, const char *name, const qkv_cuda_code *codes, int32_t n,
                    void **arguments, const int8_t *is_buffer);

/* A generated library. The last two belong to the runtime while the library is registered. */
typedef struct qkv_library {
  const char *name;
  const qkv_kernel *const *kernels;
  int32_t n;
  uint64_t number;
  struct qkv_library *next;
} qkv_library;

/* Makes the kernels of a library known to qkv::call, and unknown again; called by the library
 * itself when it is loaded (before static initialisers, so that those may call) and unloaded. Takes
 * no memory. */
void qkv_register_library(qkv_library *);
void qkv_unregister_library(qkv_library *);

#ifdef __cplusplus
}
#endif
#endif
