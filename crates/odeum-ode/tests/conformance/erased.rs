//! A system behind a pointer gives the bits of the system that methods are compiled for, over all lanes.

use crate::systems::{Fate, Fates};
use odeum_ode::{
    Compiled, Cpu, Device, DynSystem, Ensemble, Isa, Method, Options, Solution, Solver, System,
    Tolerance, solve,
};

fn ensemble<T: Compiled>() -> Ensemble<T> {
    let fates: Vec<Fate> = (0..41).map(|s| Fate::ALL[s * s % 5]).collect();
    let count = fates.len();
    let of = |values: Vec<f64>| values.into_iter().map(T::from_f64).collect::<Vec<T>>();
    let states = (0..2 * count).map(|k| 1.0 - 0.5 * (k / count) as f64 + 1e-3 * (k % count) as f64);
    let rates = (0..count).map(|s| 1.0 + s as f64 / 9.0);
    let params = fates.iter().map(|fate| fate.param()).chain(rates);
    Ensemble::new(2, of(states.collect()), (0.0, 1.0))
        .unwrap()
        .with_params(of(params.collect()))
        .unwrap()
}

fn same<T: Compiled>(a: &Solution<T>, b: &Solution<T>, what: &str) {
    let bits = |values: &[T]| -> Vec<u64> { values.iter().map(|y| y.to_f64().to_bits()).collect() };
    assert_eq!(a.status, b.status, "{what}");
    assert_eq!(a.stats, b.stats, "{what}");
    assert_eq!(a.t, b.t, "{what}");
    assert_eq!(bits(&a.states), bits(&b.states), "{what}");
    assert_eq!(bits(&a.saved), bits(&b.saved), "{what}");
}

/// Methods that are compiled for a system, against those that call it.
fn agrees<T: Compiled, S: System>(system: &S, erased: &DynSystem, methods: &[Method]) {
    let ensemble = ensemble::<T>();
    let rtol = 1e-5_f64.max(40.0 * T::EPSILON);
    let options = Options::new(Tolerance::new(rtol, rtol)).max_steps(500).save_at(vec![0.25, 0.6]);
    for isa in Isa::available() {
        let device = Device::Cpu(Cpu { threads: Some(1), isa });
        for method in methods {
            let inlined = solve(system, &ensemble, method, &device, &options).unwrap();
            let solver = Solver::new(erased, method, &device, &options).unwrap();
            let called = solver.solve(&ensemble).unwrap();
            same(&inlined, &called, &format!("{} {isa} {}", method.name(), T::NAME));
            // What a solver found serves again, with other options too.
            let again = solver.with_options(options.clone()).solve(&ensemble).unwrap();
            same(&called, &again, method.name());
        }
    }
}

#[test]
fn compiled_systems_have_the_same_bits_behind_a_pointer() {
    let erased = DynSystem::new(Fates);
    agrees::<f64, _>(&Fates, &erased, &Method::all());
    agrees::<f32, _>(&Fates, &erased, &Method::all());
}

#[test]
fn solvers_serve_several_threads_at_once() {
    let options = Options::new(Tolerance::new(1e-5, 1e-5)).max_steps(500);
    let solver =
        Solver::new(DynSystem::new(Fates), &Method::rodas4(), &Device::cpu(), &options).unwrap();
    let ensemble = ensemble::<f64>();
    let alone = solver.solve(&ensemble).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| same(&alone, &solver.solve(&ensemble).unwrap(), "beside others"));
        }
    });
}
