//! Checks a real GPU against the CPU, and times it.
//!
//! `cargo build --release --example gpu_suite`, then run the program where the GPU is. It ends
//! with an error when a check fails. Arguments: the numbers of the GPUs to use, and `--checks` to
//! leave the timings out, or `--first-call` to time nothing but the wait for a first step.

#![allow(clippy::print_stdout)]

use odeum_ode::gpu::{Session, devices, pleiades_as_published};
use odeum_ode::problems::{Brusselator1d, Lorenz, Pleiades, Problem, VanDerPol};
use odeum_ode::{
    Compiled, Cuda, Device, Ensemble, Error, FirstStep, Method, Options, Scalar, Solution, Solver,
    Status, Tolerance,
};
use std::process::ExitCode;
use std::time::Instant;

/// Numbers in (−1/2, 1/2) that depend on their place alone.
fn noise(system: usize, component: usize) -> f64 {
    let mut x = (system as u64 + 1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add((component as u64 + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9));
    x = (x ^ (x >> 30)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}

/// Systems that start near `state`, each a little elsewhere.
fn scattered<T: Scalar>(
    state: &[f64],
    count: usize,
    span: (f64, f64),
) -> Result<Ensemble<T>, Error> {
    let mut states = Vec::with_capacity(state.len() * count);
    for (i, y) in state.iter().enumerate() {
        states.extend((0..count).map(|s| T::from_f64(y + 1e-3 * noise(s, i))));
    }
    Ensemble::new(state.len(), states, span)
}

/// By solvers that are compiled in the library: those of three systems for the CPU would take most of the time in
/// which this program is built.
fn solve<T: Compiled>(
    problem: &Problem,
    ensemble: &Ensemble<T>,
    method: &Method,
    device: &Device,
    options: &Options,
) -> Result<Solution<T>, Error> {
    Solver::new(problem, method, device, options)?.solve(ensemble)
}

struct Suite {
    cuda: Device,
    failures: usize,
}

impl Suite {
    fn check(&mut self, name: &str, good: bool, detail: &str) {
        println!("{} {name}: {detail}", if good { "ok  " } else { "FAIL" });
        self.failures += usize::from(!good);
    }

    /// The same ensemble on the GPU and on the CPU: statuses, steps within 2 %, states.
    fn compare<T: Compiled>(
        &mut self,
        name: &str,
        problem: &Problem,
        ensemble: &Ensemble<T>,
        method: &Method,
        options: &Options,
        tolerance: f64,
    ) -> Result<Solution<T>, Error> {
        let gpu = solve(problem, ensemble, method, &self.cuda, options)?;
        let cpu = solve(problem, ensemble, method, &Device::cpu(), options)?;
        let statuses = gpu.status == cpu.status;
        let count = |s: &Solution<T>| s.stats.iter().map(|s| u64::from(s.steps)).sum::<u64>();
        let (a, b) = (count(&gpu) as f64, count(&cpu) as f64);
        let mut worst = 0.0_f64;
        for s in 0..ensemble.len() {
            let (y, z) = (gpu.y(s), cpu.y(s));
            let size = z.iter().map(|z| z.to_f64().abs()).fold(1e-300, f64::max);
            for (y, z) in y.iter().zip(&z) {
                let error = (y.to_f64() - z.to_f64()).abs() / size;
                worst = if error > worst || error.is_nan() { error } else { worst };
            }
        }
        let saved = gpu.n_saved == cpu.n_saved;
        let good = statuses && saved && (a / b - 1.0).abs() <= 0.02 && worst <= tolerance;
        let detail = format!(
            "statuses {statuses}, steps {:.2} against {:.2}, largest difference {worst:.1e}",
            a / ensemble.len() as f64,
            b / ensemble.len() as f64
        );
        self.check(name, good, &detail);
        Ok(gpu)
    }

    fn against_cpu(&mut self) -> Result<(), Error> {
        let pleiades = Pleiades::problem();
        let published = Options::new(Tolerance::state_and_rate(1e-10))
            .first_step(FirstStep::Fraction(0.5))
            .segments(10);
        let automatic = Options::new(Tolerance::new(1e-6, 1e-9));
        for count in [1, 33, 1000, 5000] {
            let ensemble = scattered::<f64>(&pleiades.y0, count, (0.0, 1.0))?;
            let name = format!("pleiades rkck, {count} systems");
            self.compare(&name, &pleiades, &ensemble, &Method::rkck(), &published, 1e-11)?;
        }
        let ensemble = scattered::<f64>(&pleiades.y0, 3000, (0.0, 1.0))?;
        for method in [Method::dopri5(), Method::tsit5(), Method::vern7()] {
            let name = format!("pleiades {}", method.name());
            self.compare(&name, &pleiades, &ensemble, &method, &automatic, 1e-6)?;
        }
        let saves = automatic.clone().save_at(vec![0.1, 0.35, 1.0]).segments(3);
        self.compare("pleiades saved", &pleiades, &ensemble, &Method::dopri5(), &saves, 1e-6)?;
        let back = scattered::<f64>(&pleiades.y0, 100, (1.0, 0.0))?;
        self.compare("pleiades backward", &pleiades, &back, &Method::rkck(), &automatic, 1e-6)?;
        let narrow = scattered::<f32>(&pleiades.y0, 1000, (0.0, 1.0))?;
        let loose = Options::new(Tolerance::new(1e-4, 1e-6));
        self.compare("pleiades f32", &pleiades, &narrow, &Method::rkck(), &loose, 1e-3)?;

        let ring = VanDerPol::problem();
        let mut ensemble = scattered::<f64>(&ring.y0, 2000, (0.0, 2.0))?;
        ensemble = ensemble.with_shared_params(ring.params.clone())?;
        self.compare("van der pol", &ring, &ensemble, &Method::dopri5(), &automatic, 1e-6)?;

        for (name, count) in [("few", 40), ("many", 3000)] {
            let problem = Brusselator1d::default().problem();
            let span = (0.0, 1.0);
            let ensemble = scattered::<f64>(&problem.y0, count, span)?
                .with_shared_params(problem.params.clone())?;
            let options = Options::new(Tolerance::new(1e-4, 1e-4));
            let name = format!("brusselator rkc, {name}");
            self.compare(&name, &problem, &ensemble, &Method::rkc(), &options, 1e-3)?;
        }
        Ok(())
    }

    /// A system has the same bits in every ensemble, kernel and batch.
    fn same_bits(&mut self) -> Result<(), Error> {
        let problem = Pleiades::problem();
        for (name, method, options) in [
            (
                "rkck",
                Method::rkck(),
                Options::new(Tolerance::state_and_rate(1e-10)).first_step(FirstStep::Fraction(0.5)),
            ),
            ("dopri5", Method::dopri5(), Options::new(Tolerance::new(1e-7, 1e-9))),
        ] {
            let all = scattered::<f64>(&problem.y0, 100_000, (0.0, 1.0))?;
            let whole = solve(&problem, &all, &method, &self.cuda, &options)?;
            let mut same = true;
            for range in [0..1, 17..49, 1000..5000, 60_000..90_001] {
                let part =
                    solve(&problem, &all.slice(range.clone())?, &method, &self.cuda, &options)?;
                same &= range.clone().enumerate().all(|(k, s)| part.y(k) == whole.y(s));
                same &= range.enumerate().all(|(k, s)| part.stats[k] == whole.stats[s]);
            }
            self.check(&format!("same bits in any ensemble, {name}"), same, "");
        }
        Ok(())
    }

    fn session(&mut self, ordinal: usize) -> Result<(), Error> {
        let problem = Pleiades::problem();
        let ensemble = scattered::<f64>(&problem.y0, 262_144, (0.0, 1.0))?;
        let options = Options::new(Tolerance::state_and_rate(1e-10))
            .first_step(FirstStep::Fraction(0.5))
            .segments(10);
        let mut session = Session::new(&Pleiades, &ensemble, &Method::rkck(), ordinal, &options)?;
        let first = session.advance((0.0, 1.0))?;
        let states = session.states()?;
        let by_solve = solve(&problem, &ensemble, &Method::rkck(), &self.cuda, &options)?;
        self.check("a session gives the bits of solve", states == by_solve.states, "");
        let good = session.statuses()?.iter().all(|s| *s == Status::Success);
        self.check("statuses of a session", good, "");
        println!("     session: first advance {first:.3} ms");
        Ok(())
    }

    fn timings(&mut self, ordinal: usize) -> Result<(), Error> {
        let problem = Pleiades::problem();
        let published = Options::new(Tolerance::state_and_rate(1e-10))
            .first_step(FirstStep::Fraction(0.5))
            .segments(10);
        println!("Pleiades, RKCK, eps 1e-10, t 0 to 1 in ten segments, f64:");
        for count in [256, 1024, 4096, 8192, 65_536, 262_144, 1_048_576] {
            let ensemble = scattered::<f64>(&problem.y0, count, (0.0, 1.0))?;
            let mut kernel = Vec::new();
            let mut total = Vec::new();
            let mut batches = 0;
            for _ in 0..7 {
                let mut session =
                    Session::new(&Pleiades, &ensemble, &Method::rkck(), ordinal, &published)?;
                kernel.push(session.advance((0.0, 1.0))?);
            }
            for _ in 0..7 {
                let solution = solve(&problem, &ensemble, &Method::rkck(), &self.cuda, &published)?;
                let times = solution.gpu_times.unwrap_or_default();
                total.push(times.total_ms);
                batches = times.batches;
            }
            let (kernel, total) = (median(kernel), median(total));
            let rate = |ms: f64| count as f64 / ms / 1e3;
            println!(
                "  {count:8} systems: kernel {kernel:8.3} ms {:6.2} M/s, end to end {total:8.3} ms \
                 {:6.2} M/s in {batches} batches",
                rate(kernel),
                rate(total)
            );
        }
        let ensemble = scattered::<f64>(&problem.y0, 262_144, (0.0, 1.0))?;
        pleiades_as_published(&ensemble, 10, 1e-10, ordinal)?;
        let (states, kernel) = pleiades_as_published(&ensemble, 10, 1e-10, ordinal)?;
        let ours = solve(&problem, &ensemble, &Method::rkck(), &self.cuda, &published)?.states;
        let apart = states.iter().zip(&ours).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        println!("    262144 systems by the published code: kernels {kernel:.3} ms");
        self.check("the published code agrees", apart < 1e-10, &format!("{apart:.1e} apart"));
        let lorenz = Lorenz::problem();
        println!("Lorenz, rho 0 to 21, tsit5, t 0 to 1, tolerance 1e-6, 8 388 608 systems:");
        self.lorenz::<f32>(&lorenz, ordinal)?;
        self.lorenz::<f64>(&lorenz, ordinal)
    }

    fn lorenz<T: Compiled>(&self, problem: &Problem, ordinal: usize) -> Result<(), Error> {
        let count = 8_388_608;
        let state: Vec<T> = problem.y0.iter().map(|&y| T::from_f64(y)).collect();
        let mut params = vec![T::from_f64(10.0); count];
        params.extend((0..count).map(|s| T::from_f64(21.0 * s as f64 / (count - 1) as f64)));
        params.extend(vec![T::from_f64(8.0 / 3.0); count]);
        let ensemble = Ensemble::repeated(&state, count, (0.0, 1.0))?.with_params(params)?;
        let options = Options::new(Tolerance::new(1e-6, 1e-6));
        let (mut kernel, mut total) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            let mut session =
                Session::new(&Lorenz, &ensemble, &Method::tsit5(), ordinal, &options)?;
            kernel.push(session.advance((0.0, 1.0))?);
            drop(session);
            let solution = solve(problem, &ensemble, &Method::tsit5(), &self.cuda, &options)?;
            total.push(solution.gpu_times.unwrap_or_default().total_ms);
        }
        let (kernel, total) = (median(kernel), median(total));
        println!("  {}: kernel {kernel:.3} ms, end to end {total:.1} ms", T::NAME);
        Ok(())
    }
}

/// What a program waits for before its first step: the driver, then the kernel's compilation or,
/// where the cache has it (`ODEUM_CACHE_DIR`), its loading.
fn first_call(ordinal: usize) -> Result<(), Error> {
    let milliseconds = |begun: Instant| begun.elapsed().as_secs_f64() * 1e3;
    let begun = Instant::now();
    let (ring, pleiades) = (VanDerPol::problem(), Pleiades::problem());
    let narrow = scattered::<f32>(&ring.y0, 1, (0.0, 0.1))?
        .with_shared_params(ring.params.iter().map(|&p| p as f32).collect())?;
    let options = Options::new(Tolerance::new(1e-3, 1e-3));
    solve(&ring, &narrow, &Method::dopri5(), &Device::cuda(ordinal), &options)?;
    println!("driver and a first small system: {:.0} ms", milliseconds(begun));
    let one = scattered::<f64>(&pleiades.y0, 1, (0.0, 0.01))?;
    let many = scattered::<f64>(&pleiades.y0, 20_000, (0.0, 0.01))?;
    for (name, ensemble) in [("1 system, several lanes", &one), ("20,000 systems", &many)] {
        for call in ["first", "second"] {
            let begun = Instant::now();
            solve(&pleiades, ensemble, &Method::dopri5(), &Device::cuda(ordinal), &options)?;
            println!("pleiades, {name}: {call} call {:.1} ms", milliseconds(begun));
        }
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn run() -> Result<usize, Error> {
    let ordinals: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let ordinals = if ordinals.is_empty() { vec![0] } else { ordinals };
    for device in devices()? {
        println!("{device:?}");
    }
    let first = ordinals[0];
    if std::env::args().any(|a| a == "--first-call") {
        first_call(first)?;
        return Ok(0);
    }
    let mut suite = Suite { cuda: Device::Cuda(Cuda { ordinals }), failures: 0 };
    suite.against_cpu()?;
    suite.same_bits()?;
    suite.session(first)?;
    if !std::env::args().any(|a| a == "--checks") {
        suite.timings(first)?;
    }
    Ok(suite.failures)
}

fn main() -> ExitCode {
    match run() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failures) => {
            println!("{failures} checks failed");
            ExitCode::FAILURE
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}
