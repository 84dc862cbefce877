//! What each part of a study varies.

use super::measure::{RTOL, Study};
use super::part::Part;
use odeum_ode::method::JacobianSource;
use odeum_ode::{Controller, Cpu, Device, FirstStep, Isa, Method};

/// Relative tolerances of the part on work and precision: finer where most users are.
const TOLERANCES: [f64; 11] = [1e-2, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 1e-7, 1e-8, 1e-9];
/// Sizes of ensembles on GPUs unless said.
const GPU_SIZES: [usize; 4] = [1024, 8192, 65_536, 262_144];
/// The same along an ignition: Niemeyer & Sung (2014) went from 64 to 16,384.
const GPU_SIZES_OF_ETHANOL: [usize; 8] = [64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576];
/// Of these the parts that vary something else take so many: more takes RKC minutes.
const MANY_OF_ETHANOL: usize = 65_536;
/// Reactors up to which the CPU is measured beside a GPU: with more it takes no less time for each.
const CPU_SYSTEMS: usize = 65_536;
/// Reactors of the part on convergence, and how many steps they take.
const FEW: usize = 512;
/// Reactors where what is done before is to be timed.
const VERY_FEW: usize = 32;
const STEPS: [f64; 6] = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0];

/// What a row varies.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) method: Method,
    pub(super) approximate: bool,
    pub(super) rtol: f64,
    pub(super) systems: usize,
    pub(super) place: Place,
    pub(super) first: FirstStep,
    pub(super) sorted: bool,
}

/// Where a run is made, and what of it is timed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// A CPU.
    Cpu { threads: usize, isa: Isa },
    /// The GPU of this number: the kernel, over states that are there already.
    Kernel(usize),
    /// The same a second time: the session knows what each system cost.
    Again(usize),
    /// The same from arrays of the host to new arrays of the host.
    Arrays(usize),
    /// The same, for which no kernel was planned or loaded before.
    FirstCall(usize),
    /// The same to arrays that were written before, as those of a program that calls again.
    SameArrays(usize),
    /// The same from and to page-locked arrays.
    LockedArrays(usize),
}

impl Place {
    fn one_thread() -> Place {
        Place::Cpu { threads: 1, isa: Isa::best() }
    }

    fn all_threads(threads: Option<usize>) -> Place {
        let threads = Cpu { threads, ..Cpu::default() }.thread_count();
        Place::Cpu { threads, isa: Isa::best() }
    }

    pub(super) fn device(self) -> Device {
        match self {
            Place::Cpu { threads, isa } => Device::Cpu(Cpu { threads: Some(threads), isa }),
            Place::Kernel(ordinal)
            | Place::Again(ordinal)
            | Place::Arrays(ordinal)
            | Place::FirstCall(ordinal)
            | Place::SameArrays(ordinal)
            | Place::LockedArrays(ordinal) => Device::cuda(ordinal),
        }
    }

    pub(super) fn threads(self) -> usize {
        match self {
            Place::Cpu { threads, .. } => threads,
            _ => 1,
        }
    }

    pub(super) fn variant(self) -> &'static str {
        match self {
            Place::Cpu { isa: Isa::Scalar, .. } => "scalar",
            Place::Cpu { .. } => "lanes",
            Place::Kernel(_) => "cuda kernel",
            Place::Again(_) => "cuda kernel, again",
            Place::Arrays(_) => "cuda",
            Place::FirstCall(_) => "cuda, first call",
            Place::SameArrays(_) => "cuda, same arrays",
            Place::LockedArrays(_) => "cuda, page-locked arrays",
        }
    }
}

impl Run {
    /// Of one size of steps, as large a part of the global step.
    fn fixed(self, dt: f64, steps: f64) -> Run {
        let method = self.method.with_controller(Controller::fixed(dt / steps));
        Run { method, ..self }
    }

    fn by_differences(mut self) -> Run {
        match &mut self.method {
            Method::Rosenbrock(rosenbrock) => {
                rosenbrock.jacobian = JacobianSource::FiniteDifferences
            }
            Method::Radau(radau) => radau.jacobian = JacobianSource::FiniteDifferences,
            Method::Exponential(method) => method.jacobian = JacobianSource::FiniteDifferences,
            _ => {}
        }
        self
    }

    fn whole(self) -> Run {
        Run { first: FirstStep::Fraction(1.0), ..self }
    }

    fn sorted(self) -> Run {
        Run { sorted: true, ..self }
    }
}

/// Whether a method takes far too many steps: RKC is of order 2.
fn is_too_tight(method: &Method, rtol: f64) -> bool {
    rtol < 1e-7 && matches!(method, Method::Rkc(_))
}

/// The methods of a study.
pub(super) fn methods(along_ignition: bool) -> Vec<Method> {
    let mut methods = vec![
        Method::rodas3(),
        Method::rodas4(),
        Method::rodas5p(),
        Method::ros34pw2(),
        Method::radau(),
        Method::exp4(),
        Method::exprb43(),
    ];
    if along_ignition {
        methods.insert(0, Method::rkc());
    }
    methods
}

impl Study<'_> {
    fn is_along_ignition(&self) -> bool {
        self.segments > 1
    }

    /// The sizes asked for on a GPU, or the usual ones.
    pub(super) fn gpu_sizes<'a>(&self, asked: &'a [usize]) -> &'a [usize] {
        match (asked, self.is_along_ignition()) {
            ([], true) => &GPU_SIZES_OF_ETHANOL,
            ([], false) => &GPU_SIZES,
            _ => asked,
        }
    }

    /// The size of parts that vary something else: the largest, within reason.
    pub(super) fn most(&self, sizes: &[usize]) -> usize {
        let largest = sizes.iter().copied().max().unwrap_or(0);
        if self.is_along_ignition() { largest.min(MANY_OF_ETHANOL) } else { largest }
    }

    /// On one thread, of all states.
    fn usual(&self, method: Method) -> Run {
        Run {
            method,
            approximate: false,
            rtol: RTOL,
            systems: self.n_states(),
            place: Place::one_thread(),
            first: FirstStep::Automatic,
            sorted: false,
        }
    }

    /// The methods that suit these reactors.
    fn methods(&self) -> Vec<Method> {
        methods(self.is_along_ignition())
    }

    /// Those of the methods that were asked for.
    pub(super) fn asked(&self, mut runs: Vec<Run>) -> Vec<Run> {
        let is_asked = |run: &Run| self.asked.iter().any(|name| name == run.method.name());
        runs.retain(|run| self.asked.is_empty() || is_asked(run));
        runs
    }

    /// The runs of a part on the CPU.
    pub(super) fn runs(&self, part: Part, threads: Option<usize>) -> Vec<Run> {
        let usual = |method: Method| self.usual(method);
        let mut runs = Vec::new();
        match part {
            Part::Methods | Part::Reactive => {
                runs.extend(self.methods().into_iter().map(usual));
                let best = || usual(Method::rodas4());
                runs.push(Run { place: Place::Cpu { threads: 1, isa: Isa::Scalar }, ..best() });
                let place = Place::all_threads(threads);
                if place.threads() > 1 {
                    runs.push(Run { place, ..best() });
                }
            }
            Part::Tolerances => {
                for method in self.methods() {
                    let wanted = TOLERANCES.into_iter().filter(|&r| !is_too_tight(&method, r));
                    runs.extend(wanted.map(|rtol| Run { rtol, ..usual(method.clone()) }));
                }
            }
            Part::Sizes => {
                let most = self.n_states();
                let sizes = (4..).map(|k| 2_usize.pow(k)).take_while(|size| *size < most);
                for systems in sizes.chain([most]) {
                    for method in self.methods() {
                        if matches!(method.name(), "rkc" | "rodas4" | "radau") {
                            runs.push(Run { systems, ..usual(method) });
                        }
                    }
                }
            }
            Part::Orders => {
                for method in [Method::rodas4(), Method::radau()] {
                    runs.extend([usual(method.clone()), usual(method).sorted()]);
                }
            }
            Part::Jacobians => {
                for method in [Method::rodas4(), Method::ros34pw2(), Method::radau()] {
                    runs.extend([usual(method.clone()), usual(method).by_differences()]);
                }
                runs.push(Run { approximate: true, ..usual(Method::ros34pw2()) });
            }
            Part::Convergence => {
                for method in self.methods() {
                    let run = Run { systems: FEW, ..usual(method) };
                    runs.extend(STEPS.map(|steps| run.clone().fixed(self.dt, steps)));
                }
            }
            Part::Parts | Part::Calls => {}
        }
        runs
    }

    /// The runs of a part on the GPU of this number, with ensembles of these sizes.
    pub(super) fn runs_on_gpu(&self, part: Part, ordinal: usize, sizes: &[usize]) -> Vec<Run> {
        let most = self.most(sizes);
        let of = |method: Method, systems: usize| Run {
            systems,
            place: Place::Kernel(ordinal),
            ..self.usual(method)
        };
        let usual = |method: Method| of(method, most);
        let processor = Place::all_threads(None);
        let mut runs = Vec::new();
        match part {
            Part::Methods | Part::Reactive => {
                // What a core and the CPU do of the same in the same run.
                let best = || self.usual(Method::rodas4());
                runs.extend([best(), Run { place: processor, ..best() }]);
                for method in self.methods() {
                    runs.extend([usual(method.clone()), usual(method).whole()]);
                }
                for method in [Method::rodas4(), Method::radau()] {
                    runs.push(Run { place: Place::Again(ordinal), ..usual(method).whole() });
                }
                for place in [Place::Arrays, Place::SameArrays, Place::LockedArrays] {
                    let place = place(ordinal);
                    runs.push(Run { place, ..usual(Method::rodas4()) });
                }
            }
            Part::Tolerances => {
                for method in self.methods() {
                    let wanted = TOLERANCES.into_iter().filter(|&r| !is_too_tight(&method, r));
                    let wanted = wanted.map(|rtol| Run { rtol, ..usual(method.clone()) });
                    runs.extend(wanted.flat_map(|run| [run.clone(), run.whole()]));
                }
            }
            Part::Sizes if self.is_along_ignition() => {
                let methods = [Method::rkc(), Method::rodas4()];
                let scalar = Place::Cpu { threads: 1, isa: Isa::Scalar };
                for method in &methods {
                    let best = || self.usual(method.clone());
                    runs.extend([Run { place: scalar, ..best() }, best()]);
                }
                for &systems in sizes {
                    for method in &methods {
                        let run = || of(method.clone(), systems);
                        runs.extend([run(), Run { place: Place::Arrays(ordinal), ..run() }]);
                    }
                }
            }
            Part::Sizes => {
                for method in self.methods() {
                    let run = |&systems: &usize| of(method.clone(), systems);
                    runs.extend(sizes.iter().map(run));
                    let few = sizes.iter().filter(|&&systems| systems <= CPU_SYSTEMS);
                    runs.extend(few.map(run).map(|run| Run { place: processor, ..run }));
                }
            }
            Part::Orders => {
                for method in [Method::rodas4(), Method::radau()] {
                    runs.extend([usual(method.clone()), usual(method).sorted()]);
                }
                runs.extend([usual(Method::exp4()), usual(Method::exprb43())]);
            }
            Part::Jacobians => {
                for method in [Method::rodas4(), Method::radau()] {
                    for &systems in sizes {
                        let run = of(method.clone(), systems);
                        runs.extend([run.clone(), run.by_differences()]);
                    }
                }
                runs.push(usual(Method::ros34pw2()));
                runs.push(Run { approximate: true, ..usual(Method::ros34pw2()) });
            }
            Part::Convergence => {
                for method in self.methods() {
                    runs.extend(STEPS.map(|steps| of(method.clone(), FEW).fixed(self.dt, steps)));
                }
            }
            // What the parts make up.
            Part::Parts => runs.push(usual(Method::rodas4()).fixed(self.dt, 1.0)),
            Part::Calls => {
                for method in self.methods() {
                    let run = || of(method.clone(), VERY_FEW);
                    runs.push(Run { place: Place::FirstCall(ordinal), ..run() });
                    runs.push(Run { place: Place::Arrays(ordinal), ..run() });
                }
            }
        }
        runs
    }
}
