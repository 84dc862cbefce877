// The stages of a Runge-Kutta or Rosenbrock step, of which each thread of a group has its components.

// Stages in registers, all of whose indices are known to the compiler; of a thread that has too many in columns
// (device/columns.cuh); else in local memory.
#define OD_STAGES_IN_REGISTERS (OD_STAGES * OD_EACH <= OD_MOST_STAGE_REGISTERS)
#if OD_STAGES_IN_REGISTERS
#define OD_UNROLL_STAGES _Pragma("unroll")
#else
#define OD_UNROLL_STAGES _Pragma("unroll 1")
#endif

struct OdStages {
#if OD_STAGE_COLUMNS > 0
    static_assert(OD_STAGE_COLUMNS == OD_STAGES * OD_EACH, "each number of a stage has a column");
    OD_FN_MEMBER OdStages() {}
    OD_FN_MEMBER real &at(int m, int e) const { return *od_column(m * OD_EACH + e); }
#else
    real u[OD_STAGES][OD_EACH];
    OD_FN_MEMBER OdStages() {
#if OD_STAGES_IN_REGISTERS
        clear(0);
#endif
    }
    OD_FN_MEMBER real &at(int m, int e) { return u[m][e]; }
    OD_FN_MEMBER const real &at(int m, int e) const { return u[m][e]; }
#endif

    // From this stage on.
    OD_FN_MEMBER void clear(int first) {
#pragma unroll
        for (int m = 0; m < OD_STAGES; ++m) {
#pragma unroll
            for (int e = 0; e < OD_EACH; ++e) at(m, e) = m < first ? at(m, e) : real(0);
        }
    }

    OD_FN_MEMBER void keep(int s, const real (&b)[OD_EACH]) {
#if OD_STAGES_IN_REGISTERS
#pragma unroll
        for (int m = 0; m < OD_STAGES; ++m) {
#pragma unroll
            for (int e = 0; e < OD_EACH; ++e) at(m, e) = m == s ? b[e] : at(m, e);
        }
#else
        OD_UNROLL_OWN
        for (int e = 0; e < OD_EACH; ++e) at(s, e) = b[e];
#endif
    }

    // base + scale * (sum of weight(m) u_m over the stages before s); later ones are zero.
    template <class Weight>
    OD_FN_MEMBER void combine(int s, Weight weight, const real (&base)[OD_EACH], real scale,
                              real (&out)[OD_EACH]) const {
        real sum[OD_EACH];
        OD_UNROLL_OWN
        for (int e = 0; e < OD_EACH; ++e) sum[e] = real(0);
#if OD_STAGES_IN_REGISTERS
        s = OD_STAGES;
#endif
        OD_UNROLL_STAGES
        for (int m = 0; m < s; ++m) {
            const real w = weight(m);
            OD_UNROLL_OWN
            for (int e = 0; e < OD_EACH; ++e) sum[e] = od_fma(w, at(m, e), sum[e]);
        }
        OD_UNROLL_OWN
        for (int e = 0; e < OD_EACH; ++e) out[e] = od_fma(scale, sum[e], base[e]);
    }
};
