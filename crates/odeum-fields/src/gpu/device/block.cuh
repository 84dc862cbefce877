// What the threads of a block share: memory, barriers, and a gate.

#ifdef __CUDACC__
#define OD_BLOCK_MEMORY(name) extern __shared__ __align__(16) real name[]
#define OD_BLOCK_BARRIER() __syncthreads()
#else
#define OD_BLOCK_MEMORY(name) OD_SHARED(real, name)
#define OD_BLOCK_BARRIER() od_host_yield()
#endif

// A gate is passed again and again. A thread leaves it behind when it has done what others wait
// for, and goes on with what nobody waits for; it passes when all have left and what they had
// copied has come. Without such barriers in the hardware, all is done where it is passed.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define OD_GATES 1
#else
#define OD_GATES 0
#endif

// Values that a gate takes of shared memory.
#define OD_GATE (16 / sizeof(real))

struct OdGate {
    unsigned address, passed;
};

#if OD_GATES
OD_FN unsigned od_shared_address(const void *shared) {
    return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
OD_FN OdGate od_gate(void *memory) {
    const OdGate gate = {od_shared_address(memory), 0};
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        // Of each thread, that it has left and that its copies have come.
        asm volatile(
            "mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(gate.address),
            "r"(2 * OD_BX * OD_BY));
    }
    __syncthreads();
    return gate;
}
// What was copied so far is what others wait for.
OD_FN void od_gate_copied(const OdGate &gate) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(gate.address)
                 : "memory");
}
OD_FN void od_gate_leave(const OdGate &gate) {
    asm volatile(
        "{\n.reg .b64 state;\nmbarrier.arrive.shared::cta.b64 state, [%0];\n}" ::"r"(gate.address)
        : "memory");
}
// Waiting that lets other warps go first is of compute capability 9.0 on.
#if __CUDA_ARCH__ >= 900
#define OD_GATE_WAIT "mbarrier.try_wait"
#else
#define OD_GATE_WAIT "mbarrier.test_wait"
#endif
OD_FN void od_gate_pass(OdGate &gate) {
    asm volatile(
        "{\n.reg .pred come;\n"
        "AGAIN_%=:\n" OD_GATE_WAIT ".parity.shared::cta.b64 come, [%0], %1;\n"
        "@!come bra AGAIN_%=;\n}" ::"r"(gate.address),
        "r"(gate.passed & 1)
        : "memory");
    ++gate.passed;
}
// A copy of SIZE bytes into shared memory.
template <int SIZE> OD_FN void od_copy(real *to, const real *from) {
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(od_shared_address(to)), "l"(from),
        "n"(SIZE));
}
#else
OD_FN OdGate od_gate(void *) { return OdGate{0, 0}; }
OD_FN void od_gate_copied(const OdGate &) {}
OD_FN void od_gate_leave(const OdGate &) {}
OD_FN void od_gate_pass(OdGate &) { OD_BLOCK_BARRIER(); }
template <int SIZE> OD_FN void od_copy(real *to, const real *from) { memcpy(to, from, SIZE); }
#endif
