//! The stages of a step, as sweeps: one for each.

use crate::backend::{Backend, Blend, Slot};
use crate::time::coefficients::{STRONG, Stages};
use crate::time::method::Method;
use odeum_ode::{Error, Scalar};
use std::ops::ControlFlow;

/// Is called after each sweep with the slot that it wrote; may end the step.
pub(crate) type AfterSweep<'a, T> = &'a mut dyn FnMut(&mut dyn Backend<T>, Slot) -> SweepResult;

pub(crate) type SweepResult = Result<ControlFlow<()>, Error>;

/// A coefficient in the precision of the field. The last of those that sum to one is what the others, rounded, leave: if each
/// were rounded by itself, every stage would multiply what is conserved by a little more or less than one.
fn rounded<T: Scalar>(coefficient: f64) -> f64 {
    T::from_f64(coefficient).to_f64()
}

/// One step of SSPRK3 of size `h` from [`Slot::Now`] at `t` to [`Slot::Next`]. [`Slot::Older`] is
/// overwritten.
pub(crate) fn strong_step<T: Scalar>(
    backend: &mut dyn Backend<T>,
    (t, h): (f64, f64),
    after_sweep: AfterSweep<'_, T>,
) -> Result<(), Error> {
    let first = Blend { rhs: h, own: None, terms: &[(1.0, Slot::Now)] };
    backend.sweep(t, Slot::Now, &first, Slot::Next)?;
    if after_sweep(backend, Slot::Next)?.is_break() {
        return Ok(());
    }
    for stage in &STRONG {
        backend.swap(Slot::Next, Slot::Older);
        let mu = rounded::<T>(stage.mu);
        let terms = [(mu, Slot::Older), (1.0 - mu, Slot::Now)];
        let what = Blend { rhs: stage.mu_tilde * h, own: None, terms: &terms };
        backend.sweep(t + stage.theta * h, Slot::Older, &what, Slot::Next)?;
        if after_sweep(backend, Slot::Next)?.is_break() {
            return Ok(());
        }
    }
    Ok(())
}

/// One step of a stabilised method of size `h` from [`Slot::Now`] at `t`, whose right-hand side is in
/// [`Slot::Rhs`], to [`Slot::Next`]. [`Slot::Older`] is overwritten.
pub(crate) fn step<T: Scalar>(
    backend: &mut dyn Backend<T>,
    method: Method,
    stages: u32,
    (t, h): (f64, f64),
    after_sweep: AfterSweep<'_, T>,
) -> Result<(), Error> {
    let mut coefficients = Stages::new(method, stages);
    let terms = [(1.0, Slot::Now), (coefficients.first() * h, Slot::Rhs)];
    let first = Blend { rhs: 0.0, own: None, terms: &terms };
    backend.sweep(t, Slot::Now, &first, Slot::Next)?;
    if after_sweep(backend, Slot::Next)?.is_break() {
        return Ok(());
    }
    for j in 2..=stages {
        let stage = coefficients.advance();
        backend.swap(Slot::Next, Slot::Older);
        // What was written before the last stage is overwritten, and part of the result; before
        // the second stage that is y itself.
        let (mu, nu) = (rounded::<T>(stage.mu), rounded::<T>(stage.nu));
        let (rest, own) = if j == 2 { (1.0 - mu, None) } else { (1.0 - mu - nu, Some(nu)) };
        let terms = [(rest, Slot::Now), (mu, Slot::Older), (-stage.gamma_tilde * h, Slot::Rhs)];
        let what = Blend { rhs: stage.mu_tilde * h, own, terms: &terms };
        backend.sweep(t + stage.theta * h, Slot::Older, &what, Slot::Next)?;
        if after_sweep(backend, Slot::Next)?.is_break() {
            return Ok(());
        }
    }
    Ok(())
}
