// Runs a kernel that the host shim made plain C++: stands after the kernel's text.
extern "C" void od_host_euler(
    const void *in, void *out, const void *step, int planes, const unsigned long *blocks) {
    OdStep numbers;
    std::memcpy(&numbers, step, sizeof(numbers));
    blockDim = uint3_{OD_BX, OD_BY, 1};
    gridDim = uint3_{(unsigned)blocks[0], (unsigned)blocks[1], (unsigned)blocks[2]};
    for (unsigned z = 0; z < gridDim.z; ++z) {
        for (unsigned y = 0; y < gridDim.y; ++y) {
            for (unsigned x = 0; x < gridDim.x; ++x) {
                blockIdx = uint3_{x, y, z};
                for (unsigned v = 0; v < OD_BY; ++v) {
                    for (unsigned u = 0; u < OD_BX; ++u) {
                        threadIdx = uint3_{u, v, 0};
                        od_euler((const real *)in, (real *)out, numbers, planes);
                    }
                }
            }
        }
    }
}
