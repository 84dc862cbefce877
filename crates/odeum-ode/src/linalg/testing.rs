//! Device text of linear algebra on the host device against lanes of the CPU: what the tests of all widths share.

use super::{Complex, Entry, Factor, GROUP_LU, GroupLu, Lu, Pivots, Solve, StraightLu, Symbolic};
use odeum_core::emit::MatrixPlaces;
use odeum_core::{Pattern, Real, Scalar};
use odeum_cuda::host::{self, Setup};
use odeum_cuda::{Device, Memory, REAL, Resources, Stream, argument};

const CUDA: &str = include_str!("../gpu/device/cuda.cuh");
const KERNEL: &str = include_str!("testing.cuh");

/// Numbers in (−1, 1) that look random.
pub(super) struct Noise(pub(super) u64);

impl Noise {
    pub(super) fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.draw() + 1.0) * 0.5 * n as f64) as usize % n
    }
}

/// Each equation couples to some `per_row` others.
pub(super) fn sparse(n: usize, per_row: usize) -> Pattern {
    let mut noise = Noise(n as u64);
    let rows: Vec<Vec<usize>> =
        (0..n).map(|_| (0..per_row).map(|_| noise.below(n)).collect()).collect();
    Pattern::from_rows(n, &rows)
}

/// The first equation and unknown are coupled to all.
pub(super) fn arrow(n: usize) -> Pattern {
    let row = |i: usize| if i == 0 { (0..n).collect() } else { vec![0, i] };
    Pattern::from_rows(n, &(0..n).map(row).collect::<Vec<_>>())
}

/// As of a mechanism: reactions couple two to four species, some of which take part in many; the last two unknowns
/// are coupled to all.
pub(super) fn mechanism(species: usize, reactions: usize) -> Pattern {
    let (mut noise, n) = (Noise(3), species + 2);
    let mut rows = vec![vec![species, species + 1]; species];
    for _ in 0..reactions {
        let mut draw = || ((noise.draw() * noise.draw()).abs() * species as f64) as usize;
        let members = [draw(), draw(), draw(), draw()];
        members.iter().for_each(|&i| rows[i].extend(members));
    }
    rows.extend(vec![(0..n).collect(); 2]);
    Pattern::from_rows(n, &rows)
}

/// How a kernel is built.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) width: usize,
    /// Entries of single precision.
    pub(super) single: bool,
    /// All of single precision.
    pub(super) float: bool,
    pub(super) complex: bool,
    /// Matrices in global memory.
    pub(super) global: bool,
}

pub(super) const KIND: Kind =
    Kind { width: 32, single: false, float: false, complex: false, global: false };

impl Kind {
    /// Size of an entry [bytes].
    pub(super) fn entry(&self) -> usize {
        let real = if self.single || self.float { 4 } else { 8 };
        if self.complex { 2 * real } else { real }
    }

    fn plan(&self, pattern: &Pattern) -> Plan {
        if self.width == 1 {
            let lu = StraightLu::new(pattern, &[]);
            // The kernel knows it.
            assert!(lu.places().entries.iter().copied().eq(0..pattern.nnz() as u32));
            let (text, numbers) = (lu.text(), lu.numbers());
            return Plan { text, tables: Vec::new(), places: lu.places().clone(), numbers };
        }
        let lu = GroupLu::new(pattern, self.width, self.entry());
        let tables = lu.tables();
        Plan {
            text: format!("{}{GROUP_LU}", tables.defines()),
            tables: tables.bytes().to_vec(),
            places: lu.places().clone(),
            numbers: lu.numbers(),
        }
    }

    fn source(&self, pattern: &Pattern, plan: &Plan) -> String {
        let entry = if self.single || self.float { "float" } else { "double" };
        let Kind { float, complex, global, .. } = self;
        format!(
            "#define OD_FLOAT {}\n{REAL}\ntypedef {entry} od_entry;\n#define OD_WIDTH {}\n\
             #define OD_TEST_N {}\n#define OD_TEST_JACOBIAN {}u\n\
             #define OD_TEST_COMPLEX {}\n#define OD_TEST_GLOBAL {}\n{}",
            u8::from(*float),
            self.width,
            pattern.rows(),
            pattern.nnz(),
            u8::from(*complex),
            u8::from(*global),
            KERNEL.replace("OD_LU_TEXT", &plan.text)
        )
    }

    /// What machine code for an H200 takes; `None` without a compiler.
    pub(super) fn resources(&self, pattern: &Pattern) -> Option<Resources> {
        let source = format!("{CUDA}{}", self.source(pattern, &self.plan(pattern)));
        match odeum_cuda::check("od_lu_test", &source, "sm_90a") {
            Ok((resources, _)) => {
                println!("{self:?}, {} equations: {resources:?}", pattern.rows());
                Some(resources)
            }
            Err(error @ odeum_core::Error::Device { .. }) => {
                assert!(std::env::var_os("ODEUM_NEED_NVRTC").is_none(), "{error}");
                eprintln!("SKIPPED: {error}");
                None
            }
            Err(error) => panic!("{self:?}: {error}"),
        }
    }
}

/// How matrices of a pattern are factored.
struct Plan {
    text: String,
    tables: Vec<u8>,
    places: MatrixPlaces,
    /// Row of each unknown in the order of elimination [n].
    numbers: Vec<usize>,
}

/// A matrix σI − J with a right-hand side; imaginary parts are of complex matrices alone.
#[derive(Clone)]
pub(super) struct System {
    pub(super) jacobian: Vec<f64>,
    pub(super) shift: [f64; 2],
    pub(super) rhs: Vec<[f64; 2]>,
}

/// What a kernel gives for a system.
pub(super) struct Found {
    /// The solution [n].
    pub(super) x: Vec<[f64; 2]>,
    pub(super) valid: bool,
    pub(super) growth: f64,
    /// J by the real part of the right-hand side [n].
    pub(super) product: Vec<f64>,
}

/// Systems by a kernel; `None` without g++.
pub(super) fn solve(pattern: &Pattern, kind: &Kind, systems: &[System]) -> Option<Vec<Found>> {
    if !host::is_available() {
        eprintln!("SKIPPED: device code is not executed, for want of g++ on the PATH");
        return None;
    }
    Some(if kind.float {
        run::<f32>(pattern, kind, systems)
    } else {
        run::<f64>(pattern, kind, systems)
    })
}

fn run<T: Scalar>(pattern: &Pattern, kind: &Kind, systems: &[System]) -> Vec<Found> {
    let plan = kind.plan(pattern);
    let (n, count) = (pattern.rows(), systems.len());
    let device = Setup::new(std::env::temp_dir().join("odeum-device-lu")).device();
    let stream = device.stream().unwrap();
    let kernel = device.compile(&kind.source(pattern, &plan), "od_lu_test").unwrap();
    let upload = |values: &[f64]| {
        let values: Vec<T> = values.iter().map(|&x| T::from_f64(x)).collect();
        let mut memory = device.memory((values.len() * size_of::<T>()).max(1)).unwrap();
        stream.write(&mut memory, 0, &values).unwrap();
        memory
    };
    let all =
        |of: &dyn Fn(&System) -> Vec<f64>| -> Vec<f64> { systems.iter().flat_map(of).collect() };
    let inputs = [
        upload(&all(&|s| s.jacobian.clone())),
        upload(&all(&|s| s.shift.to_vec())),
        upload(&all(&|s| s.rhs.as_flattened().to_vec())),
    ];
    let mut blob = device.memory(plan.tables.len().max(1)).unwrap();
    stream.write(&mut blob, 0, &plan.tables).unwrap();
    let mut places = device.memory(4 * pattern.nnz().max(1)).unwrap();
    stream.write(&mut places, 0, &plan.places.entries).unwrap();
    let sizes = [2 * n, 2, n];
    let outputs = sizes.map(|size| upload(&vec![0.0; size * count]));
    let entries = (plan.places.len as usize).next_multiple_of(4) * count;
    let matrices = [8, 16].map(|bytes| device.memory(bytes * entries).unwrap());
    let addresses = [&blob, &places].into_iter().chain(&inputs).chain(&outputs).chain(&matrices);
    let addresses: Vec<u64> = addresses.map(Memory::address).collect();
    let systems = count as u32;
    let mut arguments: Vec<_> =
        addresses.iter().map(argument).chain([argument(&systems)]).collect();
    let groups = (64 / kind.width).max(1);
    let blocks = [count.div_ceil(groups), 1, 1];
    // SAFETY: the arguments are those of the kernel, and all memory lives until its results are read.
    unsafe {
        stream.launch(&kernel, blocks, [groups * kind.width, 1], 0, &mut arguments).unwrap();
    }
    let [x, told, products] = [0, 1, 2].map(|k: usize| {
        let mut values = vec![T::from_f64(0.0); sizes[k] * count];
        stream.read(&outputs[k], 0, &mut values).unwrap();
        values.iter().map(|x| x.to_f64()).collect::<Vec<f64>>()
    });
    let of = |s: usize| Found {
        x: x[2 * n * s..2 * n * (s + 1)].as_chunks().0.to_vec(),
        valid: told[2 * s] != 0.0,
        growth: told[2 * s + 1],
        product: products[n * s..n * (s + 1)].to_vec(),
    };
    (0..count).map(of).collect()
}

/// Systems whose diagonal outweighs the rest.
pub(super) fn dominant(pattern: &Pattern, count: usize) -> Vec<System> {
    let mut noise = Noise(11);
    let n = pattern.rows();
    let size = (0..n).map(|i| pattern.row(i).len()).max().unwrap_or(0) as f64;
    (0..count)
        .map(|_| System {
            jacobian: (0..pattern.nnz()).map(|_| noise.draw()).collect(),
            shift: [2.0 + size, 3.0],
            rhs: (0..n).map(|_| [noise.draw(), noise.draw()]).collect(),
        })
        .collect()
}

/// The largest residual of σx − Jx = b over the sizes of its terms.
pub(super) fn residual(pattern: &Pattern, system: &System, complex: bool, x: &[[f64; 2]]) -> f64 {
    let to = |[re, im]: [f64; 2]| Complex { re, im: if complex { im } else { 0.0 } };
    let (shift, size) = (to(system.shift), |x: Complex<f64>| Entry::<f64>::size(x));
    let mut worst = 0.0_f64;
    for i in 0..pattern.rows() {
        let own = shift.mul(to(x[i]));
        let mut left = own.minus_product(to([1.0, 0.0]), to(system.rhs[i]));
        let mut terms = size(own) + size(to(system.rhs[i]));
        for (e, &j) in (pattern.row_start(i)..).zip(pattern.row(i)) {
            let term = Complex { re: system.jacobian[e], im: 0.0 }.mul(to(x[j]));
            left = left.minus_product(to([1.0, 0.0]), term);
            terms += size(term);
        }
        worst = worst.max(size(left) / terms);
    }
    worst
}

/// The largest difference of a product with J from its definition over the sizes of its terms.
fn product_error(pattern: &Pattern, system: &System, product: &[f64]) -> f64 {
    let mut worst = 0.0_f64;
    for i in 0..pattern.rows() {
        let (mut left, mut terms) = (product[i], product[i].abs());
        for (e, &j) in (pattern.row_start(i)..).zip(pattern.row(i)) {
            let term = system.jacobian[e] * system.rhs[j][0];
            left -= term;
            terms += term.abs();
        }
        // Where there are no terms the product is zero.
        worst = worst.max(left.abs() / terms.max(f64::MIN_POSITIVE));
    }
    worst
}

/// Solves systems by a kernel, multiplies with their Jacobians and watches their pivots.
pub(super) fn check(pattern: &Pattern, kind: &Kind, count: usize) {
    let systems = dominant(pattern, count);
    let Some(found) = solve(pattern, kind, &systems) else { return };
    let limit = if kind.single || kind.float { 1e-5 } else { 1e-13 };
    for (system, found) in systems.iter().zip(&found) {
        let Found { x, valid, growth, product } = found;
        let residual = residual(pattern, system, kind.complex, x);
        assert!(*valid && residual < limit, "{} {kind:?}: {valid} {residual:e}", pattern.rows());
        let product_error = product_error(pattern, system, product);
        assert!(product_error < 0.1 * limit, "{} {kind:?}: {product_error:e}", pattern.rows());
        if kind.complex {
            // Zero less rounding.
            assert!((-1e-4..=0.0).contains(growth), "{growth}");
            continue;
        }
        // On the CPU, where the order is another one.
        let reference = on_processor(pattern, system);
        let difference = x.iter().zip(&reference.0).map(|(a, b)| (a[0] - b).abs());
        let size = reference.0.iter().map(|b| b.abs()).fold(0.0, f64::max);
        assert!(difference.fold(0.0, f64::max) < 100.0 * limit * size);
        let (valid, growth_there) = in_order(pattern, kind, system);
        assert!(valid && (growth - growth_there).abs() < 10.0 * limit + 1e-12, "{growth}");
    }
    // Neither repetition nor neighbours change a bit.
    let mut shuffled = systems.clone();
    shuffled.rotate_left(1);
    let mut again = solve(pattern, kind, &shuffled).unwrap();
    again.rotate_right(1);
    let bits = |found: &[Found]| -> Vec<u64> {
        let numbers = found.iter().flat_map(|found| {
            found.x.as_flattened().iter().chain(&found.product).chain([&found.growth])
        });
        numbers.map(|x| x.to_bits()).collect()
    };
    assert_eq!(bits(&found), bits(&again));
}

/// The solution of a real matrix by lanes of the CPU, in their own order, and what the pivots tell.
pub(super) fn on_processor(pattern: &Pattern, system: &System) -> (Vec<f64>, bool, f64) {
    let symbolic = Symbolic::new(pattern);
    let mut lu = Lu::<f64, f64>::new(&symbolic);
    let mut pivots = Pivots::none();
    f64::outline(Factor {
        symbolic: &symbolic,
        lu: &mut lu,
        jacobian: &system.jacobian,
        shift: system.shift[0],
        pivots: &mut pivots,
    });
    let mut x: Vec<f64> = system.rhs.iter().map(|b| b[0]).collect();
    f64::outline(Solve { symbolic: &symbolic, lu: &mut lu, x: &mut x });
    (x, pivots.valid, pivots.growth)
}

/// A row of U.
pub(super) struct Row {
    pub(super) pivot: f64,
    /// Size of its entries.
    grown: f64,
    /// That of the same row of the matrix.
    size: f64,
}

/// Dense elimination in the order of a kind: of each unknown the row of its pivot \[n\].
pub(super) fn rows_in_order(pattern: &Pattern, kind: &Kind, system: &System) -> Vec<Row> {
    let numbers = kind.plan(pattern).numbers;
    let (n, sigma) = (pattern.rows(), system.shift[0]);
    let mut a = vec![vec![0.0; n]; n];
    let mut sizes = vec![sigma.abs(); n];
    for (e, (i, j)) in pattern.iter().enumerate() {
        let [i, j] = [i, j].map(|k| numbers[k]);
        a[i][j] = -system.jacobian[e];
        sizes[i] += a[i][j].abs();
    }
    (0..n).for_each(|i| a[i][i] += sigma);
    for k in 0..n {
        let row = a[k].clone();
        for below in &mut a[k + 1..] {
            let factor = below[k] / row[k];
            (k..n).for_each(|j| below[j] -= factor * row[j]);
        }
    }
    let row = |&k: &usize| {
        let grown = a[k][k..].iter().map(|x| x.abs()).sum();
        Row { pivot: a[k][k], grown, size: sizes[k] }
    };
    numbers.iter().map(row).collect()
}

/// What the pivots of dense elimination in the order of a kind tell: the definition.
pub(super) fn in_order(pattern: &Pattern, kind: &Kind, system: &System) -> (bool, f64) {
    let sigma = system.shift[0];
    let (mut valid, mut growth) = (true, f64::NEG_INFINITY);
    for Row { pivot, grown, size } in rows_in_order(pattern, kind, system) {
        valid &= grown <= size / f64::EPSILON.sqrt() && pivot.recip().is_finite();
        growth = growth.max(1.0 - pivot / sigma - 16.0 * f64::EPSILON * size / sigma.abs());
    }
    (valid, growth)
}

/// The pivots of σI − J for dense matrices, whose order is that of the CPU.
fn told(shift: f64, jacobian: &[&[f64]], kind: &Kind) -> Option<[(bool, f64); 2]> {
    let n = jacobian.len();
    let pattern = Pattern::dense(n, n);
    let system =
        System { jacobian: jacobian.concat(), shift: [shift, 0.0], rhs: vec![[1.0, 0.0]; n] };
    let (_, valid, growth) = on_processor(&pattern, &system);
    let found = solve(&pattern, kind, &[system.clone(), system])?;
    assert_eq!(
        (found[0].valid, found[0].growth.to_bits()),
        (found[1].valid, found[1].growth.to_bits())
    );
    Some([(found[0].valid, found[0].growth), (valid, growth)])
}

/// Of sound and of unsound pivots, and of such that grow.
pub(super) fn check_pivots(kinds: &[Kind]) {
    let cases: [(f64, &[&[f64]]); 11] = [
        (0.0, &[&[-1.0, -2.0], &[-3.0, -4.0]]),
        (0.0, &[&[0.0, -1.0], &[-1.0, 0.0]]),
        (0.0, &[&[-1.0, -2.0], &[-2.0, -4.0]]),
        (0.0, &[&[-1e-12, -1.0], &[-1.0, -1.0]]),
        (0.0, &[&[f64::NAN, -1.0], &[-1.0, -1.0]]),
        (0.0, &[&[0.0]]),
        (4.0, &[&[-1.0, 0.0], &[0.0, 3.0]]),
        (4.0, &[&[-1.0, 0.0], &[0.0, -3.0]]),
        (0.9, &[&[-1.0, 2.0], &[2.0, -1.0]]),
        (-4.0, &[&[-3.0]]),
        (1.0, &[&[-1e17, 1e17], &[1e17, -1e17]]),
    ];
    for (shift, jacobian) in cases {
        for kind in kinds {
            let Some([found, expected]) = told(shift, jacobian, kind) else { return };
            assert_eq!(found.0, expected.0, "{jacobian:?}");
            let near = (found.1 - expected.1).abs() <= 1e-6 * expected.1.abs().max(1.0);
            assert!(!found.0 || near || shift == 0.0, "{jacobian:?}: {found:?} {expected:?}");
        }
    }
    // Roundings are of the sizes of J and σ, whose difference is smaller. All numbers are exact.
    for kind in kinds {
        let Some([found, expected]) = told(1.0, &[&[0.75]], kind) else { return };
        assert_eq!((found, found.1), (expected, 0.75 - 16.0 * f64::EPSILON * 1.75));
    }
}
