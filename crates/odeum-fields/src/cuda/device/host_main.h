// Runs a kernel that the host shim made plain C++: stands after the kernel's text, which is
// compiled with OD_HOST_KERNEL for its name. Its threads do not wait for each other: they are run
// one after the other.
extern "C" void od_host_sweep(
    const void *in, void *out, const void *numbers, int planes, const unsigned long *blocks,
    const unsigned long *block) {
    OdSteps steps;
    std::memcpy(&steps, numbers, sizeof(steps));
    for (unsigned long b = 0; b < blocks[0] * blocks[1] * blocks[2]; ++b) {
        blockIdx = uint3_{
            (unsigned)(b % blocks[0]), (unsigned)(b / blocks[0] % blocks[1]),
            (unsigned)(b / (blocks[0] * blocks[1]))};
        for (unsigned t = 0; t < block[0] * block[1]; ++t) {
            threadIdx = uint3_{(unsigned)(t % block[0]), (unsigned)(t / block[0]), 0};
            OD_HOST_KERNEL((const real *)in, (real *)out, steps, planes);
        }
    }
}
