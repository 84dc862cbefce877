// The order of an ensemble by what its systems cost in the call before, costly ones first: then none of them begins when
// the others are done. A sort by counting: classes of systems whose costs differ by less than an eighth. In a class they stay
// about as they lie, so that threads beside each other read systems that lie beside each other.
//
// Each block counts, and later places, OD_TURNS * OD_CLASSES systems; it has a thread for each class. Generated before this
// file: the types of a call, OD_CLASSES, OD_TURNS, OdStats.

#ifdef __CUDACC__
#define OD_BLOCK_BARRIER() __syncthreads()
#else
#define OD_BLOCK_BARRIER() od_host_yield()
#endif

struct OdOrder {
    const OdStats *stats;       // of the call before [n_systems]
    unsigned *order;            // systems, costly ones first [n_systems]
    unsigned *of_class;         // systems of a class [OD_CLASSES]
    unsigned *places;           // where the next of a class goes [OD_CLASSES]
    unsigned n_systems;
};

// The costliest class is 0. Attempts as a floating-point number begin with their power of two and its eighths.
OD_FN unsigned od_class(const OdOrder &o, unsigned s) {
    const unsigned attempts = o.stats[s].steps + o.stats[s].rejected;
    const int eighths = (__float_as_int((float)attempts) >> 20) - (__float_as_int(1.0f) >> 20);
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

extern "C" __global__ void __launch_bounds__(OD_CLASSES) od_count_costs(const OdOrder o) {
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
    unsigned begin = 0;
    for (unsigned c = 0; c < threadIdx.x; ++c) begin += o.of_class[c];
    o.places[threadIdx.x] = begin;
}

extern "C" __global__ void __launch_bounds__(OD_CLASSES) od_place_systems(const OdOrder o) {
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
