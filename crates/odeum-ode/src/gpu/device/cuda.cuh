// What plain C++ (host_shim.h) spells differently.

#define OD_SHARED(type, name) \
    extern __shared__ unsigned char od_shared_bytes[]; \
    type *name = reinterpret_cast<type *>(od_shared_bytes)
#define OD_LANE_BARRIER() __syncwarp()
#define OD_BESIDE_ATOMIC()
// Writes a byte: who sees it sees all that this thread wrote before, and what threads wrote that it met at a barrier.
static __device__ __forceinline__ void od_publish(unsigned char *to, unsigned char value) {
    asm volatile("st.release.gpu.global.u8 [%0], %1;" ::"l"(to), "r"((unsigned)value) : "memory");
}
static __device__ __forceinline__ unsigned od_clock() { return clock64() >> 10; }
static __device__ __forceinline__ bool od_any_lane(bool x) { return __any_sync(0xffffffffu, x); }
