// What kernels of a caller see of a session: where its systems lie on the device. Generated before this file: OdStats, and
// the numbers of statuses.

struct OdResident {
    real *states;               // [n x n_systems], component-major
    real *params;               // [m x n_systems]
    real *steps;                // sizes of the first steps of the next advance [n_systems]; null: they are not kept
    unsigned char *status;      // of the last advance [n_systems]
    OdStats *stats;             // of the last advance [n_systems]
    unsigned long long *least;  // of the numbers that were told
    unsigned n_systems;
};

// Tells the host a number: of all those told it gets the least.
OD_FN void od_tell(const OdResident &r, unsigned long long number) { atomicMin(r.least, number); }

// The system of this thread, which there may not be.
OD_FN unsigned od_own_system() { return blockIdx.x * OD_EXCHANGE_BLOCK + threadIdx.x; }
