//! Cells whose arrays lie on a device, beside what the host makes of the same numbers: to the bit, on the host device.

#![allow(clippy::unwrap_used)]

use odeum_case::gas::{Basis, Gas, Mixture};
use odeum_core::random::SplitMix64;
use odeum_cuda::host::{self, Host, Setup};
use odeum_cuda::{Device, Memory, Stream, check};
use odeum_kinetics::cells::{CellFault, Cells, TO_CELLS, TO_STATES, excess_temperature};
use odeum_kinetics::{Constraint, Energy, JacobianForm, Kinetics, Reactor, read};
use odeum_ode::gpu::inspect::{Devices, exchange};
use odeum_ode::gpu::{Exchange, Session};
use odeum_ode::{Ensemble, Error, Method, Monitor, Options, Status, Tolerance};
use std::path::Path;
use std::sync::Arc;

/// More than one block, and no multiple of one.
const CELLS: usize = 300;
/// Where nothing of the caller lies.
const BESIDE: f64 = -7.0;
/// The pressure of all cells \[Pa\].
const PRESSURE: f64 = 2e5;
/// How far outside the data cells may start \[K\], as reactors do.
const MARGIN: f64 = 10.0;

fn gas(constraint: Constraint) -> Gas {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../mechanisms/hydrogen-burke-2012.yaml");
    gas_of(&std::fs::read_to_string(&path).unwrap(), constraint)
}

fn gas_of(text: &str, constraint: Constraint) -> Gas {
    let mechanism = read::yaml("gas", text, None).unwrap().mechanism;
    let kinetics = Arc::new(Kinetics::new(&mechanism).unwrap());
    let slack = (0..kinetics.n_species()).map(|k| 1e-8 * (k + 1) as f64).collect();
    let reactor = Reactor::new(kinetics, constraint, Energy::Adiabatic, JacobianForm::Exact);
    let mixture = Mixture::Fractions(Basis::Masses);
    Gas {
        reactor: Arc::new(reactor),
        mixture,
        slack,
        of_state: Vec::new(),
        untabled: None,
        of_table: false,
        low_order: None,
    }
}

/// Numbers of the caller [cells, components], with strides, in memory of the device.
struct Lent {
    host: Vec<f64>,
    memory: host::Memory,
    first: usize,
    strides: [isize; 2],
}

impl Lent {
    fn new(device: &Host, components: usize, strides: [isize; 2]) -> Lent {
        let counts = [CELLS, components];
        let reaches = [0, 1].map(|axis| (counts[axis] as isize - 1) * strides[axis]);
        let below: isize = reaches.iter().filter(|reach| **reach < 0).sum();
        let above: isize = reaches.iter().filter(|reach| **reach > 0).sum();
        let host = vec![BESIDE; (above - below) as usize + 1];
        let memory = device.reserve(size_of_val(&*host)).unwrap();
        Lent { host, memory, first: -below as usize, strides }
    }

    fn place(&self, cell: usize, k: usize) -> usize {
        let [by_cell, across] = self.strides;
        (self.first as isize + cell as isize * by_cell + k as isize * across) as usize
    }

    fn get(&self, cell: usize, k: usize) -> f64 {
        self.host[self.place(cell, k)]
    }

    fn set(&mut self, cell: usize, k: usize, value: f64) {
        let place = self.place(cell, k);
        self.host[place] = value;
    }

    fn address(&self) -> u64 {
        self.memory.address() + (self.first * size_of::<f64>()) as u64
    }

    fn upload(&mut self, stream: &host::Stream) {
        stream.write(&mut self.memory, 0, &self.host).unwrap();
    }

    fn on_device(&self, stream: &host::Stream) -> Vec<f64> {
        let mut found = vec![0.0; self.host.len()];
        stream.read(&self.memory, 0, &mut found).unwrap();
        found
    }
}

struct Arrays {
    t: Lent,
    /// None: one for all.
    p: Option<Lent>,
    y: Lent,
}

impl Arrays {
    /// Temperature, pressure and mass fractions of a cell.
    fn numbers(&self, cell: usize, n: usize) -> Vec<f64> {
        let p = self.p.as_ref().map_or(PRESSURE, |p| p.get(cell, 0));
        let fractions = (0..n).map(|k| self.y.get(cell, k));
        [self.t.get(cell, 0), p].into_iter().chain(fractions).collect()
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Lent> {
        [&mut self.t, &mut self.y].into_iter().chain(&mut self.p)
    }

    fn on_device(&self, updates_p: bool) -> Cells {
        let stride = |lent: &Lent, axis: usize| lent.strides[axis] as i64;
        Cells {
            temperatures: self.t.address(),
            pressures: self.p.as_ref().map_or(0, Lent::address),
            mass_fractions: self.y.address(),
            pressure: PRESSURE,
            temperature_stride: stride(&self.t, 0),
            pressure_stride: self.p.as_ref().map_or(0, |p| stride(p, 0)),
            mass_fraction_strides: [stride(&self.y, 0), stride(&self.y, 1)],
            updates_pressures: u64::from(updates_p),
            temperature_margin: MARGIN,
        }
    }

    /// Mixtures at random, some a little beside a gas, some no gas.
    fn fill(&mut self, n: usize, seed: u64) {
        let mut random = SplitMix64::new(seed);
        let mut uniform = |low: f64, high: f64| {
            low + (high - low) * (random.bits() >> 11) as f64 / (1_u64 << 53) as f64
        };
        let one_p = self.p.as_ref().is_some_and(|p| p.strides[0] == 0);
        for cell in 0..CELLS {
            let mut y: Vec<f64> = (0..n).map(|_| uniform(0.0, 1.0).powi(3)).collect();
            let sum: f64 = y.iter().sum();
            y.iter_mut().for_each(|y| *y /= sum);
            let (mut t, mut p) = (uniform(300.0, 3000.0), uniform(0.5, 20.0) * 1e5);
            match cell % 10 {
                1 => {
                    let factor = 1.0 + uniform(-9e-4, 9e-4);
                    y.iter_mut().for_each(|y| *y *= factor);
                }
                2 => {
                    let k = cell / 10 % n;
                    y[(k + 1) % n] += y[k];
                    y[k] = -0.9e-8 * (k + 1) as f64;
                }
                _ => {}
            }
            match cell {
                3 => t = 20.0,
                4 => y[2] = -0.3,
                5 => y[2] += 2e-3,
                6 => y.fill(0.0),
                7 => y[1] = -3e-8,
                8 => p = -1.0,
                _ => {}
            }
            self.t.set(cell, 0, t);
            if let Some(p_of) = &mut self.p {
                p_of.set(cell, 0, if one_p { 1e5 } else { p });
            }
            (0..n).for_each(|k| self.y.set(cell, k, y[k]));
        }
    }
}

/// States [n × M] and parameters \[M\] as the host makes them of all cells, NaN of no gas.
fn starts(gas: &Gas, arrays: &Arrays) -> (Vec<f64>, Vec<f64>) {
    let n = gas.reactor.kinetics().n_species();
    let rows: Vec<Vec<f64>> = (0..CELLS)
        .map(|cell| {
            let numbers = arrays.numbers(cell, n);
            let direct = gas.reactor.state(numbers[0], numbers[1], &numbers[2..]);
            let direct = direct.map(|(state, param)| [&state[..], &param].concat());
            direct.or_else(|_| gas.start(&numbers)).unwrap_or_else(|_| vec![f64::NAN; n + 3])
        })
        .collect();
    let component = |i: usize| rows.iter().map(move |row| row[i]);
    ((0..n + 2).flat_map(component).collect(), component(n + 2).collect())
}

fn bits(values: &[f64]) -> Vec<u64> {
    // Of NaN there are many, and one meaning.
    values.iter().map(|x| if x.is_nan() { u64::MAX } else { x.to_bits() }).collect()
}

/// A session of a reactor, and what runs beside it.
struct Bench {
    gas: Gas,
    device: Host,
    devices: Devices<Host>,
    stream: host::Stream,
    session: Session<f64, Host>,
    exchange: Exchange<Host>,
    options: Options,
}

impl Bench {
    /// `None` without g++.
    fn new(constraint: Constraint) -> Option<Bench> {
        Bench::of(gas(constraint))
    }

    fn of(gas: Gas) -> Option<Bench> {
        if !host::is_available() {
            eprintln!("SKIPPED: device code is not executed, for want of g++ on the PATH");
            return None;
        }
        let device = Setup::new(env!("CARGO_TARGET_TMPDIR")).device();
        let devices = Devices::new(vec![device.clone()]);
        let options = Options::new(Tolerance::new(1e-6, 1e-10)).max_steps(8);
        let dim = gas.reactor.kinetics().n_species() + 2;
        let ensemble = Ensemble::new(dim, vec![0.0; dim * CELLS], (0.0, 1.0)).unwrap();
        let ensemble = ensemble.with_params(vec![0.0; CELLS]).unwrap();
        let session = devices.session(&*gas.reactor, &ensemble, &Method::rkck(), &options).unwrap();
        let text = gas.cells_text().unwrap();
        let exchange = session.exchange(&text, &[TO_STATES, TO_CELLS]).unwrap();
        let stream = device.stream().unwrap();
        Some(Bench { gas, device, devices, stream, session, exchange, options })
    }

    fn n_species(&self) -> usize {
        self.gas.reactor.kinetics().n_species()
    }

    fn lend(&self, components: usize, strides: [isize; 2]) -> Lent {
        Lent::new(&self.device, components, strides)
    }

    /// Some calls by kernels, and the same by the host's own means.
    fn compare(&mut self, arrays: &mut Arrays, updates_p: bool, seed: u64) {
        let n = self.n_species();
        arrays.fill(n, seed);
        arrays.all().for_each(|lent| lent.upload(&self.stream));
        let cells = arrays.on_device(updates_p);
        let mut steps = vec![0.0; CELLS];
        self.session.set_step_sizes(&steps).unwrap();
        for call in 0..3 {
            // SAFETY: the kernel takes such cells, whose memory outlives this function.
            let told = unsafe { self.session.run(&mut self.exchange, 0, &cells).unwrap() };
            assert_eq!(told.map(|told| CellFault::decode(told, n)), Some(CellFault::Outside(3)));
            let (states, params) = starts(&self.gas, arrays);
            assert_eq!(bits(&self.session.states().unwrap()), bits(&states), "call {call}");

            let dt = 2e-9;
            self.session.advance((0.0, dt)).unwrap();
            // SAFETY: as above.
            unsafe { self.session.run(&mut self.exchange, 1, &cells).unwrap() };
            let invalid = states[..CELLS].iter().filter(|t| t.is_nan()).count();
            let ensemble = Ensemble::with_invalid_starts(n + 2, states, (0.0, dt)).unwrap();
            let ensemble = ensemble.with_params(params.clone()).unwrap();
            let ensemble = ensemble.with_first_steps(steps).unwrap();
            let (reactor, method) = (&*self.gas.reactor, Method::rkck());
            let monitor = Monitor::new();
            let wanted = self.devices.solve(reactor, &ensemble, &method, &self.options, &monitor);
            let wanted = wanted.unwrap();
            assert_eq!(self.session.statuses().unwrap(), wanted.status);
            assert_eq!(self.session.stats().unwrap(), wanted.stats);
            let ends = |status| wanted.status.iter().filter(|&&s| s == status).count();
            assert_eq!(ends(Status::InvalidStart), invalid);
            let (ended, too_many) = (ends(Status::Success), ends(Status::MaxSteps));
            let are_some = ended > 50 && too_many > 0 && (4..10).contains(&invalid);
            assert!(are_some, "{ended} {too_many} {invalid}");

            let step =
                |s: usize| if wanted.status[s].is_success() { wanted.next_steps[s] } else { 0.0 };
            steps = (0..CELLS).map(step).collect();
            assert_eq!(bits(&self.session.step_sizes().unwrap()), bits(&steps), "call {call}");
            for s in (0..CELLS).filter(|&s| wanted.status[s].is_success()) {
                let state: Vec<f64> = (0..n + 2).map(|i| wanted.states[i * CELLS + s]).collect();
                arrays.t.set(s, 0, state[0]);
                (0..n).for_each(|k| arrays.y.set(s, k, state[k + 1]));
                if let Some(p) = arrays.p.as_mut().filter(|_| updates_p) {
                    p.set(s, 0, self.gas.reactor.gas(&state, &params[s..=s]).unwrap().pressure);
                }
            }
            for lent in arrays.all() {
                assert_eq!(bits(&lent.on_device(&self.stream)), bits(&lent.host), "call {call}");
            }
        }
        assert!(steps.iter().any(|&step| step > 0.0));
    }
}

#[test]
fn cells_at_constant_volume() {
    let Some(mut bench) = Bench::new(Constraint::ConstantVolume) else { return };
    let n = bench.n_species();
    let (cells, species) = (CELLS as isize, n as isize);
    let layouts = [
        ([1, 1], [1, 1], [species, 1]),
        ([-2, 1], [3, 1], [1, cells]),
        ([species + 1, 1], [-1, 1], [-2 * species, -2]),
    ];
    for (k, (t, p, y)) in layouts.into_iter().enumerate() {
        let p = Some(bench.lend(1, p));
        let mut arrays = Arrays { t: bench.lend(1, t), p, y: bench.lend(n, y) };
        bench.compare(&mut arrays, true, k as u64);
    }
}

#[test]
fn cells_at_constant_pressure() {
    let Some(mut bench) = Bench::new(Constraint::ConstantPressure) else { return };
    let n = bench.n_species();
    // One number for all, one place for all, an array that is not written to.
    for (k, p) in [None, Some(0), Some(-3)].into_iter().enumerate() {
        let p = p.map(|stride| bench.lend(1, [stride, 1]));
        let y = bench.lend(n, [3, 3 * CELLS as isize + 1]);
        let mut arrays = Arrays { t: bench.lend(1, [2, 1]), p, y };
        bench.compare(&mut arrays, false, 10 + k as u64);
    }
}

#[test]
fn numbers_that_are_not_finite_are_told() {
    let Some(mut bench) = Bench::new(Constraint::ConstantPressure) else { return };
    let n = bench.n_species();
    let p = Some(bench.lend(1, [1, 1]));
    let mut arrays = Arrays { t: bench.lend(1, [1, 1]), p, y: bench.lend(n, [n as isize, 1]) };
    arrays.fill(n, 5);
    let mut told = |arrays: &mut Arrays| {
        arrays.all().for_each(|lent| lent.upload(&bench.stream));
        let cells = arrays.on_device(false);
        // SAFETY: the kernel takes such cells, whose memory lives.
        let told = unsafe { bench.session.run(&mut bench.exchange, 0, &cells).unwrap() };
        let CellFault::NotFinite(told) = CellFault::decode(told.unwrap(), n) else {
            panic!("{told:?}")
        };
        (told.cell, told.place, told.value.to_string())
    };
    // The later the place, the earlier the cell.
    arrays.t.set(CELLS - 1, 0, f64::NAN);
    assert_eq!(told(&mut arrays), (CELLS - 1, 0, "NaN".to_owned()));
    if let Some(p) = &mut arrays.p {
        p.set(170, 0, f64::INFINITY);
    }
    assert_eq!(told(&mut arrays), (170, 1, "inf".to_owned()));
    arrays.y.set(140, n - 1, f64::NEG_INFINITY);
    assert_eq!(told(&mut arrays), (140, n + 1, "-inf".to_owned()));
    arrays.y.set(140, 2, f64::NAN);
    assert_eq!(told(&mut arrays), (140, 4, "NaN".to_owned()));
    arrays.t.set(0, 0, f64::NEG_INFINITY);
    assert_eq!(told(&mut arrays), (0, 0, "-inf".to_owned()));
}

#[test]
fn cells_outside_the_data_start_within_the_margin_and_tell_how_far_they_came() {
    let Some(mut bench) = Bench::new(Constraint::ConstantPressure) else { return };
    let n = bench.n_species();
    let (low, high) = bench.gas.reactor.temperature_bounds();
    let mut arrays =
        Arrays { t: bench.lend(1, [1, 1]), p: None, y: bench.lend(n, [n as isize, 1]) };
    let nitrogen = bench.gas.reactor.kinetics().species_index("N2").unwrap();
    for cell in 0..CELLS {
        arrays.t.set(cell, 0, 1000.0);
        (0..n).for_each(|k| arrays.y.set(cell, k, f64::from(u8::from(k == nitrogen))));
    }
    let mut call = |arrays: &mut Arrays, margin| {
        arrays.all().for_each(|lent| lent.upload(&bench.stream));
        let cells = Cells { temperature_margin: margin, ..arrays.on_device(false) };
        // SAFETY: the kernels take such cells, whose memory lives.
        let mut run = |session: &mut Session<_, _>, kernel| unsafe {
            session.run(&mut bench.exchange, kernel, &cells).unwrap()
        };
        let started = run(&mut bench.session, 0).map(|told| CellFault::decode(told, n));
        bench.session.advance((0.0, 1e-9)).unwrap();
        (started, run(&mut bench.session, 1).map(excess_temperature))
    };
    assert_eq!(call(&mut arrays, 10.0), (None, None));
    // Nitrogen alone keeps its temperature.
    arrays.t.set(70, 0, high + 8.0);
    arrays.t.set(290, 0, high + 32.0);
    arrays.t.set(12, 0, low - 40.0);
    assert_eq!(call(&mut arrays, 10.0), (Some(CellFault::Outside(12)), Some(8.0)));
    assert_eq!(call(&mut arrays, 32.0), (Some(CellFault::Outside(12)), Some(32.0)));
    assert_eq!(call(&mut arrays, 40.0), (None, Some(40.0)));
}

/// Two isomers whose data hold at all temperatures.
const WITHOUT_BOUNDS: &str = "
phases: [{name: gas, thermo: ideal-gas, kinetics: gas}]
species:
- {name: A, composition: {H: 2}, thermo: {model: constant-cp, cp0: 29 J/mol/K}}
- {name: B, composition: {H: 2}, thermo: {model: constant-cp, cp0: 29 J/mol/K}}
reactions:
- {equation: A => B, rate-constant: {A: 1e6, b: 0, Ea: 0}}
";

#[test]
fn gases_without_bounds_of_temperature() {
    let mut gas = gas_of(WITHOUT_BOUNDS, Constraint::ConstantVolume);
    // Nothing below zero is too far.
    gas.slack[1] = f64::INFINITY;
    let Some(mut bench) = Bench::of(gas) else { return };
    let lend = |components, strides| bench.lend(components, strides);
    let mut arrays = Arrays { t: lend(1, [1, 1]), p: None, y: lend(2, [2, 1]) };
    for cell in 0..CELLS {
        let b = [0.0, -2e-4][cell % 2];
        arrays.t.set(cell, 0, [1e-3, 300.0, 1e9, 1e300][cell % 4]);
        arrays.y.set(cell, 0, 1.0 - b);
        arrays.y.set(cell, 1, b);
    }
    arrays.all().for_each(|lent| lent.upload(&bench.stream));
    let cells = arrays.on_device(false);
    // SAFETY: the kernel takes such cells, whose memory outlives this function.
    let told = unsafe { bench.session.run(&mut bench.exchange, 0, &cells).unwrap() };
    assert_eq!(told, None);
    let (states, _) = starts(&bench.gas, &arrays);
    assert!(states.iter().all(|x| x.is_finite()));
    assert_eq!(bits(&bench.session.states().unwrap()), bits(&states));
}

/// Machine code for an H200 keeps everything in registers.
#[test]
fn kernels_compile_for_gpus() {
    let volume = Constraint::ConstantVolume;
    for gas in [gas(Constraint::ConstantPressure), gas(volume), gas_of(WITHOUT_BOUNDS, volume)] {
        let text = exchange::<f64>(&gas.cells_text().unwrap());
        for kernel in [TO_STATES, TO_CELLS] {
            match check(kernel, &text, "sm_90a") {
                Ok((resources, _)) => {
                    assert_eq!((resources.stack, resources.spill_stores), (0, 0), "{kernel}");
                }
                Err(error @ Error::Device { .. }) => {
                    assert!(std::env::var_os("ODEUM_NEED_NVRTC").is_none(), "{error}");
                    eprintln!("SKIPPED: {error}");
                }
                Err(error) => panic!("{kernel}: {error}"),
            }
        }
    }
}
