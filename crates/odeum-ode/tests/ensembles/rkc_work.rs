//! The work of RKC that is told before a run is not more than the run takes.

use odeum_ode::{
    Controller, Device, DynSystem, Ensemble, Method, Options, Real, Rkc, SaveAt, Solver, System,
    Tolerance,
};

/// y' = -1000 y, and a component that hardly changes.
struct Decay;

impl System for Decay {
    fn dim(&self) -> usize {
        2
    }
    fn n_params(&self) -> usize {
        0
    }
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = R::lit(-1000.0) * y[0];
        dydt[1] = R::lit(-1e-3) * y[1];
    }
}

#[test]
fn no_run_takes_fewer_evaluations_than_are_told() {
    let rkc = Rkc::default();
    let (length, rtol) = (500.0, 1e-4);
    let system = DynSystem::new(Decay);
    let radius = rkc.radius_at(&Decay, (0.0, length), &[1.0, 1.0], &[]).unwrap();
    assert_eq!(system.radius_at(&rkc, (0.0, length), &[1.0, 1.0], &[]), Some(radius));
    assert!((1000.0..1300.0).contains(&radius), "{radius}");
    for (max_stages, save, largest_step) in
        [(None, 1, None), (Some(20), 1, None), (None, 40, None), (None, 1, Some(0.5))]
    {
        let rkc = Rkc { max_stages, ..Rkc::default() };
        let ensemble = Ensemble::new(2, vec![1.0, 1.0], (0.0, length)).unwrap();
        let mut options = Options::new(Tolerance::new(rtol, 1e-6));
        let gap = length / f64::from(save);
        options.save_at = SaveAt::Times((1..=save).map(|k| gap * f64::from(k)).collect());
        options.largest_step = largest_step;
        let method = Method::Rkc(rkc.clone());
        let solver = Solver::new(&system, &method, &Device::cpu(), &options).unwrap();
        let solution = solver.solve(&ensemble).unwrap();
        let stages = rkc.most_stages(rtol, f64::EPSILON);
        let longest = largest_step.unwrap_or(f64::INFINITY);
        // The radius without its margin.
        let each = Rkc::least_evaluations(1000.0, gap, stages, longest);
        let (least, taken) = (f64::from(save) * each, f64::from(solution.stats[0].nfev));
        // Roundings of the stages decide how many: at tolerances beside this one 3,300 to 4,240 for 878.
        assert!(least <= taken && taken < 5.0 * least + 300.0, "{least} of {taken}");
    }
}

/// As many stages as a step of the size given needs, whatever the tolerance.
#[test]
fn tolerances_do_not_shorten_steps_of_one_size() {
    let rkc = Rkc { controller: Controller::fixed(0.5), ..Rkc::default() };
    let ensemble = Ensemble::new(2, vec![1.0, 1.0], (0.0, 5.0)).unwrap();
    for rtol in [1e-3, 1e-12] {
        let options = Options::new(Tolerance::new(rtol, 1e-6));
        let method = Method::Rkc(rkc.clone());
        let solver = Solver::new(DynSystem::new(Decay), &method, &Device::cpu(), &options).unwrap();
        let solution = solver.solve(&ensemble).unwrap();
        assert!(solution.all_succeeded(), "{:?}", solution.status);
        assert_eq!(solution.stats[0].steps, 10, "{rtol:e}");
    }
}

/// y' = −σ (y − cos t), and a third of that.
struct Chase;

impl System for Chase {
    fn dim(&self) -> usize {
        2
    }
    fn n_params(&self) -> usize {
        1
    }
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        dydt[0] = p[0] * (t.cos() - y[0]);
        dydt[1] = p[0] * (t.cos() - y[1]) / R::lit(3.0);
    }
}

/// Of more stages than that the damping vanishes in the roundings of single precision.
#[test]
fn steps_of_one_size_have_as_many_stages_as_roundings_let() {
    let sigma = 2.4e8;
    let rkc = Rkc {
        controller: Controller::fixed(0.01),
        radius_bound: Some(f64::from(sigma)),
        ..Rkc::default()
    };
    assert_eq!(rkc.most_stages(1e-12, f64::from(f32::EPSILON)), 290.0);
    let ensemble = Ensemble::new(2, vec![1.0_f32; 2], (0.0, 0.02)).unwrap();
    let ensemble = ensemble.with_params(vec![sigma]).unwrap();
    let options = Options::new(Tolerance::new(1e-4, 1e-4));
    let method = Method::Rkc(rkc);
    let solver = Solver::new(DynSystem::new(Chase), &method, &Device::cpu(), &options).unwrap();
    let solution = solver.solve(&ensemble).unwrap();
    assert!(solution.all_succeeded(), "{:?}", solution.status);
    for i in 0..2 {
        let error = solution.y(0)[i] - 0.02_f32.cos();
        assert!(error.abs() < 1e-3, "{error:e}");
    }
}
