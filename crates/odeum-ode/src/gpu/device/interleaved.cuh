// Interleaved systems: of OD_INTERLEAVED systems of a block each lane of a warp has one, and the OD_WARPS warps of the block are the
// threads of every one of them.
//
// What a warp reads of a table is the same for all its systems, whose numbers lie side by side. All threads go through the
// same barriers, whatever their systems want next: code between barriers may differ, calls with barriers in them may not.
//
// The scalars of a system are the same in all threads of its group. Of its vectors each thread has the components warp,
// warp + OD_WARPS, ...: OD_EACH at most. Sums are in a fixed order.

#define OD_EACH ((OD_N + OD_WARPS - 1) / OD_WARPS)
#define OD_UNROLL_OWN _Pragma("unroll")
#define OD_OWN(e, i) \
    OD_UNROLL_OWN for (int e = 0, i = (int)g.warp; e < OD_EACH; ++e, i += OD_WARPS) \
        if (OD_N % OD_WARPS == 0 || i < OD_N)

// Numbers of one system.
struct OdNumbers {
    real *first;
    OD_FN_MEMBER real &operator[](unsigned i) const { return first[i * OD_INTERLEAVED]; }
    // By bytes.
    OD_FN_MEMBER real &at(unsigned place) const { return *(real *)((char *)first + place); }
    OD_FN_MEMBER OdNumbers operator+(unsigned i) const { return OdNumbers{first + i * OD_INTERLEAVED}; }
};

// Shared memory of a block.
struct alignas(16) OdMemory {
    real state[OD_N][OD_INTERLEAVED];               // where the system is evaluated
    // What evaluates it has the memory, then what threads tell each other: between them is a barrier.
    union {
        real work[OD_GROUP_WORK][OD_INTERLEAVED];
        real cells[OD_CELLS][OD_WARPS][OD_INTERLEAVED];
    };
    real numbers[OD_INTERLEAVED_NUMBERS][OD_INTERLEAVED];
    unsigned words[OD_INTERLEAVED_WORDS][OD_INTERLEAVED];
    unsigned char tables[OD_SHARED_TABLES];
};
static_assert(
    sizeof(OdMemory) == OD_GROUP_BYTES * OD_INTERLEAVED + OD_SHARED_TABLES, "the size of OdMemory is that of gpu/interleaved.rs");

struct OdGroup {
    unsigned warp;                  // the number of this thread in its group
    unsigned slot;                  // in rows of tables: there is one
    const unsigned char *tables;
    OdNumbers memory;               // for those that evaluate a system; nothing is kept there between calls
    OdMemory *block;
    unsigned lane;                  // of this system in its block
    OD_FN_MEMBER OdNumbers state() const { return OdNumbers{block->state[0] + lane}; }
};

OD_FN OdGroup od_group(const OdTask &task, OdMemory &memory) {
    OdGroup g;
#ifdef __CUDACC__
    // The compiler knows that it is the same in all lanes.
    g.warp = __shfl_sync(0xffffffffu, threadIdx.x / OD_INTERLEAVED, 0);
#else
    g.warp = threadIdx.x / OD_INTERLEAVED;
#endif
    g.lane = threadIdx.x % OD_INTERLEAVED;
    g.slot = 0;
    // They are complete after the next barrier.
    for (unsigned i = threadIdx.x; i < OD_SHARED_TABLES / 4u; i += OD_BLOCK) {
        reinterpret_cast<unsigned *>(memory.tables)[i] = reinterpret_cast<const unsigned *>(task.tables)[i];
    }
    g.tables = memory.tables;
    g.block = &memory;
    g.memory = OdNumbers{memory.work[0] + g.lane};
    return g;
}

// How many systems of the block say so, in all threads: x is the same in all of a system.
#ifdef __CUDACC__
#define OD_GROUP_BARRIER() od_block_barrier()
OD_FN unsigned od_count(bool x) { return __popc(__ballot_sync(0xffffffffu, x)); }
#else
#define OD_GROUP_BARRIER() OD_LANE_BARRIER()
OD_FN unsigned od_count(bool x) {
    OD_GROUP_BARRIER();
    od_host_numbers[threadIdx.x] = x ? 1.0 : 0.0;
    OD_GROUP_BARRIER();
    unsigned count = 0;
    for (unsigned i = 0; i < OD_INTERLEAVED; ++i) count += od_host_numbers[i] != 0.0;
    return count;
}
#endif
