// Results of systems that ended after those beside them were read: from where they lie to rows of these systems alone.

struct OdRows {
    const unsigned char *from;  // [rows x stride] values
    unsigned char *to;          // [rows x n_systems]
    unsigned rows, bytes;       // bytes of a value: one, or words
};

struct OdLate {
    OdRows arrays[OD_ARRAYS];
    const unsigned *systems;    // [n_systems]
    unsigned n_systems, stride;
};

extern "C" __global__ void __launch_bounds__(OD_LATE_BLOCK) od_gather_late(const OdLate late) {
    const unsigned k = blockIdx.x * OD_LATE_BLOCK + threadIdx.x;
    if (k >= late.n_systems) return;
    const unsigned s = late.systems[k];
    for (unsigned a = 0; a < OD_ARRAYS; ++a) {
        const OdRows &array = late.arrays[a];
        for (unsigned row = 0; row < array.rows; ++row) {
            const unsigned char *from = array.from + ((size_t)row * late.stride + s) * array.bytes;
            unsigned char *to = array.to + ((size_t)row * late.n_systems + k) * array.bytes;
            if (array.bytes == 1) *to = *from;
            for (unsigned word = 0; word < array.bytes / 4; ++word) {
                ((unsigned *)to)[word] = ((const unsigned *)from)[word];
            }
        }
    }
}
