//! Recorded systems by groups of threads, or by one thread, on the host device, against programs of the CPU.

use crate::device_compile::nvrtc;
use odeum_core::emit::{Grouped, MatrixPlaces, straight};
use odeum_core::graph::{Node, Op};
use odeum_core::{Graph, Program, Real, Scalar, Symbol};
use odeum_cuda::host::Setup;
use odeum_cuda::{Device, Memory, REAL, Stream, argument};

/// One system for each group: states and slopes in shared memory, −∂f/∂y in its places.
const KERNEL: &str = r#"
struct OdGroup {
    unsigned slot;
    const unsigned char *tables;
    real *memory;
};
struct OdParams {
    const real *values;
    OD_FN_MEMBER real operator[](int j) const { return __ldg(values + j); }
};
#if OD_WIDTH == 1
#define OD_GROUP_BARRIER()
#elif OD_WIDTH == 32 || !defined(__CUDACC__)
#define OD_GROUP_BARRIER() OD_LANE_BARRIER()
#else
#define OD_GROUP_BARRIER() __syncthreads()
#endif
#ifndef __CUDACC__
// Of the thread that runs the block.
static __thread real od_spilled[OD_TEST_SPILLS];
OD_FN void od_spill(int k, real value) { od_spilled[k] = value; }
OD_FN real od_reload(int k) { return od_spilled[k]; }
#endif
OD_TEXT
extern "C" __global__ void od_recorded(
    const unsigned char *tables, real t, const real *states, const real *params, real *slopes,
    real *linearised, real *rates, real *matrices) {
    OD_SHARED(real, shared);
    const unsigned s = blockIdx.x;
    real *const y = shared, *const f = y + OD_TEST_STATES;
    od_entry *const matrix = (od_entry *)(f + OD_TEST_STATES);
    const OdGroup g = {threadIdx.x, tables, (real *)(matrix + (OD_TEST_MATRIX + 1) / 2 * 2)};
    const OdParams p = {params + s * OD_TEST_PARAMS};
    for (unsigned i = g.slot; i < OD_TEST_STATES; i += OD_WIDTH) y[i] = states[s * OD_TEST_STATES + i];
    OD_GROUP_BARRIER();
    od_group_rhs(g, t, y, p, f);
    for (unsigned i = g.slot; i < OD_TEST_STATES; i += OD_WIDTH) slopes[s * OD_TEST_STATES + i] = f[i];
    OD_GROUP_BARRIER();
    od_group_linearise(g, t, y, p, f, matrix);
    for (unsigned i = g.slot; i < OD_TEST_STATES; i += OD_WIDTH) {
        linearised[s * OD_TEST_STATES + i] = f[i];
    }
#if OD_GROUP_USES_TIME
    OD_GROUP_BARRIER();
    od_group_time_derivative(g, t, y, p, f);
    for (unsigned i = g.slot; i < OD_TEST_STATES; i += OD_WIDTH) rates[s * OD_TEST_STATES + i] = f[i];
#endif
    for (unsigned e = g.slot; e < OD_TEST_MATRIX; e += OD_WIDTH) {
        matrices[s * OD_TEST_MATRIX + e] = real(matrix[e]);
    }
}
"#;

/// Places for values that wait while one thread evaluates a Jacobian.
const SPILLS: usize = 60;

/// Places of a matrix with room between its entries.
fn places(nnz: usize) -> MatrixPlaces {
    let nnz = nnz as u32;
    let entries = (0..nnz).rev().map(|e| 2 * e + 1).collect();
    MatrixPlaces { entries, unused: 2 * nnz, zero: 2 * nnz + 1, len: 2 * nnz + 2 }
}

/// The text of a kernel, and the tables that it reads.
fn source<T: Scalar>(
    graph: &Graph,
    width: usize,
    places: &MatrixPlaces,
    single: bool,
) -> (String, Vec<u8>) {
    let (text, tables) = if width == 1 {
        (straight(graph, places, SPILLS), Vec::new())
    } else {
        let group = graph.group_text(width, places, single);
        (format!("{}{}", group.tables.defines(), group.text), group.tables.bytes().to_vec())
    };
    let (float, entry) = (T::NAME == "f32", if single { "float" } else { "real" });
    let text = format!(
        "#define OD_FLOAT {}\n{REAL}\ntypedef {entry} od_entry;\n#define OD_WIDTH {width}\n\
         #define OD_GROUP_USES_TIME {}\n#define OD_TEST_STATES {}u\n\
         #define OD_TEST_PARAMS {}u\n#define OD_TEST_MATRIX {}u\n\
         #define OD_TEST_SPILLS {SPILLS}\n{}",
        u8::from(float),
        u8::from(graph.uses_time()),
        graph.n_states(),
        graph.n_params(),
        places.len,
        KERNEL.replace("OD_TEXT", &text),
    );
    (text, tables)
}

/// What a group, or a thread, gives must be what programs give, within `tolerance` of the larger of value and one.
fn agrees<T: Scalar>(graph: &Graph, width: usize, single: bool, states: &[f64], tolerance: f64) {
    if !crate::host::is_available() {
        return;
    }
    let (entries, pattern) = graph.jacobian_of_changing();
    let places = places(pattern.nnz());
    let (n, m) = (graph.n_states(), graph.n_params());
    let count = states.len() / n;
    let params: Vec<f64> = (0..m * count).map(|j| 0.3 + 0.01 * j as f64).collect();
    let device = Setup::new(env!("CARGO_TARGET_TMPDIR")).device();
    let stream = device.stream().unwrap();
    let (text, tables) = source::<T>(graph, width, &places, single);
    let kernel = device.compile(&text, "od_recorded").unwrap();
    let mut blob = device.memory(tables.len().max(1)).unwrap();
    stream.write(&mut blob, 0, &tables).unwrap();
    let upload = |values: &[f64]| {
        let values: Vec<T> = values.iter().map(|&x| T::from_f64(x)).collect();
        let mut memory = device.memory((values.len() * size_of::<T>()).max(1)).unwrap();
        stream.write(&mut memory, 0, &values).unwrap();
        memory
    };
    let inputs = [upload(states), upload(&params)];
    let len = places.len as usize;
    let sizes = [n, n, n, len];
    let outputs = sizes.map(|size| upload(&vec![0.0; size * count]));
    let t = T::from_f64(0.7);
    let addresses: Vec<u64> =
        [&blob].into_iter().chain(&inputs).chain(&outputs).map(Memory::address).collect();
    let mut arguments: Vec<_> = addresses.iter().map(argument).collect();
    arguments.insert(1, argument(&t));
    // SAFETY: the arguments are those of the kernel, and all memory lives until its results are read.
    unsafe { stream.launch(&kernel, [count, 1, 1], [width, 1], 0, &mut arguments).unwrap() };
    let [slopes, linearised, rates, matrices] = [0, 1, 2, 3].map(|k: usize| {
        let mut values = vec![T::from_f64(0.0); sizes[k] * count];
        stream.read(&outputs[k], 0, &mut values).unwrap();
        values
    });
    let near = |found: T, wanted: f64, tolerance: f64, what: &str| {
        let found = found.to_f64();
        let same = found == wanted || found.is_nan() && wanted.is_nan();
        let error = (found - wanted).abs() / wanted.abs().max(1.0);
        assert!(same || error <= tolerance, "{what}: {found:e} instead of {wanted:e}");
    };
    let entry_tolerance = if single { tolerance.max(1e-6) } else { tolerance };
    for s in 0..count {
        let (y, p) = (&states[s * n..][..n], &params[s * m..][..m]);
        let (mut f, mut rate) = (vec![0.0; n], vec![0.0; n]);
        let mut jacobian = vec![0.0; pattern.nnz()];
        Program::new(graph).run_alone(0.7, y, p, &mut f);
        Program::new(&entries).run_alone(0.7, y, p, &mut jacobian);
        Program::new(&graph.time_derivative()).run_alone(0.7, y, p, &mut rate);
        for i in 0..n {
            near(rates[s * n + i], rate[i], tolerance, &format!("time derivative {i}"));
            near(slopes[s * n + i], f[i], tolerance, &format!("f {i}"));
            near(linearised[s * n + i], f[i], tolerance, &format!("f {i} with J"));
        }
        let mut wanted = vec![None; len];
        // A group writes zero elsewhere; what fills its rows up goes where nobody reads it.
        if width > 1 {
            wanted.fill(Some(0.0));
            wanted[places.unused as usize] = None;
        }
        for (e, &place) in places.entries.iter().enumerate() {
            wanted[place as usize] = Some(-jacobian[e]);
        }
        let wanted = wanted.into_iter().enumerate();
        for (place, wanted) in wanted.filter_map(|(place, wanted)| Some((place, wanted?))) {
            near(matrices[s * len + place], wanted, entry_tolerance, &format!("place {place}"));
        }
    }
}

/// States of `count` systems in (0.1, 0.9).
fn states(n: usize, count: usize) -> Vec<f64> {
    (0..n * count).map(|k| 0.1 + 0.8 * ((k * 617 + 31) % 1000) as f64 / 1000.0).collect()
}

/// Every operation that there is.
fn every_operation() -> Graph {
    let graph = Graph::record(6, 2, |t, y, p| {
        let two = Symbol::lit(2.0);
        let functions: [fn(Symbol) -> Symbol; 18] = [
            |x| x.recip(),
            |x| x.rsqrt(),
            |x| x.sqrt(),
            |x| x.cbrt(),
            |x| x.abs(),
            |x| x.floor(),
            |x| x.exp(),
            |x| x.ln(),
            |x| x.sin(),
            |x| x.cos(),
            |x| x.tan(),
            |x| x.asin(),
            |x| x.acos(),
            |x| x.atan(),
            |x| x.sinh(),
            |x| x.cosh(),
            |x| x.tanh(),
            |x| -x,
        ];
        let sum = functions.iter().zip(0..).fold(t, |sum, (f, k)| sum + f(y[k % 6]).abs());
        let low = y[0].lt(y[1]) & y[2].le(two * y[3]);
        let other = !y[4].eq(y[5]) | y[1].lt(p[0]);
        vec![
            sum,
            y[0] * y[1] + y[2],
            y[0] * y[3] - y[2],
            y[3] - y[4] * y[5] + p[1].powf(y[0]) / y[2],
            Symbol::select(low, y[0] * y[1] * y[2], y[3] - y[4]) + y[1].min(y[2]) + y[0].max(p[0]),
            Symbol::select(other, y[0].powi(5), -(y[1] + y[2]) / y[3]) * y[5].powi(-3) + t * p[0],
        ]
    });
    let fused = graph.fused();
    for op in Op::ALL {
        let occurs = fused.nodes().iter().any(|node| matches!(node, Node::Op(o, _) if o == op));
        assert!(occurs, "{op:?} does not occur");
    }
    graph
}

#[test]
fn every_operation_agrees() {
    let graph = every_operation();
    agrees::<f64>(&graph, 32, false, &states(6, 9), 1e-14);
    agrees::<f64>(&graph, 64, true, &states(6, 3), 1e-14);
    agrees::<f32>(&graph, 32, false, &states(6, 3), 3e-5);
    agrees::<f64>(&graph, 1, false, &states(6, 9), 1e-14);
    agrees::<f64>(&graph, 1, true, &states(6, 3), 1e-14);
    agrees::<f32>(&graph, 1, false, &states(6, 3), 3e-5);
}

#[test]
fn values_that_one_thread_spills_come_back() {
    // All exponentials are wanted again after the last one, and by the Jacobian.
    let graph = Graph::record(2, 1, |_, y, p| {
        let term = |k: usize| (Symbol::lit(0.01 * k as f64) * y[0] - p[0]).exp();
        let terms: Vec<Symbol> = (0..140).map(term).collect();
        let product = terms.iter().fold(y[1], |x, &term| x * term + y[0]);
        vec![terms.iter().rev().fold(product, |x, &term| x * term + term), product]
    });
    let text = straight(&graph, &places(graph.jacobian_of_changing().1.nnz()), SPILLS);
    let count = |what: &str| text.matches(what).count();
    assert!(count("od_spill(") > 30 && count("od_reload(") >= count("od_spill("), "{text}");
    agrees::<f64>(&graph, 1, false, &states(2, 9), 1e-13);
}

#[test]
fn published_problems_agree() {
    use odeum_ode::problems::{Brusselator1d, Pollu, Robertson};
    let brusselator = Graph::trace(&Brusselator1d::default());
    agrees::<f64>(&brusselator, 32, false, &states(brusselator.n_states(), 2), 1e-13);
    agrees::<f64>(&brusselator, 128, false, &states(brusselator.n_states(), 2), 1e-13);
    for width in [1, 32] {
        agrees::<f64>(&Graph::trace(&Pollu), width, false, &states(20, 2), 1e-13);
        agrees::<f64>(&Graph::trace(&Robertson), width, false, &states(3, 2), 1e-13);
    }
}

/// More constants than 15 bits can count.
#[test]
fn large_systems_have_wide_tables() {
    let graph = Graph::record(400, 0, |_, y, _| {
        let term =
            |i: usize, k: usize| y[(i + 31 * k) % 400] * Symbol::lit(1.0 + (100 * i + k) as f64);
        (0..400).map(|i| (1..90).fold(term(i, 0), |sum, k| sum + term(i, k))).collect()
    });
    let group = graph.group_text(128, &places(graph.jacobian_of_changing().1.nnz()), false);
    assert!(group.tables.defines().contains("#define OD_TAPE_WIDE 1u"));
    // Matrices of the test lie in shared memory: the graph without most of its terms.
    let few = Graph::record(400, 0, |_, y, _| {
        let all = (0..33_000).fold(y[0], |sum, k| sum * Symbol::lit(1.0 + f64::from(k) * 1e-9));
        (0..400).map(|i| if i == 0 { all } else { y[i] * y[i - 1] }).collect()
    });
    let places = places(few.jacobian_of_changing().1.nnz());
    assert!(few.group_text(128, &places, false).tables.defines().contains("OD_TAPE_WIDE 1u"));
    agrees::<f64>(&few, 128, false, &states(400, 1), 1e-9);
}

/// Machine code for an H200: of groups, of a text that does not grow with the graph; of a thread, with everything in
/// registers that is not in the kernel's shared memory.
#[test]
fn recorded_kernels_compile() {
    const CUDA: &str = include_str!("../../src/gpu/device/cuda.cuh");
    let text = |graph: &Graph, width: usize| {
        let places = places(graph.jacobian_of_changing().1.nnz());
        format!("{CUDA}{}", source::<f64>(graph, width, &places, false).0)
    };
    let (every, pollu) = (every_operation(), Graph::trace(&odeum_ode::problems::Pollu));
    for (graph, width) in [(&every, 32), (&every, 128), (&pollu, 1)] {
        let text = text(graph, width);
        let Some(resources) = nvrtc::resources("recorded", "od_recorded", &text) else {
            return;
        };
        assert_eq!(resources.spill_stores + resources.spill_loads, 0);
        assert!(width > 1 || resources.stack == 0, "{resources:?}");
    }
    // Sines of the library have doubles of their own.
    let places = self::places(pollu.jacobian_of_changing().1.nnz());
    for width in [1, 32] {
        let text = format!("{CUDA}{}", source::<f32>(&pollu, width, &places, false).0);
        nvrtc::single("recorded", "od_recorded", &text);
    }
}
