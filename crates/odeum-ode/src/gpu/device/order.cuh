// The order of an ensemble by what its systems cost in the call before, or will probably cost, costly ones first: then none of them
// begins when the others are done. A sort by counting: classes of systems whose costs differ by less than an eighth. In a class they stay
// about as they lie, so that threads beside each other read systems that lie beside each other.
//
// Each block counts, and later places, OD_TURNS * OD_CLASSES systems; it has a thread for each class. Where an order does not pay the
// systems stay as they lie. Generated before this file: OD_CLASSES, OD_TURNS, OD_PART_OF_ALL, OD_TIMES_MEAN.

#ifdef __CUDACC__
#define OD_BLOCK_BARRIER() od_block_barrier()
#else
#define OD_BLOCK_BARRIER() od_host_yield()
#endif

struct OdOrder {
    const unsigned *counts;     // of the call before [n_systems x n_counts];
    const float *costs;         // or null, and what is expected [n_systems]
    unsigned *order;            // systems, costly ones first [n_systems]
    unsigned *of_class;         // systems of a class [OD_CLASSES]
    unsigned *places;           // where the next of a class goes [OD_CLASSES]
    const unsigned *pays;       // zero where an order does not pay; null: it does
    unsigned n_systems, n_counts;
    unsigned first_cost, end_costs; // which counts of a system, summed, are its cost
};

OD_FN float od_cost(const OdOrder &o, unsigned s) {
    if (!o.counts) return o.costs[s];
    const unsigned *const counts = o.counts + (size_t)s * o.n_counts;
    unsigned cost = 0;
    for (unsigned k = o.first_cost; k < o.end_costs; ++k) cost += counts[k];
    return float(cost);
}

// The costliest class is 0. Costs as floating-point numbers begin with their power of two and its eighths.
OD_FN unsigned od_class(const OdOrder &o, unsigned s) {
    const int eighths = (__float_as_int(od_cost(o, s)) >> 20) - (__float_as_int(1.0f) >> 20);
    const int most = OD_CLASSES - 1;
    return most - (eighths < 0 ? 0 : eighths > most ? most : eighths);
}

// The system of this thread in a turn of its block.
OD_FN unsigned od_of_turn(unsigned turn) {
    return (blockIdx.x * OD_TURNS + turn) * OD_CLASSES + threadIdx.x;
}

// Adds to a counter where that is not by nothing.
OD_FN unsigned od_add(unsigned *counter, unsigned by) {
    if (by > 0) return atomicAdd(counter, by);
    OD_BESIDE_ATOMIC();
    return 0;
}

OD_FN bool od_pays(const OdOrder &o) { return !o.pays || *o.pays; }

// One block: whether an order pays, by the costs of some systems, of which a group of threads has `of_group` one after the other: where the
// most costly takes longer than a part of all that the group has to do, in steps of the cheapest, and than many others.
extern "C" __global__ void __launch_bounds__(OD_CLASSES)
od_judge_costs(const float *costs, unsigned n_costs, float of_group, unsigned *pays) {
    OD_SHARED(float, sums);
    float *const largest = sums + OD_CLASSES;
    float sum = 0.0f, most = 0.0f;
    for (unsigned k = threadIdx.x; k < n_costs; k += OD_CLASSES) {
        sum += costs[k];
        most = costs[k] > most ? costs[k] : most;
    }
    sums[threadIdx.x] = sum;
    largest[threadIdx.x] = most;
    OD_BLOCK_BARRIER();
    if (threadIdx.x > 0) return;
    for (unsigned k = 1; k < OD_CLASSES; ++k) {
        sum += sums[k];
        most = largest[k] > most ? largest[k] : most;
    }
    *pays = most > float(OD_PART_OF_ALL) * of_group && most * float(n_costs) > float(OD_TIMES_MEAN) * sum;
}

extern "C" __global__ void __launch_bounds__(OD_CLASSES) od_count_costs(const OdOrder o) {
    if (!od_pays(o)) return;
    OD_SHARED(unsigned, of_class);
    of_class[threadIdx.x] = 0;
    OD_BLOCK_BARRIER();
    for (unsigned turn = 0; turn < OD_TURNS; ++turn) {
        const unsigned s = od_of_turn(turn);
        const bool exists = s < o.n_systems;
        od_add(of_class + (exists ? od_class(o, s) : 0), exists);
    }
    OD_BLOCK_BARRIER();
    od_add(o.of_class + threadIdx.x, of_class[threadIdx.x]);
}

// One block: classes begin where those before them end.
extern "C" __global__ void __launch_bounds__(OD_CLASSES) od_begin_classes(const OdOrder o) {
    if (!od_pays(o)) return;
    unsigned begin = 0;
    for (unsigned c = 0; c < threadIdx.x; ++c) begin += o.of_class[c];
    o.places[threadIdx.x] = begin;
}

extern "C" __global__ void __launch_bounds__(OD_CLASSES) od_place_systems(const OdOrder o) {
    if (!od_pays(o)) {
        for (unsigned turn = 0; turn < OD_TURNS; ++turn) {
            const unsigned s = od_of_turn(turn);
            if (s < o.n_systems) o.order[s] = s;
        }
        return;
    }
    OD_SHARED(unsigned, of_class);
    unsigned *places = of_class + OD_CLASSES;
    of_class[threadIdx.x] = 0;
    OD_BLOCK_BARRIER();
    unsigned rank[OD_TURNS];
#pragma unroll
    for (unsigned turn = 0; turn < OD_TURNS; ++turn) {
        const unsigned s = od_of_turn(turn);
        const bool exists = s < o.n_systems;
        rank[turn] = od_add(of_class + (exists ? od_class(o, s) : 0), exists);
    }
    OD_BLOCK_BARRIER();
    places[threadIdx.x] = od_add(o.places + threadIdx.x, of_class[threadIdx.x]);
    OD_BLOCK_BARRIER();
#pragma unroll
    for (unsigned turn = 0; turn < OD_TURNS; ++turn) {
        const unsigned s = od_of_turn(turn);
        if (s < o.n_systems) o.order[places[od_class(o, s)] + rank[turn]] = s;
    }
}
