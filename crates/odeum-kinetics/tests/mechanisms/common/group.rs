//! Reactors evaluated by groups of threads on the host device, or on a GPU.

use odeum_core::System;
use odeum_core::emit::{GroupText, Grouped, MatrixPlaces};
use odeum_cuda::host::{self, Setup};
use odeum_cuda::{Device, Gpu, Memory, REAL, Stream, argument};
use odeum_kinetics::{Kinetics, Reactor};
use std::sync::Arc;

/// Shared memory and barriers of a block.
const BLOCK: &str = r"
#ifdef __CUDACC_RTC__
#define OD_SHARED(type, name) extern __shared__ type name[]
#define OD_GROUP_BARRIER() __syncthreads()
#else
#define OD_GROUP_BARRIER() OD_LANE_BARRIER()
#endif
";
/// What a group of threads has of its surroundings, and a kernel: a state for each block.
const BEFORE: &str = r"
struct OdGroup {
    unsigned slot;
    const unsigned char *tables;
    real *memory;
};
struct OdParams {
    const real *values;
    OD_FN_MEMBER real operator[](int j) const { return values[j]; }
};
OD_FN real od_group_sum(const OdGroup &g, real x) {
    real *all = g.memory - OD_TEST_OWN;
    all[g.slot] = x;
    OD_GROUP_BARRIER();
    real sum = 0;
    for (unsigned i = 0; i < OD_WIDTH; ++i) sum = sum + all[i];
    OD_GROUP_BARRIER();
    return sum;
}
template <int COUNT> OD_FN void od_group_sums(const OdGroup &g, real (&x)[COUNT]) {
    for (int k = 0; k < COUNT; ++k) x[k] = od_group_sum(g, x[k]);
}
";
const KERNEL: &str = r#"
extern "C" __global__ void od_evaluate(
    const unsigned char *tables, const double *state, const double *param, double *slopes,
    double *slopes_too, od_entry *matrix) {
    OD_SHARED(real, memory);
    const OdGroup g = {threadIdx.x, tables, memory + OD_TEST_OWN};
    real *y = memory + OD_WIDTH, *f = y + OD_TEST_N, *p = f + OD_TEST_N;
    const unsigned first = blockIdx.x * OD_TEST_N;
    for (unsigned i = g.slot; i < OD_TEST_N; i += OD_WIDTH) y[i] = (real)state[first + i];
    if (g.slot == 0) p[0] = (real)param[blockIdx.x];
    OD_GROUP_BARRIER();
    const OdParams params = {p};
    od_group_rhs(g, 0, y, params, f);
    for (unsigned i = g.slot; i < OD_TEST_N; i += OD_WIDTH) slopes[first + i] = f[i];
#if OD_GAS_LINEARISES
    OD_GROUP_BARRIER();
    od_group_linearise(g, 0, y, params, f, matrix + (size_t)blockIdx.x * OD_GAS_PLACES);
    for (unsigned i = g.slot; i < OD_TEST_N; i += OD_WIDTH) slopes_too[first + i] = f[i];
#endif
}
"#;

/// The same of interleaved systems: lanes have a state each, and warps are so many threads of every lane.
const INTERLEAVED: &str = r"
struct OdNumbers {
    real *first;
    OD_FN_MEMBER real &operator[](unsigned i) const { return first[i * OD_INTERLEAVED]; }
    OD_FN_MEMBER real &at(unsigned place) const { return *(real *)((char *)first + place); }
    OD_FN_MEMBER OdNumbers operator+(unsigned i) const { return OdNumbers{first + i * OD_INTERLEAVED}; }
};
struct OdGroup {
    unsigned slot, warp;
    const unsigned char *tables;
    OdNumbers memory;
};
struct OdParams {
    real value;
    OD_FN_MEMBER real operator[](int) const { return value; }
};
";
const INTERLEAVED_KERNEL: &str = r#"
extern "C" __global__ void od_evaluate(
    const unsigned char *tables, const double *state, const double *param, double *slopes) {
    OD_SHARED(real, memory);
    const unsigned lane = threadIdx.x % OD_INTERLEAVED, warp = threadIdx.x / OD_INTERLEAVED;
    const OdNumbers y = {memory + lane};
    const OdGroup g = {0, warp, tables, y + OD_TEST_N};
    const unsigned s = blockIdx.x * OD_INTERLEAVED + lane, first = s * OD_TEST_N;
    for (unsigned i = warp; i < OD_TEST_N; i += OD_WARPS) y[i] = (real)state[first + i];
    OD_GROUP_BARRIER();
    real f[OD_TEST_N / OD_WARPS + 1];
    od_group_rhs(g, 0, y, OdParams{param[s]}, f);
    for (unsigned i = warp; i < OD_TEST_N; i += OD_WARPS) slopes[first + i] = f[i / OD_WARPS];
}
"#;

/// Elementary functions of the text.
const ELEMENTARY: &str = r#"
extern "C" __global__ void od_elementary(const real *x, real *exp2, real *of_several, real *log2) {
    const real value = x[blockIdx.x];
    real several[3] = {1, value, -1};
    od_gas_exp2s(several);
    exp2[blockIdx.x] = od_gas_exp2(value);
    of_several[blockIdx.x] = several[1];
    log2[blockIdx.x] = od_gas_log2(value);
}
"#;

/// Of states and of entries of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    Double,
    /// Entries of the matrix are single.
    Mixed,
    Single,
}

/// f twice, and ∂f/∂y entry by entry.
pub(crate) struct Evaluated {
    pub(crate) f: Vec<f64>,
    pub(crate) f_too: Vec<f64>,
    pub(crate) jacobian: Vec<f64>,
}

/// Entries one after the other, and `more` places that nobody uses.
pub(crate) fn places(reactor: &Reactor, more: u32) -> MatrixPlaces {
    let n = reactor.jacobian_pattern().unwrap().nnz() as u32;
    let entries = (0..n).map(|entry| entry + more).collect();
    MatrixPlaces { entries, unused: n + more, zero: n + more + 1, len: n + more + 2 }
}

/// Numbers of the kernel itself before the memory of the group, which thus ends where that of the block does: sums of all threads,
/// the state, f and the parameter.
fn own(n: usize, width: usize) -> usize {
    (width + 2 * n + 1).next_multiple_of(2)
}

/// The text of the kernel `od_evaluate`.
pub(crate) fn source(
    reactor: &Reactor,
    group: &GroupText,
    width: usize,
    precision: Precision,
) -> String {
    let entry = if precision == Precision::Double { "real" } else { "float" };
    let float = u32::from(precision == Precision::Single);
    let n = reactor.dim();
    format!(
        "#define OD_FLOAT {float}\n{REAL}\ntypedef {entry} od_entry;\n#define OD_WIDTH {width}u\n\
         #define OD_TEST_N {n}u\n#define OD_TEST_OWN {}\n{}{BLOCK}{BEFORE}{}{KERNEL}",
        own(n, width),
        group.tables.defines(),
        group.text
    )
}

/// False where there is no g++ to compile device code with.
fn is_available() -> bool {
    if !host::is_available() {
        eprintln!("SKIPPED: device code is not executed, for want of g++ on the PATH");
    }
    host::is_available()
}

/// 2^x alone, 2^x beside others, and log₂ x; `None` without a compiler.
pub(crate) fn elementary(x: &[f64]) -> Option<[Vec<f64>; 3]> {
    if !is_available() {
        return None;
    }
    let kinetics = Kinetics::new(&super::synthetic::mechanism()).unwrap();
    let reactor = Reactor::constant_pressure(Arc::new(kinetics));
    let group = reactor.group_text(1, &places(&reactor, 0), false);
    let text = source(&reactor, &group, 1, Precision::Double) + ELEMENTARY;
    let device = Setup::new(env!("CARGO_TARGET_TMPDIR")).device();
    let (stream, kernel) =
        (device.stream().unwrap(), device.compile(&text, "od_elementary").unwrap());
    let [mut given, exp2, of_several, log2] = [(); 4].map(|()| device.memory(8 * x.len()).unwrap());
    stream.write(&mut given, 0, x).unwrap();
    let addresses = [&given, &exp2, &of_several, &log2].map(|memory| memory.address());
    let mut arguments = addresses.each_ref().map(argument);
    // SAFETY: the arguments are those of the kernel, and the memory has room for a number of each block.
    unsafe { stream.launch(&kernel, [x.len(), 1, 1], [1, 1], 0, &mut arguments).unwrap() };
    Some([exp2, of_several, log2].map(|memory| {
        let mut found = vec![0.0; x.len()];
        stream.read(&memory, 0, &mut found).unwrap();
        found
    }))
}

/// f and the Jacobian at states and parameters, by groups of `width` threads; `None` without a compiler.
pub(crate) fn evaluate(
    reactor: &Reactor,
    width: usize,
    precision: Precision,
    places: &MatrixPlaces,
    states: &[(Vec<f64>, f64)],
) -> Option<Vec<Evaluated>> {
    let device = || Setup::new(env!("CARGO_TARGET_TMPDIR")).device();
    let places = Some(places);
    is_available().then(|| evaluate_on(&device(), reactor, width, precision, places, states))
}

/// f by the text of the right-hand side alone, in double precision.
pub(crate) fn slopes(
    reactor: &Reactor,
    width: usize,
    states: &[(Vec<f64>, f64)],
) -> Option<Vec<Vec<f64>>> {
    let device = || Setup::new(env!("CARGO_TARGET_TMPDIR")).device();
    let all = is_available()
        .then(|| evaluate_on(&device(), reactor, width, Precision::Double, None, states))?;
    Some(all.into_iter().map(|evaluated| evaluated.f).collect())
}

/// f by the text of interleaved systems, four of them by so many warps, in double precision.
pub(crate) fn interleaved_slopes(
    reactor: &Reactor,
    warps: usize,
    states: &[(Vec<f64>, f64)],
) -> Option<Vec<Vec<f64>>> {
    const LANES: usize = 4;
    if !is_available() {
        return None;
    }
    let (n, count) = (reactor.dim(), states.len().next_multiple_of(LANES));
    let group = reactor.interleaved_text(warps, LANES * size_of::<f64>()).unwrap();
    let text = format!(
        "#define OD_FLOAT 0\n{REAL}\ntypedef real od_entry;\n#define OD_WIDTH 1u\n\
         #define OD_INTERLEAVED {LANES}u\n#define OD_WARPS {warps}u\n#define OD_TEST_N {n}u\n\
         {}{BLOCK}{INTERLEAVED}{}{INTERLEAVED_KERNEL}",
        group.tables.defines(),
        group.text
    );
    let device = Setup::new(env!("CARGO_TARGET_TMPDIR")).device();
    let (stream, kernel) =
        (device.stream().unwrap(), device.compile(&text, "od_evaluate").unwrap());
    let mut tables = device.memory(group.tables.bytes().len()).unwrap();
    let [mut y, f] = [(); 2].map(|()| device.memory(8 * n * count).unwrap());
    let mut p = device.memory(8 * count).unwrap();
    // What fills up the last block is the last state.
    let all = || states.iter().chain(states.last().into_iter().cycle()).take(count);
    let flat: Vec<f64> = all().flat_map(|(y, _)| y.iter().copied()).collect();
    let params: Vec<f64> = all().map(|(_, p)| *p).collect();
    stream.write(&mut tables, 0, group.tables.bytes()).unwrap();
    stream.write(&mut y, 0, &flat).unwrap();
    stream.write(&mut p, 0, &params).unwrap();
    let addresses = [&tables, &y, &p, &f].map(|memory| memory.address());
    let mut arguments = addresses.each_ref().map(argument);
    let shared = LANES * (8 * n + group.memory);
    let (blocks, threads) = ([count / LANES, 1, 1], [LANES * warps, 1]);
    // SAFETY: the arguments are those of the kernel, and the memory has room for the states of each block.
    unsafe { stream.launch(&kernel, blocks, threads, shared, &mut arguments).unwrap() };
    let mut slopes = vec![0.0; n * count];
    stream.read(&f, 0, &mut slopes).unwrap();
    Some(slopes.chunks(n).take(states.len()).map(<[f64]>::to_vec).collect())
}

/// The same on the first GPU.
pub(crate) fn evaluate_on_gpu(
    reactor: &Reactor,
    width: usize,
    precision: Precision,
    places: &MatrixPlaces,
    states: &[(Vec<f64>, f64)],
) -> Option<Vec<Evaluated>> {
    Some(evaluate_on(&Gpu::open(0).unwrap(), reactor, width, precision, Some(places), states))
}

fn evaluate_on(
    device: &impl Device,
    reactor: &Reactor,
    width: usize,
    precision: Precision,
    places: Option<&MatrixPlaces>,
    states: &[(Vec<f64>, f64)],
) -> Vec<Evaluated> {
    let single = precision != Precision::Double;
    let group = match places {
        Some(places) => reactor.group_text(width, places, single),
        None => reactor.rhs_text(width),
    };
    let text = source(reactor, &group, width, precision);
    let (stream, kernel) =
        (device.stream().unwrap(), device.compile(&text, "od_evaluate").unwrap());
    let len = places.map_or(0, |places| places.len as usize);
    let (n, count) = (reactor.dim(), states.len());
    let entry = if single { 4 } else { 8 };
    let reserve = |bytes: usize| device.memory(bytes.max(16)).unwrap();
    let mut tables = reserve(group.tables.bytes().len());
    let [mut y, f, f_too] = [(); 3].map(|()| reserve(8 * n * count));
    let (mut p, matrix) = (reserve(8 * count), reserve(entry * len * count));
    let flat: Vec<f64> = states.iter().flat_map(|(y, _)| y.iter().copied()).collect();
    let params: Vec<f64> = states.iter().map(|(_, p)| *p).collect();
    stream.write(&mut tables, 0, group.tables.bytes()).unwrap();
    stream.write(&mut y, 0, &flat).unwrap();
    stream.write(&mut p, 0, &params).unwrap();
    let addresses = [&tables, &y, &p, &f, &f_too, &matrix].map(|memory| memory.address());
    let mut arguments = addresses.each_ref().map(argument);
    let shared = group.memory + 8 * own(n, width);
    // SAFETY: the arguments are those of the kernel, and the memory has room for a state of each block.
    unsafe {
        stream.launch(&kernel, [count, 1, 1], [width, 1], shared, &mut arguments).unwrap();
    }
    let mut slopes = [vec![0.0; n * count], vec![0.0; n * count]];
    stream.read(&f, 0, &mut slopes[0]).unwrap();
    stream.read(&f_too, 0, &mut slopes[1]).unwrap();
    let entries: Vec<f64> = if single {
        let mut all = vec![0.0_f32; len * count];
        stream.read(&matrix, 0, &mut all).unwrap();
        all.into_iter().map(f64::from).collect()
    } else {
        let mut all = vec![0.0; len * count];
        stream.read(&matrix, 0, &mut all).unwrap();
        all
    };
    let evaluated = |s: usize| {
        let matrix = &entries[s * len..(s + 1) * len];
        let entries = places.map_or(&[][..], |places| &places.entries);
        if let Some(places) = places {
            let used: std::collections::HashSet<u32> = entries.iter().copied().collect();
            for place in (0..places.len).filter(|p| *p != places.unused && !used.contains(p)) {
                assert_eq!(matrix[place as usize], 0.0, "place {place} of {}", places.len);
            }
        }
        Evaluated {
            f: slopes[0][s * n..(s + 1) * n].to_vec(),
            f_too: slopes[1][s * n..(s + 1) * n].to_vec(),
            jacobian: entries.iter().map(|place| -matrix[*place as usize]).collect(),
        }
    };
    (0..count).map(evaluated).collect()
}
