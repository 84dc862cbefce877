// What two steps of forward Euler in one pass over memory could be for the precipitation front, a
// model with a potential of fourth order:
//
//     a' = D lap(a) - k1 a b - k2 a c,  b' = D lap(b) - k1 a b,
//     c' = k1 a b - k2 a c - m lap(mu),  mu = c - c^3 + g lap(c),
//
// by the 19-point Laplacian, between closed walls, in single precision. A study on its own, not a
// part of the program: it shows what a kernel of the program could reach, and how. It compares all
// cells with single steps, and measures:
//
//     nvcc -gencode=arch=compute_90a,code=sm_90a -O3 -std=c++17 front_pair.cu -o front_pair &&
//     ./front_pair
//
// A block takes a tile of 64 x 32 cells along z through four stages: mu of the field, the first
// step, mu of that, the second step; the plane of each stage has its origin one cell further in
// than the one that it reads, so all use one pattern of addresses. Three groups of warps wait for
// each other by mbarriers alone, not for the block: X (first step, then mu of it), Y (second step,
// then mu of the field) with 8 rows of two cells to a thread, and Z (what of these stages lies
// beside the tile, copies from memory, mirrored planes at walls). X and Y run the same code: more
// than about 33 KB of instructions in use do not stay in their cache.
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#define CK(x)                                                                         \
    do {                                                                              \
        cudaError_t e_ = (x);                                                         \
        if (e_ != cudaSuccess) {                                                      \
            printf("CUDA %s at %s:%d\n", cudaGetErrorString(e_), __FILE__, __LINE__); \
            exit(1);                                                                  \
        }                                                                             \
    } while (0)

constexpr float D_ = 1.f, K1_ = 0.2f, K2_ = 0.005f, M_ = 1.f, G_ = 1.f, DT_ = 1e-3f;

// ---- naive reference, single steps
__device__ inline int mir(int i, int n) { return i < 0 ? -1 - i : (i >= n ? 2 * n - 1 - i : i); }
__device__ inline float naive_lap(const float *u, int x, int y, int z, int nx, int ny, int nz) {
    float f = 0, e = 0;
    for (int dz = -1; dz <= 1; ++dz)
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
                int n = abs(dx) + abs(dy) + abs(dz);
                if (n == 0 || n == 3) continue;
                float v =
                    u[((long long)mir(z + dz, nz) * ny + mir(y + dy, ny)) * nx + mir(x + dx, nx)];
                if (n == 1)
                    f += v;
                else
                    e += v;
            }
    float c = u[((long long)z * ny + y) * nx + x];
    return (2 * f + e - 24 * c) / 6;
}
__global__ void naive_mu(const float *c, float *mu, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
        z = blockIdx.z;
    if (x >= nx || y >= ny) return;
    long long i = ((long long)z * ny + y) * nx + x;
    float v = c[i];
    mu[i] = v - v * v * v + G_ * naive_lap(c, x, y, z, nx, ny, nz);
}
__global__ void naive_step(const float *in, const float *mu, float *out, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
        z = blockIdx.z;
    if (x >= nx || y >= ny) return;
    long long vol = (long long)nx * ny * nz, i = ((long long)z * ny + y) * nx + x;
    float a = in[i], b = in[i + vol], c = in[i + 2 * vol];
    out[i] = a + DT_ * (D_ * naive_lap(in, x, y, z, nx, ny, nz) - K1_ * a * b - K2_ * a * c);
    out[i + vol] = b + DT_ * (D_ * naive_lap(in + vol, x, y, z, nx, ny, nz) - K1_ * a * b);
    out[i + 2 * vol] =
        c + DT_ * (K1_ * a * b - K2_ * a * c - M_ * naive_lap(mu, x, y, z, nx, ny, nz));
}
__device__ inline unsigned hash32(unsigned x) {
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    x ^= x >> 16;
    return x;
}
__global__ void init_field(float *f, long long vol, unsigned seed) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < 3 * vol;
         i += (long long)gridDim.x * blockDim.x)
        f[i] = 0.1f + 0.9f * (hash32((unsigned)i * 2654435761u + seed) * 2.3283064e-10f);
}
__global__ void compare(const float *x, const float *y, long long n, float *res,
                        unsigned long long *bad) {
    float m = 0;
    unsigned long long b = 0;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
         i += (long long)gridDim.x * blockDim.x) {
        float d = fabsf(x[i] - y[i]);
        float tol = 1e-5f * fmaxf(fabsf(y[i]), 0.1f);
        if (!(d <= tol)) b++;
        float r = d / fmaxf(fabsf(y[i]), 0.1f);
        m = fmaxf(m, isfinite(r) ? r : 1e30f);
    }
    atomicMax((int *)res, __float_as_int(m));
    if (b) atomicAdd(bad, b);
}

// ---- asynchronous copies
__device__ __forceinline__ unsigned saddr(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}
__device__ __forceinline__ void mbar_init(unsigned a, int n) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(a), "r"(n));
}
__device__ __forceinline__ void mbar_expect(unsigned a, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(a), "r"(bytes)
                 : "memory");
}
__device__ __forceinline__ void mbar_wait(unsigned a, unsigned parity) {
    asm volatile(
        "{\n.reg .pred p;\nL_%=:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra "
        "L_%=;\n}" ::"r"(a),
        "r"(parity)
        : "memory");
}
__device__ __forceinline__ void tma3(unsigned dst, const CUtensorMap *map, int x, int y, int z,
                                     unsigned bar) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
        "{%2, %3, %4}], [%5];" ::"r"(dst),
        "l"(map), "r"(x), "r"(y), "r"(z), "r"(bar)
        : "memory");
}
__device__ __forceinline__ void st_if(bool p, float *to, float x, float y) {
    asm volatile(
        "{\n.reg .pred q;\nsetp.ne.s32 q, %0, 0;\n@q st.global.cs.v2.f32 [%1], {%2, %3};\n}" ::"r"(
            (int)p),
        "l"(to), "f"(x), "f"(y)
        : "memory");
}
__device__ __forceinline__ void sts_if(bool p, unsigned to, float x, float y) {
    asm volatile(
        "{\n.reg .pred q;\nsetp.ne.s32 q, %0, 0;\n@q st.shared.v2.f32 [%1], {%2, %3};\n}" ::"r"(
            (int)p),
        "r"(to), "f"(x), "f"(y)
        : "memory");
}
#define FENCE_PROXY() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")

typedef CUresult (*EncodeFn)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                             const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                             const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                             CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
inline CUtensorMap make_map(float *base, int nx, int ny, long long nz, int bx, int by) {
    static EncodeFn fn = nullptr;
    if (!fn) {
        cudaDriverEntryPointQueryResult q;
        CK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&fn, 12000,
                                            cudaEnableDefault, &q));
    }
    CUtensorMap m;
    cuuint64_t dims[3] = {(cuuint64_t)nx, (cuuint64_t)ny, (cuuint64_t)nz};
    cuuint64_t str[2] = {(cuuint64_t)nx * 4, (cuuint64_t)nx * ny * 4};
    cuuint32_t box[3] = {(cuuint32_t)bx, (cuuint32_t)by, 1}, es[3] = {1, 1, 1};
    CUresult r = fn(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, base, dims, str, box, es,
                    CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                    CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (r != CUDA_SUCCESS) {
        printf("tensor map failed %d\n", (int)r);
        exit(1);
    }
    return m;
}

__device__ __forceinline__ float2 lds2(unsigned a) {
    float2 v;
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(a));
    return v;
}
__device__ __forceinline__ float lds1(unsigned a) {
    float v;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(a));
    return v;
}
__device__ __forceinline__ void sts2(unsigned a, float x, float y) {
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(a), "f"(x), "f"(y) : "memory");
}

// What a thread keeps of a stage between two planes, for H rows of two cells: of the newest plane
// the sum so far, S, and what it adds to the planes above and below, A. Of a, b and c, and of mu.
template <int H>
struct SState {
    float S[3][H][2], A[3][H][2];
};
template <int H>
struct MState {
    float S[H][2], A[H][2];
};

// Numbers times dt: of the sums over six, of the middle, of reactions.

constexpr float KD = DT_ * D_ / 6, CA = 1.f - 24.f * KD, RK1 = DT_ * K1_, RK2 = DT_ * K2_,
                KM = -DT_ * M_ / 6, KM24 = -24.f * KM;
constexpr float G6 = G_ / 6, C1 = 1.f - 4.f * G_;

// Rows that are read ahead of the one that is summed.
constexpr int LOOK = 3;
// The compiler must not move reads across: all of them at once want more registers than there are.
#define NOMOVE() asm volatile("" ::: "memory")
// A row of a window: four words from an aligned one on, or from the one after that.
template <bool ODD>
__device__ __forceinline__ void ld_row(unsigned p, float (&u)[4]) {
    if constexpr (ODD) {
        const float2 mid = lds2(p + 8);
        u[0] = lds1(p + 4);
        u[1] = mid.x;
        u[2] = mid.y;
        u[3] = lds1(p + 16);
    } else {
        const float2 lo = lds2(p), hi = lds2(p + 8);
        u[0] = lo.x;
        u[1] = lo.y;
        u[2] = hi.x;
        u[3] = hi.y;
    }
}
// Takes a plane of c, at windows from p on, into mu: gives the rows of the plane before.
template <int H, int P, class E>
__device__ __forceinline__ void stage_m(unsigned p, MState<H> &st, E emit) {
    float u[H + 2][4], h[H + 2][2];
#pragma unroll
    for (int j = 0; j < H; ++j) {
#pragma unroll
        for (int r = j == 0 ? 0 : j + 2 + LOOK; r < H + 2 && r <= j + 2 + LOOK; ++r)
            ld_row<false>(p + 4 * r * P, u[r]);
#pragma unroll
        for (int r = j == 0 ? 0 : j + 2; r <= j + 2; ++r)
#pragma unroll
            for (int k = 0; k < 2; ++k) h[r][k] = u[r][k] + u[r][k + 2];
        float res[2];
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            const float c = u[j + 1][k + 1];
            const float r = u[j][k + 1] + u[j + 2][k + 1] + h[j + 1][k], d = h[j][k] + h[j + 2][k];
            const float sum = fmaf(2.f, r, d) + st.A[j][k];
            st.A[j][k] = fmaf(2.f, c, r);
            res[k] = fmaf(G6, st.A[j][k], st.S[j][k]);
            st.S[j][k] = fmaf(G6, sum, c * fmaf(-c, c, C1));
        }
        emit(j, res[0], res[1]);
        NOMOVE();
    }
}
// Takes planes of mu, a and b and the cells of c into a step: gives the rows of the plane before.
// Windows of mu begin at pm, of a and b one word after pa and pb, the cells of c at pc.
template <int H, int P, int PM, class E>
__device__ __forceinline__ void stage_s(unsigned pa, unsigned pb, unsigned pm, unsigned pc,
                                        SState<H> &st, E emit) {
    constexpr int N = H + 2, LOOKS = LOOK < H ? LOOK : H - 1;
    float u[3 * N][4], h[3 * N][2], ma[H][2];
    float2 cc[H];
#pragma unroll
    for (int s = 0; s < 3; ++s) {
#pragma unroll
        for (int j = 0; j < H; ++j) {
            const int upto = s * N + j + 3 + LOOKS, before = s == 0 && j == 0 ? 0
                                                             : j == 0         ? s * N + LOOKS
                                                                              : upto - 1;
#pragma unroll
            for (int q = before; q < upto && q < 3 * N; ++q) {
                if (q < N)
                    ld_row<false>(pm + 4 * q * PM, u[q]);
                else
                    ld_row<true>((q < 2 * N ? pa : pb) + 4 * (q % N) * P, u[q]);
            }
            if (s == 2 || (s == 1 && j >= H - LOOKS)) {
                const int c = s == 2 ? j + LOOKS : j - H + LOOKS;
                if (c < H) cc[c] = lds2(pc + 4 * c * P);
            }
            const int o = s * N + j;
#pragma unroll
            for (int r = j == 0 ? o : o + 2; r <= o + 2; ++r)
#pragma unroll
                for (int k = 0; k < 2; ++k) h[r][k] = u[r][k] + u[r][k + 2];
            float res[2];
            const int v = s == 0 ? 2 : s - 1;
#pragma unroll
            for (int k = 0; k < 2; ++k) {
                const float x = u[o + 1][k + 1];
                const float r = u[o][k + 1] + u[o + 2][k + 1] + h[o + 1][k],
                            d = h[o][k] + h[o + 2][k];
                const float sum = fmaf(2.f, r, d) + st.A[v][j][k];
                st.A[v][j][k] = fmaf(2.f, x, r);
                res[k] = fmaf(s == 0 ? KM : KD, st.A[v][j][k], st.S[v][j][k]);
                if (s == 0) {
                    st.S[2][j][k] = fmaf(KM, sum, KM24 * x);
                } else if (s == 1) {
                    st.S[0][j][k] = fmaf(KD, sum, CA * x);
                    ma[j][k] = RK1 * x;
                } else {
                    const float m = ma[j][k], c = k ? cc[j].y : cc[j].x;
                    st.S[0][j][k] = fmaf(m, fmaf(-RK2 / RK1, c, -x), st.S[0][j][k]);
                    st.S[1][j][k] = fmaf(KD, sum, x * (CA - m));
                    st.S[2][j][k] = fmaf(m, x, fmaf(c, fmaf(-RK2 / RK1, m, 1.f), st.S[2][j][k]));
                }
            }
            emit(v, j, res[0], res[1]);
            NOMOVE();
        }
    }
}

__device__ __forceinline__ void mbar_arrive_warp(unsigned a) {
    __syncwarp();
    if ((threadIdx.x & 31) == 0)
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(a) : "memory");
}

constexpr int up32(int n) { return (n + 31) / 32 * 32; }

// The tile, and where its planes lie in shared memory.
struct Tile {
    static constexpr int W = 64, T = 32, H = 8, RM = 200, RZ = 104;
    static constexpr int NM = (W / 2) * (T / H);  // threads of X and of Y
    static constexpr int THREADS = 2 * NM + 128;
    static constexpr int P = W + 12, PM = 70, RC = T + 8, RA = T + 6;
    static constexpr int C0 = up32(RC * P), A0 = up32(RA * P);
    static constexpr int MU0 = (T + 6) * PM, PL = (T + 4) * P, MU1 = (T + 2) * PM;
    static constexpr int oFix = 64, oC0 = 320, oA0 = oC0 + 4 * C0, oMu0 = oA0 + 4 * A0,
                         oMu1 = oMu0 + 2 * MU0, o1 = oMu1 + MU1;
    static constexpr int SL = 3 * PL;
    static constexpr int TOTAL = o1 + 3 * SL;
    static constexpr int BYTES = TOTAL * 4;
    // Which mbarriers: planes of c and of a and b that have come, mu of the field, both steps, mu
    // of the first, and planes mended at walls.
    static constexpr int bC0 = 0, bAB = 4, bMu0 = 6, bS1 = 8, bS2 = 10, bMu1 = 12, bFixC = 13,
                         bFixA = 15, NBAR = 17;
};

// Four words of a plane copied, in reverse if they lie beside a wall along x: to | from << 12 |
// reverse << 24, in units of four words.
__device__ __forceinline__ void fix_one(float *plane, int e) {
    const float4 v = *reinterpret_cast<const float4 *>(plane + (e >> 12 & 0xfff) * 4);
    const bool rev = e >> 24 & 1;
    *reinterpret_cast<float4 *>(plane + (e & 0xfff) * 4) =
        rev ? make_float4(v.w, v.z, v.y, v.x) : v;
}

// Two steps. In turn n plane i of the field goes in, and plane i - 6 of the second step comes out.
template <int NX, int NY>
__global__ void __launch_bounds__(Tile::THREADS, 1)
    pair(const __grid_constant__ CUtensorMap mapc, const __grid_constant__ CUtensorMap mapa,
         float *__restrict__ out, int nz, int zplanes) {
    using C = Tile;
    extern __shared__ __align__(128) float sm[];
    constexpr int P = C::P, PM = C::PM, T = C::T, W = C::W, CW = W / 2, H = C::H;
    const int tid = threadIdx.x, x0 = blockIdx.x * W, y0 = blockIdx.y * T,
              zb = blockIdx.z * zplanes, ze = min(zb + zplanes, nz);
    unsigned bars;
    asm volatile("mov.u32 %0, %1;" : "=r"(bars) : "r"(saddr(sm)));
    const bool wx0 = x0 == 0, wx1 = x0 + W == NX, wy0 = y0 == 0, wy1 = y0 + T == NY;
    const bool wall = wx0 || wx1 || wy0 || wy1;
    if (tid == 0) {
        constexpr int WM = C::NM / 32;
        for (int n = 0; n < 2; ++n) {
            mbar_init(bars + 8 * (C::bMu0 + n), WM + 2);
            mbar_init(bars + 8 * (C::bS1 + n), WM + 2);
            mbar_init(bars + 8 * (C::bS2 + n), WM);
            mbar_init(bars + 8 * (C::bFixC + n), 2);
            mbar_init(bars + 8 * (C::bFixA + n), 2);
        }
        for (int n = 0; n < C::bMu0; ++n) mbar_init(bars + 8 * n, 1);
        mbar_init(bars + 8 * C::bMu1, WM + 2);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    const int i0 = zb - 4, i1 = ze + 6;
#define BAR2(b, n) (bars + 8 * (b) + 8 * ((n) & 1)), ((n) >> 1 & 1)
#define BAR4(b, n) (bars + 8 * (b) + 8 * ((n) & 3)), ((n) >> 2 & 1)
    if (tid < 2 * C::NM) {
        // ---------------- X: step one, mu1; Y: step two, mu0
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(C::RM));
        const bool isx = tid < C::NM;
        const int t = tid % C::NM, l = t % CW, g = t / CW;
        const unsigned own = bars + 4 * (g * H * P + 2 * l), ownm = bars + 4 * (g * H * PM + 2 * l);
        SState<H> st = {};
        MState<H> mt = {};
        const long long vol = (long long)NX * NY * nz;
        const unsigned at = (y0 + H * g) * NX + x0 + 2 * l;
        int slot = isx ? C::o1 : C::o1 + C::SL;
        const int nd = isx ? 3 : 8;
        for (int i = i0, n = 0; i < i1; ++i, ++n) {
            int pa, pb, pm, pc;
            if (isx) {
                if (n >= 1) mbar_wait(BAR2(C::bMu0, n - 1));
                if (n >= 2) {
                    if (wall)
                        mbar_wait(BAR2(C::bFixA, n - 2));
                    else
                        mbar_wait(BAR2(C::bAB, n - 2));
                }
                pa = C::oA0 + (n & 1) * 2 * C::A0;
                pb = pa + C::A0;
                pm = C::oMu0 + (n & 1) * C::MU0;
                pc = C::oC0 + (n - 2 & 3) * C::C0;
            } else {
                if (n >= 1) mbar_wait(bars + 8 * C::bMu1, n - 1 & 1);
                pa = slot + P;
                pb = pa + C::PL;
                pm = C::oMu1;
                pc = slot + 2 * C::PL;
            }
            const bool valid = !isx && n >= 10;
            if (n >= nd)
                stage_s<H, P, PM>(
                    own + 4 * pa, own + 4 * pb, ownm + 4 * pm, own + 4 * (pc + 2 * P + 2), st,
                    [&](int s, int j, float r0, float r1) {
                        sts_if(isx, own + 4 * slot + 4 * (s * C::PL + j * P), r0, r1);
                        st_if(valid, out + ((long long)(i - 6) * (NX * NY) + s * vol) + at + j * NX,
                              r0, r1);
                    });
            int from, into;
            if (isx) {
                mbar_arrive_warp(bars + 8 * (C::bS1 + (n & 1)));
                mbar_wait(BAR2(C::bS1, n));
                mbar_wait(BAR2(C::bS2, n));
                from = slot + 2 * C::PL;
                into = C::oMu1;
            } else {
                mbar_arrive_warp(bars + 8 * (C::bS2 + (n & 1)));
                if (wall)
                    mbar_wait(BAR2(C::bFixC, n));
                else
                    mbar_wait(BAR4(C::bC0, n));
                from = C::oC0 + (n & 3) * C::C0;
                into = C::oMu0 + (n - 1 & 1) * C::MU0;
            }
            stage_m<H, P>(own + 4 * from, mt, [&](int j, float r0, float r1) {
                sts2(ownm + 4 * (into + j * PM), r0, r1);
            });
            mbar_arrive_warp(isx ? bars + 8 * C::bMu1 : bars + 8 * (C::bMu0 + (n & 1)));
            slot = slot == C::o1 + 2 * C::SL ? C::o1 : slot + C::SL;
        }
    } else {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(C::RZ));
        const int t = tid - 2 * C::NM, w = t / 32, lane = t % 32;
        // Walls: Z1 mends planes of a and b, Z2 those of c, two vectors to a thread.
        int *fix = reinterpret_cast<int *>(sm + C::oFix) + t;
        if (wall) {
            const int sx = wx0 || wx1, sy = wy0 || wy1, g = w < 2 ? 3 : 4, rows = T + 2 * g,
                      nx = sx ? rows : 0, ny = sy ? g * (W / 4 + 2) : 0;
            for (int q = 0; q < 2; ++q) {
                const int k = q * 64 + t % 64;
                int r = 0, c = 0, e = -1;
                if (k < nx) {
                    r = k;
                    c = wx0 ? 0 : W / 4 + 1;
                } else {
                    r = (k - nx) / (W / 4 + 2);
                    c = (k - nx) % (W / 4 + 2);
                    if (wy1) r += T + g;
                }
                int sr = r, sc = c, rev = 0;
                if (wy0 && r < g) sr = 2 * g - 1 - r;
                if (wy1 && r >= T + g) sr = 2 * (T + g) - 1 - r;
                if (wx0 && c == 0) {
                    sc = 1;
                    rev = 1;
                }
                if (wx1 && c == W / 4 + 1) {
                    sc = W / 4;
                    rev = 1;
                }
                if (k < nx + ny) e = (r * (P / 4) + c) | (sr * (P / 4) + sc) << 12 | rev << 24;
                fix[q * 128] = e;
            }
        }
        auto mend = [&](float *plane) {
#pragma unroll
            for (int q = 0; q < 2; ++q) {
                const int e = fix[q * 128];
                if (e >= 0) fix_one(plane, e);
            }
        };
        if (w < 2) {
            // ---------------- Z1: step one beside the tile: the four rows above it, and two
            // columns of packs.
            constexpr int NG = T / 4 + 1;
            int row = T, col = lane;
            if (w == 1) {
                // Groups of four rows alternate between halves of the banks.
                const int half = lane / 16, hl = lane % 16, ng = half ? NG - NG / 2 : NG / 2;
                row = hl < 2 * ng ? (half * (NG / 2) + hl / 2) * 4 : -1;
                col = CW + hl % 2;
            } else if (lane >= CW)
                row = -1;
            static_assert(CW <= 32 && NG - NG / 2 <= 8, "fits");
            const bool has = row >= 0;
            const unsigned o = bars + 4 * (row * P + 2 * col), om = bars + 4 * (row * PM + 2 * col);
            SState<4> st = {};
            int s0 = C::o1;
            for (int i = i0, n = 0; i < i1; ++i, ++n) {
                if (n >= 1) {
                    mbar_wait(BAR2(C::bS1, n - 1));
                    mbar_wait(BAR2(C::bS2, n - 1));
                    mbar_wait(BAR2(C::bMu0, n - 1));
                }
                if (n >= 2) {
                    if (wall)
                        mbar_wait(BAR2(C::bFixA, n - 2));
                    else
                        mbar_wait(BAR2(C::bAB, n - 2));
                }
                if (has) {
                    const int ab = C::oA0 + (n & 1) * 2 * C::A0;
                    stage_s<4, P, PM>(o + 4 * ab, o + 4 * (ab + C::A0),
                                      om + 4 * (C::oMu0 + (n & 1) * C::MU0),
                                      o + 4 * (C::oC0 + (n - 2 & 3) * C::C0 + 2 * P + 2), st,
                                      [&](int s, int j, float r0, float r1) {
                                          sts2(o + 4 * (s0 + s * C::PL + j * P), r0, r1);
                                      });
                }
                mbar_arrive_warp(bars + 8 * (C::bS1 + (n & 1)));
                if (wall && n >= 1 && i + 1 < i1) {
                    mbar_wait(BAR2(C::bAB, n - 1));
                    float *plane = sm + C::oA0 + (n - 1 & 1) * 2 * C::A0;
                    mend(plane);
                    mend(plane + C::A0);
                    mbar_arrive_warp(bars + 8 * (C::bFixA + (n - 1 & 1)));
                }
                s0 = s0 == C::o1 + 2 * C::SL ? C::o1 : s0 + C::SL;
            }
        } else {
            // ---------------- Z2: mu0 and mu1 beside the tile; copies
            const int v = w - 2;
            auto plane_of = [&](int z) { return z < 0 ? -1 - z : (z >= nz ? 2 * nz - 1 - z : z); };
            auto bring_c = [&](int i, int n) {
                const unsigned bar = bars + 8 * (C::bC0 + (n & 3));
                mbar_expect(bar, C::RC * P * 4);
                tma3(bars + 4 * (C::oC0 + (n & 3) * C::C0), &mapc, x0 - 4, y0 - 4,
                     2 * nz + plane_of(i), bar);
            };
            auto bring_ab = [&](int i, int n) {
                const unsigned bar = bars + 8 * (C::bAB + (n & 1));
                mbar_expect(bar, 2 * C::RA * P * 4);
                const int slot = C::oA0 + (n & 1) * 2 * C::A0, z = plane_of(i);
                tma3(bars + 4 * slot, &mapa, x0 - 4, y0 - 3, z, bar);
                tma3(bars + 4 * (slot + C::A0), &mapa, x0 - 4, y0 - 3, nz + z, bar);
            };
            if (t == 64) {
                bring_c(i0, 0);
                bring_c(i0 + 1, 1);
            }
            // mu0: of each warp, rows T + 2 v to T + 2 v + 3 of CW columns of packs, and half of
            // three columns beside.
            const int half = lane / 16, hl = lane % 16;
            const bool has0 = lane < CW;
            const int r0 = T + 2 * v;
            constexpr int NG = (T + 6 + 3) / 4;  // groups of four rows
            const int first = NG * v / 2, mid = first + (NG / 2) / 2, last = NG * (v + 1) / 2;
            const int group = (half ? mid : first) + hl / 3;
            const bool has1 = hl < 15 && group < (half ? last : mid);
            const int r1 = min(group * 4, T + 2), c1 = CW + hl % 3;
            const unsigned o0 = bars + 4 * (r0 * P + 2 * lane),
                           om0 = bars + 4 * (r0 * PM + 2 * lane), o1 = bars + 4 * (r1 * P + 2 * c1),
                           om1 = bars + 4 * (r1 * PM + 2 * c1);
            // mu1: rows T - 2 to T + 1 of CW columns; of the other warp the column beside.
            constexpr int NG1 = (T + 2 + 3) / 4;
            const int group1 = half * (NG1 / 2) + hl;
            const bool has2 = v == 0 ? lane < CW : group1 < (half ? NG1 : NG1 / 2);
            const int r2 = v == 0 ? T - 2 : min(group1 * 4, T - 2), c2 = v == 0 ? lane : CW;
            const unsigned o2 = bars + 4 * (r2 * P + 2 * c2), om2 = bars + 4 * (r2 * PM + 2 * c2);
            static_assert(NG % 2 == 0 && CW <= 32 && NG1 - NG1 / 2 <= 16 && NG / 2 - NG / 4 <= 5,
                          "fits");
            if (wall) {
                mbar_wait(BAR4(C::bC0, 0));
                mend(sm + C::oC0);
                mbar_arrive_warp(bars + 8 * C::bFixC);
            }
            MState<4> m0 = {}, m1 = {}, m2 = {};
            int s0 = C::o1;
            for (int i = i0, n = 0; i < i1; ++i, ++n) {
                if (wall)
                    mbar_wait(BAR2(C::bFixC, n));
                else
                    mbar_wait(BAR4(C::bC0, n));
                {
                    const unsigned c = 4 * (C::oC0 + (n & 3) * C::C0),
                                   to = 4 * (C::oMu0 + (n - 1 & 1) * C::MU0);
                    if (has0)
                        stage_m<4, P>(c + o0, m0, [&](int j, float r0, float r1) {
                            sts2(to + om0 + 4 * j * PM, r0, r1);
                        });
                    if (has1)
                        stage_m<4, P>(c + o1, m1, [&](int j, float r0, float r1) {
                            sts2(to + om1 + 4 * j * PM, r0, r1);
                        });
                }
                mbar_arrive_warp(bars + 8 * (C::bMu0 + (n & 1)));
                mbar_wait(BAR2(C::bS1, n));
                if (t == 64) {
                    if (wall) FENCE_PROXY();
                    if (i + 2 < i1) {
                        bring_c(i + 2, n + 2);
                        bring_ab(i, n);
                    }
                }
                if (wall && i + 1 < i1) {
                    mbar_wait(BAR4(C::bC0, n + 1));
                    mend(sm + C::oC0 + (n + 1 & 3) * C::C0);
                    mbar_arrive_warp(bars + 8 * (C::bFixC + (n + 1 & 1)));
                }
                mbar_wait(BAR2(C::bS2, n));
                if (has2)
                    stage_m<4, P>(o2 + 4 * (s0 + 2 * C::PL), m2, [&](int j, float r0, float r1) {
                        sts2(om2 + 4 * (C::oMu1 + j * PM), r0, r1);
                    });
                mbar_arrive_warp(bars + 8 * C::bMu1);
                s0 = s0 == C::o1 + 2 * C::SL ? C::o1 : s0 + C::SL;
            }
        }
    }
}

static float *A, *B, *R, *MU;
static float *res;
static unsigned long long *bad;
template <class F>
void bench(const char *name, F launch, int nx, int ny, int nz, int reps = 40) {
    cudaEvent_t e0, e1;
    CK(cudaEventCreate(&e0));
    CK(cudaEventCreate(&e1));
    std::vector<float> t;
    for (int r = 0; r < reps + 3; ++r) {
        CK(cudaEventRecord(e0));
        launch(r & 1 ? B : A, r & 1 ? A : B);
        CK(cudaEventRecord(e1));
        CK(cudaEventSynchronize(e1));
        float ms;
        CK(cudaEventElapsedTime(&ms, e0, e1));
        if (r >= 3) t.push_back(ms);
    }
    std::sort(t.begin(), t.end());
    const double cells = 2.0 * nx * ny * nz;
    printf("%-24s best %.1f median %.1f Gpt/s (%.4f ms)\n", name, cells / t[0] * 1e-6,
           cells / t[t.size() / 2] * 1e-6, t[t.size() / 2]);
}
void reference(int nx, int ny, int nz) {  // A -> R after two steps; B scratch
    const long long vol = (long long)nx * ny * nz;
    dim3 b(32, 8), g((nx + 31) / 32, (ny + 7) / 8, nz);
    init_field<<<1024, 256>>>(A, vol, 12345);
    naive_mu<<<g, b>>>(A + 2 * vol, MU, nx, ny, nz);
    naive_step<<<g, b>>>(A, MU, B, nx, ny, nz);
    naive_mu<<<g, b>>>(B + 2 * vol, MU, nx, ny, nz);
    naive_step<<<g, b>>>(B, MU, R, nx, ny, nz);
    CK(cudaDeviceSynchronize());
}
void check(const char *name, int nx, int ny, int nz) {
    const long long n = 3LL * nx * ny * nz;
    CK(cudaMemset(res, 0, 4));
    CK(cudaMemset(bad, 0, 8));
    compare<<<1024, 256>>>(B, R, n, res, bad);
    float h;
    unsigned long long hb;
    CK(cudaMemcpy(&h, res, 4, cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(&hb, bad, 8, cudaMemcpyDeviceToHost));
    printf("%-24s %dx%dx%d max rel err %.3g, bad %llu\n", name, nx, ny, nz, h, hb);
}
template <int NX, int NY>
void run(const char *name, int nz, int zchunks, bool time) {
    using C = Tile;
    auto k = pair<NX, NY>;
    CK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, C::BYTES));
    cudaFuncAttributes fa;
    CK(cudaFuncGetAttributes(&fa, k));
    int occ = 0;
    CK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&occ, k, C::THREADS, C::BYTES));
    printf("%s: %d regs, local %d, smem %d, blocks/SM %d\n", name, fa.numRegs,
           (int)fa.localSizeBytes, C::BYTES, occ);
    auto launch = [&](float *in, float *out) {
        CUtensorMap mc = make_map(in, NX, NY, 3LL * nz, C::P, C::RC),
                    ma = make_map(in, NX, NY, 3LL * nz, C::P, C::RA);
        dim3 g(NX / C::W, NY / C::T, zchunks);
        k<<<g, C::THREADS, C::BYTES>>>(mc, ma, out, nz, (nz + zchunks - 1) / zchunks);
        CK(cudaGetLastError());
    };
    reference(NX, NY, nz);
    CK(cudaMemset(B, 0xff, 12LL * NX * NY * nz));
    launch(A, B);
    CK(cudaDeviceSynchronize());
    check(name, NX, NY, nz);
    if (time) bench(name, launch, NX, NY, nz);
}

template <int NX, int NY>
void long_run(int nz, int total, int each) {
    using C = Tile;
    auto k = pair<NX, NY>;
    CUtensorMap mc[2], ma[2];
    float *f[2] = {A, B};
    for (int q = 0; q < 2; ++q) {
        mc[q] = make_map(f[q], NX, NY, 3LL * nz, C::P, C::RC);
        ma[q] = make_map(f[q], NX, NY, 3LL * nz, C::P, C::RA);
    }
    cudaEvent_t e0, e1;
    CK(cudaEventCreate(&e0));
    CK(cudaEventCreate(&e1));
    for (int done = 0; done < total; done += each) {
        CK(cudaEventRecord(e0));
        for (int r = 0; r < each; ++r)
            k<<<dim3(NX / C::W, NY / C::T, 1), C::THREADS, C::BYTES>>>(mc[r & 1], ma[r & 1],
                                                                       f[~r & 1], nz, nz);
        CK(cudaEventRecord(e1));
        CK(cudaEventSynchronize(e1));
        float ms;
        CK(cudaEventElapsedTime(&ms, e0, e1));
        printf("long run, passes %d to %d: %.1f Gpt/s\n", done, done + each,
               2.0 * NX * NY * nz * each / ms * 1e-6);
    }
}
int main() {
    const long long vol = 512LL * 512 * 512;
    CK(cudaMalloc(&A, 12 * vol));
    CK(cudaMalloc(&B, 12 * vol));
    CK(cudaMalloc(&R, 12 * vol));
    CK(cudaMalloc(&MU, 4 * vol));
    CK(cudaMalloc(&res, 4));
    CK(cudaMalloc(&bad, 8));
    run<128, 96>("small", 40, 1, false);
    run<128, 96>("small, 3 parts", 40, 3, false);
    run<256, 256>("256, 4 parts", 256, 4, true);
    for (int round = 0; round < 3; ++round) run<512, 512>("512", 512, 1, true);
    long_run<512, 512>(512, 2000, 250);
}
