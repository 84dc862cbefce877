//! Tableaus of the caller: coefficients of no method are refused.

use odeum_ode::method::{erk, exponential, rosenbrock};
use odeum_ode::{Controller, Device, Ensemble, Method, Options, Real, System, Tolerance, solve};
use odeum_ode::{Erk, Exponential, Rosenbrock};

/// y' = -y
struct Decay;

impl System for Decay {
    fn dim(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = -y[0];
    }
}

/// What an explicit method ends with, of a tableau that stays as long as the program.
fn end(tableau: erk::Tableau, controller: Option<Controller>) -> Result<f64, String> {
    let mut method = Method::Erk(Erk::new(Box::leak(Box::new(tableau))));
    if let Some(controller) = controller {
        method = method.with_controller(controller);
    }
    let ensemble = Ensemble::new(1, vec![1.0], (0.0, 1.0)).unwrap();
    let options = Options::new(Tolerance::new(1e-6, 1e-9));
    let solution = solve(&Decay, &ensemble, &method, &Device::cpu(), &options);
    solution.map(|solution| solution.y(0)[0]).map_err(|error| error.to_string())
}

fn heun() -> erk::Tableau {
    erk::Tableau {
        name: "heun",
        order: 2,
        embedded_order: 1,
        c: &[0.0, 1.0],
        a: &[&[], &[1.0]],
        b: &[0.5, 0.5],
        e: &[-0.5, 0.5],
        reference: "Heun 1900",
    }
}

#[test]
fn tableaus_of_methods_are_taken() {
    for method in Method::all() {
        assert!(method.check().is_ok(), "{method:?}");
    }
    assert!((end(heun(), None).unwrap() - (-1.0_f64).exp()).abs() < 1e-5);
    let still = erk::Tableau { e: &[0.0, 0.0], ..heun() };
    let found = end(still, Some(Controller::fixed(1e-3))).unwrap();
    assert!((found - (-1.0_f64).exp()).abs() < 1e-5);
}

/// They panicked, or gave wrong results with success.
#[test]
fn coefficients_of_no_method_are_refused() {
    let empty = erk::Tableau { c: &[], a: &[], b: &[], e: &[], ..heun() };
    let cases = [
        (empty, "found no stages in the tableau heun"),
        (erk::Tableau { a: &[&[]], ..heun() }, "tableau.a: found 1 rows"),
        (erk::Tableau { a: &[&[], &[]], ..heun() }, "tableau.a[1]: found 0 numbers"),
        (erk::Tableau { b: &[1.0], ..heun() }, "tableau.b: found 1 numbers"),
        (erk::Tableau { e: &[], ..heun() }, "tableau.e: found 0 numbers"),
        (erk::Tableau { e: &[0.0, 0.0], ..heun() }, "tableau.e: found zeros alone"),
        (erk::Tableau { e: &[0.5, 0.5], ..heun() }, "must sum to 0"),
        (erk::Tableau { a: &[&[], &[0.5]], ..heun() }, "tableau.a[1]: found coefficients"),
        (erk::Tableau { b: &[0.5, 0.6], ..heun() }, "must sum to 1"),
        (erk::Tableau { b: &[f64::NAN, 0.5], ..heun() }, "tableau.b[0]: found NaN"),
    ];
    for (tableau, words) in cases {
        let found = end(tableau, None).unwrap_err();
        assert!(found.contains(words), "{words}: {found}");
    }

    let refused = |method: Method| method.check().unwrap_err().to_string();
    let tableau = rosenbrock::Tableau { alpha: &[0.0, 0.0, 0.5, 1.0], ..rosenbrock::RODAS3 };
    let found = refused(Method::Rosenbrock(Rosenbrock::new(Box::leak(Box::new(tableau)))));
    assert!(found.contains("tableau.a[2]: found coefficients that sum to 1"), "{found}");

    let exponential::Tableau { name, order, embedded_order, c, a, e, reference, .. } =
        exponential::EXPRB43;
    let tableau = exponential::Tableau { name, order, embedded_order, c, a, b: &[], e, reference };
    let found = refused(Method::Exponential(Exponential::new(Box::leak(Box::new(tableau)))));
    assert!(found.contains("tableau.b: found 0 numbers"), "{found}");
}
