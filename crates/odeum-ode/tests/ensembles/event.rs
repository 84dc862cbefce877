//! Systems that end where a component crosses its level.

use odeum_ode::{
    Device, DynSystem, Ensemble, Method, Options, Real, Solution, Solver, Status, System, Tolerance,
};

/// x' = v, v' = −x: x = sin t, v = cos t.
struct Oscillator;

impl System for Oscillator {
    fn dim(&self) -> usize {
        2
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = y[1];
        dydt[1] = -y[0];
    }
}

const END: f64 = 6.0;

fn run(method: &Method, systems: usize, options: &Options) -> Solution<f64> {
    let ensemble = Ensemble::repeated(&[0.0, 1.0], systems, (0.0, END)).unwrap();
    let solver = Solver::new(DynSystem::new(Oscillator), method, &Device::cpu(), options).unwrap();
    solver.solve(&ensemble).unwrap()
}

#[test]
fn events_are_found_to_the_tolerance() {
    for method in Method::all() {
        let rtol = if method.order() > 3 { 1e-8 } else { 1e-6 };
        let options = Options::new(Tolerance::new(rtol, rtol));
        let levels: Vec<f64> = (0..40).map(|s| 0.024 * f64::from(s) + 0.02).collect();
        let rising = run(&method, 40, &options.clone().end_when_rises(0, levels.clone()));
        for (s, level) in levels.iter().enumerate() {
            let name = method.name();
            assert_eq!(rising.status[s], Status::TerminalEvent, "{name} {level}");
            assert!(
                (rising.t[s] - level.asin()).abs() < 3e3 * rtol,
                "{name} {level}: {}",
                rising.t[s]
            );
            assert!((rising.y(s)[0] - level).abs() < rtol, "{name} {level}: {:?}", rising.y(s));
        }
        // Alone, a system does the same to the bit.
        let alone = run(&method, 1, &options.clone().end_when_rises(0, vec![levels[17]]));
        assert_eq!((alone.y(0), alone.t[0]), (rising.y(17), rising.t[17]));
        assert_eq!(alone.stats[0], rising.stats[17]);
    }
}

#[test]
fn falling_and_absent_events() {
    for method in [Method::dopri5(), Method::rodas5p(), Method::radau()] {
        let options = Options::new(Tolerance::new(1e-8, 1e-8));
        // v falls through 0 at π/2; x begins at its level and comes back to it at π, from above.
        let v = run(&method, 1, &options.clone().end_when_falls(1, vec![0.0]));
        assert!((v.t[0] - std::f64::consts::FRAC_PI_2).abs() < 1e-6, "{}", v.t[0]);
        let x = run(&method, 1, &options.clone().end_when_falls(0, vec![0.0]));
        assert!((x.t[0] - std::f64::consts::PI).abs() < 1e-6, "{}", x.t[0]);
        let never = run(&method, 1, &options.clone().end_when_rises(0, vec![2.0]));
        assert_eq!((never.status[0], never.t[0]), (Status::Success, END));
        let plain = run(&method, 1, &options);
        assert_eq!(never.y(0), plain.y(0));
    }
}

#[test]
fn levels_that_do_not_fit_are_refused() {
    let ensemble = Ensemble::repeated(&[0.0, 1.0], 3, (0.0, END)).unwrap();
    let options = Options::new(Tolerance::new(1e-8, 1e-8));
    let on = |device: &Device, options: &Options| {
        let oscillator = DynSystem::new(Oscillator);
        Solver::new(oscillator, &Method::rkck(), device, options).unwrap().solve(&ensemble)
    };
    for (options, word) in [
        (options.clone().end_when_rises(2, vec![1.0]), "component"),
        (options.clone().end_when_rises(0, vec![1.0; 2]), "3 systems"),
        (options.clone().end_when_rises(0, vec![f64::NAN]), "finite"),
    ] {
        assert!(on(&Device::cpu(), &options).unwrap_err().to_string().contains(word));
    }
    let options = options.end_when_rises(0, vec![1.0]);
    assert!(on(&Device::cuda(0), &options).unwrap_err().to_string().contains("terminal event"));
}
