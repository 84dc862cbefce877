//! Looks at a right-hand side before a run: all of `dydt` must come from it.
//!
//! What `dydt` holds before an evaluation is whatever the method left there. A component that is not set, or that is added to,
//! would be a slope of another place, with success.

use odeum_core::{Error, System};

/// Refuses a right-hand side whose slopes at a point depend on what `dydt` held.
pub(crate) fn check(system: &impl System, t: f64, y: &[f64], p: &[f64]) -> Result<(), Error> {
    let n = system.dim();
    let mut work = vec![0.0; system.workspace()];
    let [first, second] = [f64::NAN, 0.0].map(|old| {
        let mut dydt = vec![old; n];
        work.fill(0.0);
        system.rhs_in(t, y, p, &mut dydt, &mut work);
        dydt
    });
    let is_same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
    let Some(i) = first.iter().zip(&second).position(|pair| !is_same(pair)) else {
        return Ok(());
    };
    let name = system.state_names().get(i).map_or_else(String::new, |name| format!(" ({name})"));
    let found = format!(
        "a right-hand side that does not set component {i}{name} of dydt from t, y and p alone"
    );
    let remedy = format!("set all {n} of them; what dydt held before means nothing");
    Err(Error::input("system", found, remedy))
}
