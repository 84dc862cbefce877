// Shared memory by 32-bit addresses, barriers in it, and copies into it. On the host addresses are
// offsets from its beginning, and who waits lets others run.

#ifdef __CUDACC__
#define OD_PIPELINE_MEMORY(name)                        \
    extern __shared__ __align__(128) real name##_[]; \
    unsigned name = static_cast<unsigned>(__cvta_generic_to_shared(name##_))
// The same number, of which the compiler does not know that it could compute it again.
OD_FN unsigned od_computed_once(unsigned n) {
    unsigned same;
    asm volatile("mov.u32 %0, %1;" : "=r"(same) : "r"(n));
    return same;
}
// The thread, of which the same is true.
OD_FN int od_thread_x() {
    int x;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(x));
    return x;
}
OD_FN int od_thread_y() {
    int y;
    asm volatile("mov.u32 %0, %%tid.y;" : "=r"(y));
    return y;
}
OD_FN real *od_computed_once(real *place) {
    real *same;
    asm volatile("mov.u64 %0, %1;" : "=l"(same) : "l"(place));
    return same;
}
OD_FN float2 od_get_two(unsigned at) {
    float2 v;
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(at));
    return v;
}
OD_FN real od_get(unsigned at) {
    real v;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(at));
    return v;
}
OD_FN void od_put_ints(unsigned at, int a, int b) {
    asm volatile("st.shared.v2.s32 [%0], {%1, %2};" ::"r"(at), "r"(a), "r"(b) : "memory");
}
OD_FN void od_get_ints(unsigned at, int &a, int &b) {
    asm volatile("ld.shared.v2.s32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at));
}
OD_FN void od_put_two(unsigned at, real x, real y) {
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(at), "f"(x), "f"(y) : "memory");
}
// Predicated, for code that two groups of warps run: a branch would part them.
OD_FN void od_put_two_if(bool p, unsigned at, real x, real y) {
    asm volatile(
        "{\n.reg .pred q;\nsetp.ne.s32 q, %0, 0;\n@q st.shared.v2.f32 [%1], {%2, %3};\n}" ::"r"(
            (int)p),
        "r"(at), "f"(x), "f"(y)
        : "memory");
}
OD_FN void od_put_if(bool p, unsigned at, real v) {
    asm volatile(
        "{\n.reg .pred q;\nsetp.ne.s32 q, %0, 0;\n@q st.shared.f32 [%1], %2;\n}" ::"r"((int)p),
        "r"(at), "f"(v)
        : "memory");
}
// The same in memory, AT cells after a place: an immediate offset costs no instruction.
template <int AT> OD_FN void od_write_two_if(bool p, real *to, real x, real y) {
    asm volatile(
        "{\n.reg .pred q;\nsetp.ne.s32 q, %0, 0;\n@q st.global.cs.v2.f32 [%1 + %4], {%2, "
        "%3};\n}" ::"r"((int)p),
        "l"(to), "f"(x), "f"(y), "n"(4 * AT)
        : "memory");
}
// The compiler must not move reads across: all of them at once want more registers than there are.
OD_FN void od_keep_order() { asm volatile("" ::: "memory"); }
// Registers of a thread of this group of four warps, from here on: of `sm_90a`, not of `sm_90`.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define OD_MORE_REGISTERS(n) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n))
#define OD_LESS_REGISTERS(n) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n))
#else
#define OD_MORE_REGISTERS(n)
#define OD_LESS_REGISTERS(n)
#endif

// A barrier that so many warps pass, and the copies of so many threads.
OD_FN void od_barrier_of(unsigned at, int warps, int threads = 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(warps + threads));
}
// One that is passed when the bytes that one thread announces have been copied.
OD_FN void od_barrier_of_boxes(unsigned at) { od_barrier_of(at, 1); }
OD_FN void od_barriers_are_made() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    __syncthreads();
}
OD_FN void od_announce(unsigned at, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes)
                 : "memory");
}
// A warp arrives, once for its threads.
OD_FN void od_arrive(unsigned at) {
    __syncwarp();
    if (threadIdx.x == 0)
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
}
OD_FN void od_wait(unsigned at, unsigned parity) {
    asm volatile(
        "{\n.reg .pred come;\nAGAIN_%=:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 come, [%0], %1;\n@!come bra AGAIN_%=;\n}" ::"r"(
            at),
        "r"(parity)
        : "memory");
}
// A field as the copies of boxes see it: as cuTensorMapEncodeTiled makes it.
struct alignas(64) OdMap {
    unsigned long long words[16];
};
// Copies a box that begins at a cell, of planes of all species after each other. Of what lies beyond
// the rows and columns of planes come zeros.
OD_FN void od_copy_box(unsigned to, const OdMap &map, int x, int y, int plane, unsigned barrier) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
        "{%2, %3, %4}], [%5];" ::"r"(to),
        "l"(&map), "r"(x), "r"(y), "r"(plane), "r"(barrier)
        : "memory");
}
// What was written here by stores, boxes may overwrite after this.
OD_FN void od_stores_before_boxes() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
#define OD_MAP(name) const __grid_constant__ OdMap name
// Copies four cells. The thread arrives when all its copies have come.
OD_FN void od_copy_four(unsigned to, const real *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
OD_FN void od_copy_one(unsigned to, const real *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}
OD_FN void od_arrive_copied(unsigned at) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(at) : "memory");
}
#else
#define OD_PIPELINE_MEMORY(name) unsigned name = 0
OD_FN unsigned od_computed_once(unsigned n) { return n; }
OD_FN real *od_computed_once(real *place) { return place; }
OD_FN int od_thread_x() { return threadIdx.x; }
OD_FN int od_thread_y() { return threadIdx.y; }
struct float2 {
    float x, y;
};
OD_FN real *od_shared_words(unsigned at) { return reinterpret_cast<real *>(od_host_shared) + at / 4; }
OD_FN float2 od_get_two(unsigned at) {
    const real *from = od_shared_words(at);
    return {from[0], from[1]};
}
OD_FN real od_get(unsigned at) { return *od_shared_words(at); }
OD_FN void od_put_ints(unsigned at, int a, int b) {
    const int both[2] = {a, b};
    memcpy(od_shared_words(at), both, 8);
}
OD_FN void od_get_ints(unsigned at, int &a, int &b) {
    int both[2];
    memcpy(both, od_shared_words(at), 8);
    a = both[0];
    b = both[1];
}
OD_FN void od_put_two(unsigned at, real x, real y) {
    real *to = od_shared_words(at);
    to[0] = x;
    to[1] = y;
}
OD_FN void od_put_two_if(bool p, unsigned at, real x, real y) {
    if (p) od_put_two(at, x, y);
}
OD_FN void od_put_if(bool p, unsigned at, real v) {
    if (p) *od_shared_words(at) = v;
}
template <int AT> OD_FN void od_write_two_if(bool p, real *to, real x, real y) {
    if (!p) return;
    to[AT] = x;
    to[AT + 1] = y;
}
OD_FN void od_keep_order() {}
#define OD_MORE_REGISTERS(n)
#define OD_LESS_REGISTERS(n)

// Threads arrive one by one; copies have come when they are begun.
struct OdPipelineBarrier {
    unsigned short all, lacking;
    unsigned phase;
};
OD_FN OdPipelineBarrier &od_pipeline_barrier(unsigned at) {
    return *reinterpret_cast<OdPipelineBarrier *>(od_shared_words(at));
}
OD_FN void od_barrier_of(unsigned at, int warps, int threads = 0) {
    const unsigned short all = 32 * warps + threads;
    od_pipeline_barrier(at) = OdPipelineBarrier{all, all, 0};
}
OD_FN void od_barrier_of_boxes(unsigned at) { od_barrier_of(at, 0, 1); }
OD_FN void od_barriers_are_made() { od_host_yield(); }
OD_FN void od_arrive(unsigned at) {
    OdPipelineBarrier &barrier = od_pipeline_barrier(at);
    if (--barrier.lacking > 0) return;
    barrier.lacking = barrier.all;
    ++barrier.phase;
}
OD_FN void od_announce(unsigned at, int) { od_arrive(at); }
OD_FN void od_arrive_copied(unsigned at) { od_arrive(at); }
// As tests make it: where the field lies; cells of rows, rows of planes, and planes; bytes from row
// to row and from plane to plane; cells and rows of boxes.
struct OdMap {
    const char *field;
    unsigned long long sizes[3], strides[2], box[2], rest[8];
};
OD_FN void od_copy_box(unsigned to, const OdMap &map, int x, int y, int plane, unsigned) {
    for (int j = 0; j < (int)map.box[1]; ++j) {
        const char *row = map.field + plane * map.strides[1] + (y + j) * (long long)map.strides[0];
        for (int k = 0; k < (int)map.box[0]; ++k) {
            const bool inside = x + k >= 0 && x + k < (int)map.sizes[0] && y + j >= 0 &&
                                y + j < (int)map.sizes[1];
            real *cell = od_shared_words(to) + j * map.box[0] + k;
            *cell = inside ? reinterpret_cast<const real *>(row)[x + k] : real(0);
        }
    }
}
OD_FN void od_stores_before_boxes() {}
#define OD_MAP(name) const OdMap name
OD_FN void od_wait(unsigned at, unsigned parity) {
    while ((od_pipeline_barrier(at).phase & 1) == parity) od_host_yield();
}
OD_FN void od_copy_one(unsigned to, const real *from) { memcpy(od_shared_words(to), from, 4); }
OD_FN void od_copy_four(unsigned to, const real *from) { memcpy(od_shared_words(to), from, 16); }
#endif
