// What each system of a first call will probably cost, from f at its start.
//
// x is the way that the state would go at its first speed, in units of the tolerance. At a constant speed a method of order 4 takes
// about (x rtol) / rtol^(1/4) steps; as fast starts slow down, 2 (x rtol)^(3/4) / rtol^(1/4) is nearer (Rodas4 on states of hydrogen and
// methane). Where first steps are given they say it better. A step of Runge-Kutta-Chebyshev takes as many evaluations as the square
// root of its size times the spectral radius: all steps together as that of their number times the span times the radius. Only which
// systems cost much more than others is of use.

// The cost of the system that was read as number s.
OD_FN float od_expected_cost(const OdTask &task, OdStepLoop &c, OdSystem &x, OdMemory &memory, unsigned s) {
    const OdGroup &g = x.g;
    c.t = task.spans ? task.spans[s] : task.t0;
    c.length = (task.spans ? task.spans[task.stride + s] : task.t1) - c.t;
    const real length = od_abs(c.length);
    const real given = task.first_steps ? task.first_steps[s] : real(0);
    real cost = length / given;
#if OD_COSTS_BY_STAGES
    OdRkc rkc;
    rkc.begin();
    rkc.prepare(task, c, x);
#if OD_RADIUS_BOUND
    rkc.radius = od_known_radius(task, c, x, memory);
#endif
    const auto slope_of = [&](int e, int) { return rkc.slope[e]; };
#else
    if (!(given > real(0))) od_evaluate(c, x, memory, c.t, x.y);
    const auto slope_of = [&](int, int i) { return memory.slope[i]; };
#endif
    if (!(given > real(0))) {
        OdNorm slope;
        od_norm_clear(slope);
        OD_OWN(e, i) {
            const real y = x.y[e], f = slope_of(e, i);
            od_norm_ratio(slope, f * od_weight(task, i, y, y, length * f));
        }
        const real way = length * od_norm_of_size(od_group_norm(task, g, slope));
        cost = real(2) * od_sqrt(way * od_sqrt(way) * task.rtol);
    }
#if OD_COSTS_BY_STAGES
    const real attempts = cost > real(1) ? cost : real(1);
    cost = od_sqrt(attempts * length * rkc.radius);
#endif
    // Of what is no number, too, nothing is expected.
    return cost > real(1) ? float(cost) : 1.0f;
}

// The number of the system that stands for part k of so many equal parts of all systems: one at random, always the same; with as
// many parts as systems k itself. Systems at equal distances could all be of one kind, as on a grid. (Mixing: the finalizer of
// MurmurHash3, A. Appleby 2011.)
OD_FN unsigned od_sampled(unsigned k, unsigned parts, unsigned n_systems) {
    unsigned h = k * 0x9e3779b9u;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    h ^= h >> 16;
    const unsigned long long n = n_systems;
    return unsigned((k * n + (h * n >> 32)) / parts);
}

// The costs of so many systems of the task, unless there is a word that says they are not worth it.
extern "C" __global__ void __launch_bounds__(OD_BLOCK, OD_BLOCKS_PER_SM)
od_expect_costs(const OdTask task, float *costs, unsigned count, const unsigned *pays) {
    if (pays && !*pays) return;
    OD_GROUP_MEMORY(memory);
    OdStepLoop c = {};
    OdSystem x;
    x.g = od_group(task, memory);
    const OdGroup &g = x.g;
    od_place(task, g, memory);
    const unsigned groups = OD_BLOCK / OD_WIDTH;
    for (size_t k = blockIdx.x * groups + threadIdx.x / OD_WIDTH; k < count; k += gridDim.x * groups) {
        const unsigned s = od_sampled(unsigned(k), count, task.n_systems);
        od_read(task, x, memory, s);
        const float cost = od_expected_cost(task, c, x, memory, s);
        if (g.slot == 0) costs[k] = cost;
        OD_GROUP_BARRIER();
    }
}
