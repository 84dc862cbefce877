// Runge-Kutta-Chebyshev of order 2, one system per thread.
//
// Equation, method, order, stability and reference: mod.rs beside this file. What each thread does in a turn: phases.cuh.

#if OD_N <= OD_UNROLLED_COMPONENTS
#define OD_UNROLL _Pragma("unroll")
#else
#define OD_UNROLL _Pragma("unroll 1")
#endif

// Vectors that outlive a turn.
enum OdVector {
    OD_STATE,
    OD_SLOPE,                   // f at the state
    OD_DIRECTION,               // of the power method, found last
    OD_BEFORE,                  // d of the stage before the last
    OD_KEPT
};

// The vectors of a system.
struct OdVectors {
    const OdTask &task;
#if OD_IN_SHARED
    real *kept;
    OD_FN_MEMBER real get(int v, int i) const { return kept[(v * OD_N + i) * OD_BLOCK]; }
    OD_FN_MEMBER void set(int v, int i, real x) { kept[(v * OD_N + i) * OD_BLOCK] = x; }
#else
    real kept[OD_KEPT * OD_N];
    OD_FN_MEMBER real get(int v, int i) const { return kept[v * OD_N + i]; }
    OD_FN_MEMBER void set(int v, int i, real x) { kept[v * OD_N + i] = x; }
#endif
    OdParams p;
    real d[OD_N], f[OD_N];      // f is evaluated at y + d, y the state
    unsigned system;

    OD_FN_MEMBER real moved(int i) const { return get(OD_STATE, i) + d[i]; }

    OD_FN_MEMBER void take(unsigned s) {
        system = s;
        p = od_params(task, s);
        OD_UNROLL
        for (int i = 0; i < OD_N; ++i) set(OD_STATE, i, task.states[(size_t)i * task.stride + s]);
    }

    OD_FN_MEMBER void save(unsigned k) const { put(task.saved + (size_t)k * OD_N * task.stride); }
    OD_FN_MEMBER void write() const { put(task.end_states); }
    OD_FN_MEMBER void put(real *to) const {
        OD_UNROLL
        for (int i = 0; i < OD_N; ++i) to[(size_t)i * task.stride + system] = get(OD_STATE, i);
    }

    OD_FN_MEMBER void start() {
        OD_UNROLL
        for (int i = 0; i < OD_N; ++i) {
            set(OD_SLOPE, i, f[i]);
            set(OD_DIRECTION, i, f[i]);
        }
    }

    OD_FN_MEMBER void accept() {
        OD_UNROLL
        for (int i = 0; i < OD_N; ++i) {
            set(OD_STATE, i, moved(i));
            set(OD_SLOPE, i, f[i]);
        }
    }

    OD_FN_MEMBER void keep_direction() {
        OD_UNROLL
        for (int i = 0; i < OD_N; ++i) set(OD_DIRECTION, i, moved(i) - get(OD_STATE, i));
    }

    OD_FN_MEMBER void begin_stages() {
        OD_UNROLL
        for (int i = 0; i < OD_N; ++i) set(OD_BEFORE, i, real(0));
    }

    OD_FN_MEMBER void stage(const OdStage &s, real step) {
        const real reach = step * s.mu_tilde;
        OD_UNROLL
        for (int i = 0; i < OD_N; ++i) {
            const real slope = f[i] - s.a * get(OD_SLOPE, i);
            const real old = od_fma(s.mu, d[i], s.nu * get(OD_BEFORE, i));
            set(OD_BEFORE, i, d[i]);
            d[i] = od_fma(slope, reach, old);
        }
    }

    OD_FN_MEMBER void move(OdMove how, real a, int mirrored = -1) {
        OD_UNROLL
        for (int i = 0; i < OD_N; ++i) {
            d[i] = od_moved(task, how, a, i, i == mirrored, d[i], get(OD_STATE, i), get(OD_SLOPE, i), get(OD_DIRECTION, i), f[i]);
        }
    }

    template <class Component> OD_FN_MEMBER real norm_of(Component component) const {
        return od_euclid([&](real unit) {
            real sum = real(0);
            OD_UNROLL
            for (int i = 0; i < OD_N; ++i) {
                const real x = component(i) * unit;
                sum = od_fma(x, x, sum);
            }
            return sum;
        });
    }
    OD_FN_MEMBER real norm_of_change() const {
        return norm_of([&](int i) { return f[i] - get(OD_SLOPE, i); });
    }
    OD_FN_MEMBER real norm_of_move() const {
        return norm_of([&](int i) { return moved(i) - get(OD_STATE, i); });
    }
    OD_FN_MEMBER real cosine_of_change(real change) const {
        const real of_change = real(1) / change, of_move = real(1) / norm_of_move();
        real sum = real(0);
        OD_UNROLL
        for (int i = 0; i < OD_N; ++i) {
            sum = od_fma((f[i] - get(OD_SLOPE, i)) * of_change, (moved(i) - get(OD_STATE, i)) * of_move, sum);
        }
        return sum;
    }
    template <class Component> OD_FN_MEMBER real stretch_of(Component component, real longest) const {
        real most = real(0);
        OD_UNROLL
        for (int i = 0; i < OD_N; ++i) most = od_larger(most, od_abs(component(i)));
        return od_stretch(most, longest, [&](real scale) {
            OdAlong along = {real(0), real(0), real(0)};
            OD_UNROLL
            for (int i = 0; i < OD_N; ++i) {
                const real share = scale > real(0) ? od_abs(component(i)) * scale : real(1);
                along.state = od_larger(along.state, od_abs(get(OD_STATE, i)) * share);
                along.slope = od_larger(along.slope, od_abs(get(OD_SLOPE, i)) * share);
                along.atol = od_larger(along.atol, od_atol(task, i) * share);
            }
            return along;
        });
    }
    OD_FN_MEMBER real stretch_of_direction(real longest) const {
        return stretch_of([&](int i) { return get(OD_DIRECTION, i); }, longest);
    }
    OD_FN_MEMBER real stretch_of_change(real longest) const {
        return stretch_of([&](int i) { return f[i] - get(OD_SLOPE, i); }, longest);
    }

    OD_FN_MEMBER real squares_of_euler_error(real trial) const {
        const real unit = OD_NORM == OD_NORM_RMS ? real(1) : od_near_recip(task.rtol);
        real sum = real(0);
        OD_UNROLL
        for (int i = 0; i < OD_N; ++i) {
            const real y = get(OD_STATE, i), slope = get(OD_SLOPE, i);
            const real ratio = (f[i] - slope) * (unit * od_weight(task, i, y, y, trial * slope));
            sum = od_fma(ratio, ratio, sum);
        }
        return sum;
    }

    OD_FN_MEMBER OdNorm error(real step) const {
        OdNorm norm;
        od_norm_clear(norm);
        const real fraction = step * OD_ERROR_OF_SLOPES;
        OD_UNROLL
        for (int i = 0; i < OD_N; ++i) {
            const real y = get(OD_STATE, i), slope = get(OD_SLOPE, i), after = y + d[i];
            const real error = od_fma(slope + f[i], fraction, -(OD_ERROR_OF_STATES * d[i]));
            od_norm_ratio(norm, error * od_weight(task, i, y, after, step * slope));
            od_norm_finite(norm, after);
            od_norm_finite(norm, error);
        }
        od_norm_close_group(norm);
        return norm;
    }

#if OD_RADIUS_BOUND == 2
    OD_FN_MEMBER real radius_bound(real t) const {
        real y[OD_N], bound[1];
        OD_UNROLL
        for (int i = 0; i < OD_N; ++i) y[i] = get(OD_STATE, i);
        od_radius(t, y, p, bound);
        return bound[0];
    }
#endif

#if OD_EVENT
    OD_FN_MEMBER OdPassage passage(const OdEvent &event, real &slope_after) const {
        real before = real(0), after = real(0), slope = real(0);
        slope_after = real(0);
        OD_UNROLL
        for (int i = 0; i < OD_N; ++i) {
            if (i == od_event_component(task)) {
                before = get(OD_STATE, i), after = moved(i);
                slope = get(OD_SLOPE, i), slope_after = f[i];
            }
        }
        return od_passage(task, event, before, after, slope);
    }
#endif

#if OD_RANGES
    OD_FN_MEMBER bool is_outside() const {
        bool outside = false;
        OD_UNROLL
        for (int i = 0; i < OD_N; ++i) outside = outside || od_outside(i, moved(i));
        return outside;
    }
    OD_FN_MEMBER bool is_impossible() const {
        bool impossible = false;
        OD_UNROLL
        for (int i = 0; i < OD_N; ++i) impossible = impossible || od_impossible(task, i, get(OD_STATE, i));
        return impossible;
    }
#endif
};

// Where f is evaluated.
struct OdMoved {
    const OdVectors &x;
    OD_FN_MEMBER real operator[](int i) const { return x.moved(i); }
};

extern "C" __global__ void __launch_bounds__(OD_BLOCK, OD_BLOCKS_PER_SM)
od_rkc(const OdTask task) {
#if OD_IN_SHARED
    OD_SHARED(real, slab);
    OdVectors x{task, slab + threadIdx.x};
#else
    OdVectors x{task};
#endif
    OdRkcLoop loop;
    loop.phase = OD_IDLE;
    // It ends: the power method and the stages are bounded, every attempt counts, and od_proceed
    // ends a system at max_steps.
    for (;;) {
        if (loop.phase == OD_IDLE) {
            const unsigned k = atomicAdd(task.next, 1u);
            if (k >= task.n_systems) break;
            od_rkc_load(task, loop, k, x);
        }
        od_rhs(loop.at, OdMoved{x}, x.p, x.f);
        if (loop.phase == OD_AT_STAGE) {
            x.stage(od_rkc_stage(loop), loop.step);
        } else {
            od_rkc_decide(task, loop, x);
        }
    }
}
