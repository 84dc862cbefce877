//! Groups of threads on the host device against lanes of the processor.

use super::super::{Complex, Entry, Factor, Lu, Pivots, Solve, Symbolic};
use super::*;
use odeum_core::{Real, Scalar};
use odeum_cuda::host::{self, Setup};
use odeum_cuda::{Device, Memory, REAL, Stream, argument};

const KERNEL: &str = include_str!("tests.cuh");

/// Numbers in (−1, 1) that look random.
struct Noise(u64);

impl Noise {
    fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.draw() + 1.0) * 0.5 * n as f64) as usize % n
    }
}

/// Each equation couples to some `per_row` others.
fn sparse(n: usize, per_row: usize) -> Pattern {
    let mut noise = Noise(n as u64);
    let rows: Vec<Vec<usize>> =
        (0..n).map(|_| (0..per_row).map(|_| noise.below(n)).collect()).collect();
    Pattern::from_rows(n, &rows)
}

/// The first equation and unknown are coupled to all.
fn arrow(n: usize) -> Pattern {
    let row = |i: usize| if i == 0 { (0..n).collect() } else { vec![0, i] };
    Pattern::from_rows(n, &(0..n).map(row).collect::<Vec<_>>())
}

/// As of a mechanism: reactions couple two to four species, some of which take part in many; the last two unknowns
/// are coupled to all.
fn mechanism(species: usize, reactions: usize) -> Pattern {
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
struct Kind {
    width: usize,
    /// Entries of single precision.
    single: bool,
    /// All of single precision.
    float: bool,
    complex: bool,
    /// Matrices in global memory.
    global: bool,
}

const KIND: Kind = Kind { width: 32, single: false, float: false, complex: false, global: false };

impl Kind {
    /// Size of an entry [bytes].
    fn entry(&self) -> usize {
        let real = if self.single || self.float { 4 } else { 8 };
        if self.complex { 2 * real } else { real }
    }

    fn source(&self, lu: &GroupLu) -> String {
        let entry = if self.single || self.float { "float" } else { "double" };
        let Kind { float, complex, global, .. } = self;
        format!(
            "#define OD_FLOAT {}\n{REAL}\ntypedef {entry} od_entry;\n#define OD_WIDTH {}\n{}\
             #define OD_TEST_COMPLEX {}\n#define OD_TEST_GLOBAL {}\n{}",
            u8::from(*float),
            self.width,
            lu.tables().defines(),
            u8::from(*complex),
            u8::from(*global),
            KERNEL.replace("OD_LU_TEXT", GROUP_LU)
        )
    }
}

/// A matrix σI − J with a right-hand side; imaginary parts are of complex matrices alone.
#[derive(Clone)]
struct System {
    jacobian: Vec<f64>,
    shift: [f64; 2],
    rhs: Vec<[f64; 2]>,
}

/// The solution [n], whether the pivots are valid, and their growth.
type Found = (Vec<[f64; 2]>, bool, f64);

/// Systems by a kernel; `None` without g++.
fn solve(pattern: &Pattern, kind: &Kind, systems: &[System]) -> Option<Vec<Found>> {
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
    let lu = GroupLu::new(pattern, kind.width, kind.entry());
    let (n, count) = (pattern.rows(), systems.len());
    let device = Setup::new(std::env::temp_dir().join("odeum-group-lu")).device();
    let (stream, kernel) =
        (device.stream().unwrap(), device.compile(&kind.source(&lu), "od_lu_test").unwrap());
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
    let tables = lu.tables();
    let mut blob = device.memory(tables.bytes().len()).unwrap();
    stream.write(&mut blob, 0, tables.bytes()).unwrap();
    let mut places = device.memory(4 * pattern.nnz().max(1)).unwrap();
    stream.write(&mut places, 0, &lu.places().entries).unwrap();
    let outputs = [upload(&vec![0.0; 2 * n * count]), upload(&vec![0.0; 2 * count])];
    let entries = (lu.places().len as usize).next_multiple_of(4) * count;
    let matrices = [8, 16].map(|bytes| device.memory(bytes * entries).unwrap());
    let addresses = [&blob, &places].into_iter().chain(&inputs).chain(&outputs).chain(&matrices);
    let addresses: Vec<u64> = addresses.map(Memory::address).collect();
    let numbers = [count, pattern.nnz(), n].map(|x| x as u32);
    let mut arguments: Vec<_> =
        addresses.iter().map(argument).chain(numbers.iter().map(argument)).collect();
    let groups = if kind.width == 32 { 2 } else { 1 };
    let blocks = [count.div_ceil(groups), 1, 1];
    // SAFETY: the arguments are those of the kernel, and all memory lives until its results are read.
    unsafe {
        stream.launch(&kernel, blocks, [groups * kind.width, 1], 0, &mut arguments).unwrap();
    }
    let (mut x, mut told) =
        (vec![T::from_f64(0.0); 2 * n * count], vec![T::from_f64(0.0); 2 * count]);
    stream.read(&outputs[0], 0, &mut x).unwrap();
    stream.read(&outputs[1], 0, &mut told).unwrap();
    let solution = |s: usize| {
        x[2 * n * s..2 * n * (s + 1)].chunks(2).map(|x| [x[0].to_f64(), x[1].to_f64()]).collect()
    };
    (0..count)
        .map(|s| (solution(s), told[2 * s].to_f64() != 0.0, told[2 * s + 1].to_f64()))
        .collect()
}

/// Systems whose diagonal outweighs the rest.
fn dominant(pattern: &Pattern, count: usize) -> Vec<System> {
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
fn residual(pattern: &Pattern, system: &System, complex: bool, x: &[[f64; 2]]) -> f64 {
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

fn check(pattern: &Pattern, kind: &Kind, count: usize) {
    let systems = dominant(pattern, count);
    let Some(found) = solve(pattern, kind, &systems) else { return };
    let limit = if kind.single || kind.float { 1e-5 } else { 1e-13 };
    for (system, (x, valid, growth)) in systems.iter().zip(&found) {
        let residual = residual(pattern, system, kind.complex, x);
        assert!(*valid && residual < limit, "{} {kind:?}: {valid} {residual:e}", pattern.rows());
        if kind.complex {
            // Zero less rounding.
            assert!((-1e-4..=0.0).contains(growth), "{growth}");
            continue;
        }
        // On the processor, where the order is another one.
        let reference = on_processor(pattern, system);
        let difference = x.iter().zip(&reference.0).map(|(a, b)| (a[0] - b[0]).abs());
        let size = reference.0.iter().map(|b| b[0].abs()).fold(0.0, f64::max);
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
        let numbers =
            found.iter().flat_map(|(x, _, growth)| x.as_flattened().iter().chain([growth]));
        numbers.map(|x| x.to_bits()).collect()
    };
    assert_eq!(bits(&found), bits(&again));
}

/// By the processor's own order.
fn on_processor(pattern: &Pattern, system: &System) -> Found {
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
    (x.iter().map(|&x| [x, 0.0]).collect(), pivots.valid, pivots.growth)
}

/// What the pivots of dense elimination in the group's order tell: the definition.
fn in_order(pattern: &Pattern, kind: &Kind, system: &System) -> (bool, f64) {
    let factors = Factors::new(pattern, kind.width, kind.entry());
    let (n, sigma) = (pattern.rows(), system.shift[0]);
    let mut a = vec![vec![0.0; n]; n];
    let mut sizes = vec![sigma.abs(); n];
    for (e, (i, j)) in pattern.iter().enumerate() {
        let [i, j] = [i, j].map(|k| factors.number[k] as usize);
        a[i][j] = -system.jacobian[e];
        sizes[i] += a[i][j].abs();
    }
    let (mut valid, mut growth) = (true, f64::NEG_INFINITY);
    (0..n).for_each(|i| a[i][i] += sigma);
    for k in 0..n {
        let row = a[k].clone();
        for below in &mut a[k + 1..] {
            let factor = below[k] / row[k];
            (k..n).for_each(|j| below[j] -= factor * row[j]);
        }
        let grown: f64 = row[k..].iter().map(|x| x.abs()).sum();
        valid &= grown <= sizes[k] / f64::EPSILON.sqrt() && row[k].recip().is_finite();
        growth = growth.max(1.0 - row[k] / sigma - 16.0 * f64::EPSILON * sizes[k] / sigma.abs());
    }
    (valid, growth)
}

#[test]
fn solutions_satisfy_their_equations() {
    let patterns = [1, 2, 5, 20, 32]
        .map(|n| Pattern::dense(n, n))
        .into_iter()
        .chain([sparse(5, 2), sparse(33, 3)]);
    for pattern in patterns.chain([sparse(64, 4), sparse(130, 3), arrow(33), arrow(64), arrow(130)])
    {
        check(&pattern, &KIND, 5);
    }
    check(&mechanism(53, 325), &KIND, 5);
}

#[test]
fn entries_of_each_kind() {
    let pattern = mechanism(53, 325);
    for [single, float, complex, global] in [
        [true, false, false, false],
        [false, true, false, false],
        [false, false, true, false],
        [true, false, true, true],
        [false, true, true, false],
        [false, false, false, true],
    ] {
        check(&pattern, &Kind { single, float, complex, global, ..KIND }, 3);
    }
}

#[test]
fn groups_of_a_block() {
    for width in [64, 128, 256] {
        for pattern in
            [Pattern::dense(5, 5), Pattern::dense(50, 50), sparse(130, 4), mechanism(110, 700)]
        {
            check(&pattern, &Kind { width, ..KIND }, 2);
            check(&pattern, &Kind { width, single: true, complex: true, ..KIND }, 2);
        }
    }
}

/// Several rows for each thread; more of them than registers can hold; more entries than 16 bits can count.
#[test]
fn large_tails() {
    for n in [33, 40, 45, 70] {
        check(&Pattern::dense(n, n), &KIND, 2);
        check(&Pattern::dense(n, n), &Kind { float: true, ..KIND }, 2);
    }
    let row =
        |i: usize| if i < 140 { vec![i, (7 * i) % 140, 150 + i] } else { (130..400).collect() };
    let wide = Pattern::from_rows(400, &(0..400).map(row).collect::<Vec<_>>());
    let kind = Kind { width: 256, global: true, ..KIND };
    let lu = GroupLu::new(&wide, kind.width, kind.entry());
    assert!(lu.tables().defines().contains("#define OD_LU_WIDE 1u") && lu.factors.head() > 50);
    check(&wide, &kind, 1);
}

/// The pivots of σI − J for dense matrices, whose order is that of the processor.
fn told(shift: f64, jacobian: &[&[f64]], kind: &Kind) -> Option<[(bool, f64); 2]> {
    let n = jacobian.len();
    let pattern = Pattern::dense(n, n);
    let system =
        System { jacobian: jacobian.concat(), shift: [shift, 0.0], rhs: vec![[1.0, 0.0]; n] };
    let (_, valid, growth) = on_processor(&pattern, &system);
    let found = solve(&pattern, kind, &[system.clone(), system])?;
    assert_eq!((found[0].1, found[0].2.to_bits()), (found[1].1, found[1].2.to_bits()));
    Some([(found[0].1, found[0].2), (valid, growth)])
}

#[test]
fn pivots_tell_what_they_tell_on_the_processor() {
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
        for kind in [KIND, Kind { width: 64, ..KIND }, Kind { global: true, ..KIND }] {
            let Some([found, expected]) = told(shift, jacobian, &kind) else { return };
            assert_eq!(found.0, expected.0, "{jacobian:?}");
            let near = (found.1 - expected.1).abs() <= 1e-6 * expected.1.abs().max(1.0);
            assert!(!found.0 || near || shift == 0.0, "{jacobian:?}: {found:?} {expected:?}");
        }
    }
}

/// A pivot of the head that grows, one that is missing, and a row that outgrows the matrix.
#[test]
fn pivots_of_the_head_are_watched() {
    let pattern = mechanism(53, 325).with_diagonal();
    let lu = GroupLu::new(&pattern, 32, 8);
    let first = (0..55).find(|&i| lu.factors.number[i] == 0).unwrap();
    let own = pattern.find(first, first).unwrap();
    let mut systems = dominant(&pattern, 4);
    let sigma = systems[0].shift[0];
    systems[1].jacobian[own] = 3.0 * sigma;
    systems[2].jacobian[own] = sigma;
    systems[3].jacobian[own] = sigma * (1.0 - 1e-12);
    let Some(found) = solve(&pattern, &KIND, &systems) else { return };
    assert!(found[0].1 && found[0].2 < 1.0);
    assert!(found[1].1 && (found[1].2 - 3.0).abs() < 1e-6);
    assert!(!found[2].1 && !found[3].1);
    for (system, (_, valid, growth)) in systems.iter().zip(found).filter(|(_, found)| found.1) {
        let expected = in_order(&pattern, &KIND, system);
        assert!(valid == expected.0 && (growth - expected.1).abs() < 1e-6 * expected.1.abs());
    }
}

#[test]
fn an_arrow_has_one_level() {
    let factors = Factors::new(&arrow(130), 32, 8);
    assert_eq!(factors.levels.len(), 1);
    assert_eq!(factors.len as usize - factors.tail.len(32, 8), {
        let own = factors.head() + 2 * factors.head() + 3;
        own.next_multiple_of(4)
    });
    assert!(factors.tail.size <= 4, "{}", factors.tail.size);
}

/// GRI-Mech 3.0, in three levels before a tail of about a warp.
#[test]
fn a_published_mechanism_has_few_levels() {
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/mechanisms/grimech30/grimech30.yaml");
    let Ok(text) = std::fs::read_to_string(path) else {
        assert!(std::env::var_os("ODEUM_NEED_DATA").is_none(), "{path} is not there");
        eprintln!("SKIPPED: {path} is not there");
        return;
    };
    let mechanism = odeum_kinetics::read::yaml(path, &text, None).unwrap().mechanism;
    let kinetics = std::sync::Arc::new(odeum_kinetics::Kinetics::new(&mechanism).unwrap());
    let reactor = odeum_kinetics::Reactor::constant_pressure(kinetics);
    let pattern = odeum_core::System::jacobian_pattern(&reactor).unwrap();
    for width in [32, 64, 128] {
        let lu = GroupLu::new(pattern, width, 8);
        let Factors { levels, tail, lower, upper, .. } = &lu.factors;
        let updates = Updates::new(&lu.factors, width);
        let sizes: Vec<usize> = levels.iter().map(|level| level.len()).collect();
        let entries = lu.factors.head() + lower.iter().chain(upper).map(Vec::len).sum::<usize>();
        println!(
            "{width} threads: levels {sizes:?}, tail {}, head {entries} entries, {} products, {} steps, {} solve rounds, \
             tables {} bytes, matrix {}, x {}",
            tail.size,
            updates.products,
            updates.terms.len() / rounds::SIDES / width,
            Solves::new(&lu.factors, width).lengths.len(),
            lu.tables().bytes().len(),
            lu.places().len,
            lu.x_entries(),
        );
        assert!(levels.len() <= 4 && (24..=40).contains(&tail.size) || width > 32);
        assert!(updates.products < 7000 && entries < 900);
        check(pattern, &Kind { width, ..KIND }, 2);
        check(pattern, &Kind { width, single: true, ..KIND }, 2);
    }
}

/// Machine code for an H200, with rows of the tail in registers and not beside them.
#[test]
fn kernels_compile_and_do_not_spill() {
    const CUDA: &str = include_str!("../../gpu/device/cuda.cuh");
    let pattern = mechanism(53, 325);
    for (single, complex, width) in
        [(true, false, 32), (false, false, 32), (true, true, 32), (false, false, 128)]
    {
        let kind = Kind { single, complex, width, ..KIND };
        let lu = GroupLu::new(&pattern, width, kind.entry());
        let source = format!("{CUDA}{}", kind.source(&lu));
        match odeum_cuda::check("od_lu_test", &source, "sm_90a") {
            Ok((resources, _)) => {
                println!("{kind:?}: tail {}, {resources:?}", lu.factors.tail.size);
                assert_eq!(resources.spill_stores + resources.spill_loads, 0, "{kind:?}");
            }
            Err(error @ odeum_core::Error::Device { .. }) => {
                assert!(std::env::var_os("ODEUM_NEED_NVRTC").is_none(), "{error}");
                eprintln!("SKIPPED: {error}");
            }
            Err(error) => panic!("{kind:?}: {error}"),
        }
    }
}
