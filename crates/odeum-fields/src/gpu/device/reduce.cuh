// Numbers that sum up fields. A block is 32 by 8 threads: 8 rows at a time along y, cells of a row
// along x. Every block gives one part, and who asked adds the parts up in order: the result does
// not depend on which blocks run when.

#ifdef __CUDACC__
#define OD_BARRIER() __syncthreads()
#define OD_PARTS(type, name) \
    extern __shared__ uint4 od_part_bytes[]; \
    type *name = reinterpret_cast<type *>(od_part_bytes)
#else
#define OD_BARRIER() od_host_yield()
#define OD_PARTS(type, name) OD_SHARED(type, name)
#endif

#define OD_LINES 8
#define OD_THREADS (32 * OD_LINES)

// Where the cells of a field lie: rows of nx cells, `row` apart; species `volume` apart.
struct OdBox {
    long long rows, volume;
    int nx, row, species;
};

// Adds up what the threads of a block hold; the sum is the first one's.
template <class Part>
OD_FN void od_join(Part *parts, const Part &mine) {
    const int me = threadIdx.y * 32 + threadIdx.x;
    parts[me] = mine;
    OD_BARRIER();
    for (int half = OD_THREADS / 2; half > 0; half /= 2) {
        if (me < half) parts[me].add(parts[me + half]);
        OD_BARRIER();
    }
}

struct OdSummary {
    double sum, least, largest;
    // The first cells that have these values; the number of cells where there is none.
    long long low, high;

    OD_FN_MEMBER void take(double value, long long cell) {
        sum += value;
        if (value < least) {
            least = value;
            low = cell;
        }
        if (value > largest) {
            largest = value;
            high = cell;
        }
    }
    OD_FN_MEMBER void add(const OdSummary &other) {
        sum += other.sum;
        if (other.least < least || (other.least == least && other.low < low)) {
            least = other.least;
            low = other.low;
        }
        if (other.largest > largest || (other.largest == largest && other.high < high)) {
            largest = other.largest;
            high = other.high;
        }
    }
};

// One part for each block and species.
extern "C" __global__ void __launch_bounds__(OD_THREADS)
od_summary(
    const real *__restrict__ in, OdSummary *out, const OdBox box, const int blocks,
    const unsigned *__restrict__ mask, const int words) {
    OD_PARTS(OdSummary, parts);
    const long long none = box.rows * box.nx;
    OdSummary mine = {0.0, (double)od_inf(), -(double)od_inf(), none, none};
    const real *values = in + blockIdx.y * box.volume;
    for (long long r = blockIdx.x * OD_LINES + threadIdx.y; r < box.rows; r += blocks * OD_LINES) {
        for (int x = threadIdx.x; x < box.nx; x += 32) {
            // Without a mask all cells belong to the domain.
            if (mask && !(__ldg(mask + r * words + x / 32) >> (x % 32) & 1u)) continue;
            mine.take((double)__ldg(values + r * box.row + x), r * box.nx + x);
        }
    }
    od_join(parts, mine);
    if (threadIdx.x == 0 && threadIdx.y == 0) out[blockIdx.y * blocks + blockIdx.x] = parts[0];
}

struct OdFirst {
    long long at;
    OD_FN_MEMBER void add(const OdFirst &other) { at = other.at < at ? other.at : at; }
};

// The first value that is not finite, counted over species and cells.
extern "C" __global__ void __launch_bounds__(OD_THREADS)
od_first(const real *__restrict__ in, OdFirst *out, const OdBox box, const int blocks) {
    OD_PARTS(OdFirst, parts);
    const long long cells = box.rows * box.nx;
    OdFirst mine = {cells * box.species};
    const real *values = in + blockIdx.y * box.volume;
    for (long long r = blockIdx.x * OD_LINES + threadIdx.y; r < box.rows; r += blocks * OD_LINES) {
        for (int x = threadIdx.x; x < box.nx; x += 32) {
            if (od_magnitude(__ldg(values + r * box.row + x)) >= OD_NOT_FINITE) {
                mine.add(OdFirst{blockIdx.y * cells + r * box.nx + x});
            }
        }
    }
    od_join(parts, mine);
    if (threadIdx.x == 0 && threadIdx.y == 0) out[blockIdx.y * blocks + blockIdx.x] = parts[0];
}

struct OdSum {
    double sum;
    OD_FN_MEMBER void add(const OdSum &other) { sum += other.sum; }
};

// Squares of (0.8 (y − w) + 0.4 h (F(y) + F(w))) / (atol + rtol max(|y|, |w|)), the error of RKC: of an error
// of zero, as in solid cells, whatever it is weighed by.
extern "C" __global__ void __launch_bounds__(OD_THREADS)
od_error(
    const real *__restrict__ y, const real *__restrict__ w, const real *__restrict__ before,
    const real *__restrict__ after, OdSum *out, const OdBox box, const int blocks, const double h,
    const double rtol, const double *__restrict__ atol) {
    OD_PARTS(OdSum, parts);
    OdSum mine = {0.0};
    const double absolute = atol[blockIdx.y];
    for (long long r = blockIdx.x * OD_LINES + threadIdx.y; r < box.rows; r += blocks * OD_LINES) {
        for (int x = threadIdx.x; x < box.nx; x += 32) {
            const long long at = blockIdx.y * box.volume + r * box.row + x;
            const double was = (double)__ldg(y + at), is = (double)__ldg(w + at);
            const double rates = (double)__ldg(before + at) + (double)__ldg(after + at);
            const double error = OD_ERROR_OF_STATES * (was - is) + OD_ERROR_OF_SLOPES * h * rates;
            const double larger = fabs(was) > fabs(is) ? fabs(was) : fabs(is);
            const double fraction = error == 0.0 ? 0.0 : error / (absolute + rtol * larger);
            mine.sum += fraction * fraction;
        }
    }
    od_join(parts, mine);
    if (threadIdx.x == 0 && threadIdx.y == 0) out[blockIdx.y * blocks + blockIdx.x] = parts[0];
}

// Values at some places.
extern "C" __global__ void __launch_bounds__(OD_THREADS)
od_pick(const real *__restrict__ in, const long long *__restrict__ at, real *out, const int count) {
    const int n = (blockIdx.x * OD_LINES + threadIdx.y) * 32 + threadIdx.x;
    if (n < count) out[n] = in[at[n]];
}

#define OD_MOST_TERMS 4

// own · out + Σ factor · term.
struct OdCombination {
    const real *term[OD_MOST_TERMS];
    double factor[OD_MOST_TERMS], own;
    int terms, has_own;
};

// Of whole fields, padding included.
extern "C" __global__ void __launch_bounds__(OD_THREADS)
od_combine(real *out, const OdCombination what, const long long count, const int blocks) {
    const long long first = (blockIdx.x * OD_LINES + threadIdx.y) * 32 + threadIdx.x;
    for (long long n = first; n < count; n += (long long)blocks * OD_THREADS) {
        real sum = real(0);
#pragma unroll
        for (int k = 0; k < OD_MOST_TERMS; ++k) {
            if (k < what.terms) sum = od_fma(__ldg(what.term[k] + n), (real)what.factor[k], sum);
        }
        if (what.has_own) sum = od_fma(out[n], (real)what.own, sum);
        out[n] = sum;
    }
}
