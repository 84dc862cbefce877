// What functions of hJ add to: increments of the stages 2, ..., s, that of the solution, error estimate. Those that are
// complete are taken off the front.

struct OdSums {
    real at[OD_STAGES + 1][OD_EACH];

    OD_FN_MEMBER void clear() {
#pragma unroll
        for (int m = 0; m <= OD_STAGES; ++m) {
            OD_UNROLL_OWN
            for (int e = 0; e < OD_EACH; ++e) at[m][e] = real(0);
        }
    }

    OD_FN_MEMBER void take_off() {
#pragma unroll
        for (int m = 0; m < OD_STAGES; ++m) {
            OD_UNROLL_OWN
            for (int e = 0; e < OD_EACH; ++e) at[m][e] = at[m + 1][e];
        }
    }
};
