// What plain C++ (host_shim.h) spells differently.

#define OD_SHARED(type, name) \
    extern __shared__ unsigned char od_shared_bytes[]; \
    type *name = reinterpret_cast<type *>(od_shared_bytes)
#define OD_LANE_BARRIER() __syncwarp()
#define OD_BESIDE_ATOMIC()
// A barrier of all threads of a block. __syncthreads() is told that the threads of a warp come together, and in large kernels
// ptxas 13.0 did not bring them together after a loop in which some had one more turn: each part of the warp then counted as a warp, and the
// barrier opened early. This one is not told so.
static __device__ __forceinline__ void od_block_barrier() { asm volatile("barrier.sync 0;" ::: "memory"); }
// The same, and whether any of them says so.
static __device__ __forceinline__ bool od_any_of_block(bool x) {
    unsigned any;
    asm volatile(
        "{ .reg .pred own, all; setp.ne.u32 own, %1, 0; barrier.red.or.pred all, 0, own; selp.u32 %0, 1, 0, all; }"
        : "=r"(any) : "r"((unsigned)x) : "memory");
    return any != 0;
}
// Writes a byte: who sees it sees all that this thread wrote before, and what threads wrote that it met at a barrier.
static __device__ __forceinline__ void od_publish(unsigned char *to, unsigned char value) {
    asm volatile("st.release.gpu.global.u8 [%0], %1;" ::"l"(to), "r"((unsigned)value) : "memory");
}
static __device__ __forceinline__ unsigned od_clock() { return clock64() >> 10; }
static __device__ __forceinline__ bool od_any_lane(bool x) { return __any_sync(0xffffffffu, x); }
