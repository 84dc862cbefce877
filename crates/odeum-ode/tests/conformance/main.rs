//! The conformance suite: one line per method × backend × precision.
//!
//! A new method joins with one line per backend it runs on.

// Helpers of tests are tests too; clippy exempts only functions marked as such.
#![allow(clippy::unwrap_used)]

mod deceivers;
mod erased;
#[path = "../device/host.rs"]
#[allow(dead_code)]
mod host;
mod prothero;
mod suite;
mod systems;

/// Instantiates the suite and the deceivers, or the suite alone: deceivers are about steps and what accepts them, and need not
/// meet a kernel in every combination of how Jacobians are made, threads and precision, but each of these once.
macro_rules! conforms {
    (suite $name:ident, $method:expr, $place:expr, $precision:ty) => {
        mod $name {
            conforms!(@subject $method, $place);
            conforms!(@suite $precision,);
        }
    };
    ($name:ident, $method:expr, $place:expr, $precision:ty $(, #[$attribute:meta])?) => {
        mod $name {
            conforms!(@subject $method, $place);
            conforms!(@suite $precision, $($attribute)?);
            conforms!(@deceivers $precision, $($attribute)?);
        }
    };
    (@subject $method:expr, $place:expr) => {
        // Not every place of an instance needs all of these names.
        #[allow(unused_imports)]
        use crate::suite::{Place, Subject};
        #[allow(unused_imports)]
        use odeum_ode::{Device, Isa, Method};

        fn subject() -> Subject {
            Subject { method: $method, place: $place }
        }
    };
    (@suite $precision:ty, $($attribute:meta)?) => {
        conforms!(@test suite has_its_order, , $($attribute)?);
        conforms!(@test suite error_follows_tolerance, $precision, $($attribute)?);
        conforms!(@test suite every_fate_has_its_status, $precision, $($attribute)?);
        conforms!(@test suite neighbours_do_not_matter, $precision, $($attribute)?);
        conforms!(@test suite goes_backward, $precision, $($attribute)?);
        conforms!(@test suite saves_at_times, $precision, $($attribute)?);
        conforms!(@test suite segments_are_cold_starts, $precision, $($attribute)?);
        conforms!(@test suite kept_steps_save_searches, $precision, $($attribute)?);
        conforms!(@test suite first_steps_move_the_time, $precision, $($attribute)?);
        conforms!(@test suite spans_and_parameters_are_per_system, $precision, $($attribute)?);
    };
    (@deceivers $precision:ty, $($attribute:meta)?) => {
        conforms!(@test deceivers poles_are_not_passed, $precision, $($attribute)?);
        conforms!(@test deceivers fixed_steps_do_not_pass_poles, $precision, $($attribute)?);
        conforms!(@test deceivers tanks_are_filled, $precision, $($attribute)?);
        conforms!(@test deceivers ignitions_are_not_missed, $precision, $($attribute)?);
        conforms!(@test deceivers clocks_do_not_drift, $precision, $($attribute)?);
        conforms!(@test deceivers saddles_are_left, $precision, $($attribute)?);
        conforms!(@test deceivers decays_are_followed, $precision, $($attribute)?);
        conforms!(@test deceivers undisturbed_equilibria_end, $precision, $($attribute)?);
        conforms!(@test deceivers inert_unknowns_hide_no_growth, $precision, $($attribute)?);
        conforms!(@test deceivers growth_that_begins_later_is_seen, $precision, $($attribute)?);
        conforms!(@test deceivers jumps_and_pulses_are_resolved, $precision, $($attribute)?);
        conforms!(@test deceivers steps_end_at_saved_times, $precision, $($attribute)?);
        conforms!(@test deceivers thresholds_are_resolved, $precision, $($attribute)?);
        conforms!(@test deceivers slow_changes_are_not_rounded_away, $precision, $($attribute)?);
        conforms!(@test deceivers excursions_are_seen, $precision, $($attribute)?);
        conforms!(@test deceivers work_is_bounded, $precision, $($attribute)?);
    };
    (@test $place:ident $test:ident, $($precision:ty)?, $($attribute:meta)?) => {
        #[test]
        $(#[$attribute])?
        fn $test() {
            let subject = subject();
            if subject.can_run() {
                crate::$place::$test$(::<$precision>)?(&subject);
            }
        }
    };
}

/// The CPU with these lanes and threads; with the widest lanes it has, where it lacks these.
fn cpu(isa: odeum_ode::Isa, threads: usize) -> suite::Place {
    suite::Place::Device(processor(isa, threads))
}

/// The same, by methods that are compiled for the system.
fn inlined(isa: odeum_ode::Isa, threads: usize) -> suite::Place {
    suite::Place::Inlined(processor(isa, threads))
}

fn processor(isa: odeum_ode::Isa, threads: usize) -> odeum_ode::Device {
    let isa = if isa.is_available() { isa } else { odeum_ode::Isa::best() };
    odeum_ode::Device::Cpu(odeum_ode::Cpu { threads: Some(threads), isa })
}

/// An exponential method by Krylov subspaces.
fn krylov(method: odeum_ode::Method) -> odeum_ode::Method {
    let odeum_ode::Method::Exponential(mut exponential) = method else { return method };
    exponential.action = odeum_ode::method::exponential::Action::Krylov { max_dimension: 30 };
    odeum_ode::Method::Exponential(exponential)
}

/// A Rosenbrock method whose Jacobian is by finite differences.
fn differences(method: odeum_ode::Method) -> odeum_ode::Method {
    let odeum_ode::Method::Rosenbrock(mut rosenbrock) = method else { return method };
    rosenbrock.jacobian = odeum_ode::method::JacobianSource::FiniteDifferences;
    odeum_ode::Method::Rosenbrock(rosenbrock)
}

conforms!(rkck_avx512_f64, Method::rkck(), crate::cpu(Isa::Avx512, 2), f64);
conforms!(rkck_avx2_f64, Method::rkck(), crate::cpu(Isa::Avx2, 3), f64);
conforms!(rkck_scalar_f64, Method::rkck(), crate::cpu(Isa::Scalar, 1), f64);
conforms!(rkck_avx512_f32, Method::rkck(), crate::cpu(Isa::Avx512, 2), f32);
conforms!(dopri5_avx512_f64, Method::dopri5(), crate::cpu(Isa::Avx512, 2), f64);
conforms!(dopri5_avx2_f32, Method::dopri5(), crate::cpu(Isa::Avx2, 2), f32);
conforms!(tsit5_avx512_f64, Method::tsit5(), crate::cpu(Isa::Avx512, 2), f64);
conforms!(vern7_avx512_f64, Method::vern7(), crate::cpu(Isa::Avx512, 2), f64);
conforms!(rkc_avx512_f64, Method::rkc(), crate::cpu(Isa::Avx512, 2), f64);
conforms!(rkc_avx2_f64, Method::rkc(), crate::cpu(Isa::Avx2, 1), f64);
conforms!(rkc_scalar_f64, Method::rkc(), crate::cpu(Isa::Scalar, 2), f64);
conforms!(rkc_avx512_f32, Method::rkc(), crate::cpu(Isa::Avx512, 1), f32);
conforms!(rodas3_avx512_f64, Method::rodas3(), crate::cpu(Isa::Avx512, 2), f64);
conforms!(rodas4_avx512_f64, Method::rodas4(), crate::cpu(Isa::Avx512, 2), f64);
conforms!(rodas4_avx2_f64, Method::rodas4(), crate::cpu(Isa::Avx2, 3), f64);
conforms!(rodas4_scalar_f64, Method::rodas4(), crate::cpu(Isa::Scalar, 1), f64);
conforms!(rodas4_avx512_f32, Method::rodas4(), crate::cpu(Isa::Avx512, 2), f32);
conforms!(rodas5p_avx512_f64, Method::rodas5p(), crate::cpu(Isa::Avx512, 1), f64);
conforms!(rodas5p_avx2_f32, Method::rodas5p(), crate::cpu(Isa::Avx2, 2), f32);
conforms!(ros34pw2_avx512_f64, Method::ros34pw2(), crate::cpu(Isa::Avx512, 2), f64);
conforms!(radau_avx512_f64, Method::radau(), crate::cpu(Isa::Avx512, 2), f64);
conforms!(radau_avx2_f64, Method::radau(), crate::cpu(Isa::Avx2, 1), f64);
conforms!(radau_scalar_f64, Method::radau(), crate::cpu(Isa::Scalar, 2), f64);
conforms!(radau_avx512_f32, Method::radau(), crate::cpu(Isa::Avx512, 3), f32);
conforms!(exp4_avx512_f64, Method::exp4(), crate::cpu(Isa::Avx512, 2), f64);
conforms!(exprb43_avx512_f64, Method::exprb43(), crate::cpu(Isa::Avx512, 2), f64);
conforms!(exprb43_avx2_f64, Method::exprb43(), crate::cpu(Isa::Avx2, 1), f64);
conforms!(exprb43_scalar_f64, Method::exprb43(), crate::cpu(Isa::Scalar, 2), f64);
conforms!(exprb43_avx512_f32, Method::exprb43(), crate::cpu(Isa::Avx512, 3), f32);
conforms!(krylov_exp4_avx2_f64, crate::krylov(Method::exp4()), crate::cpu(Isa::Avx2, 2), f64);
conforms!(krylov_avx512_f64, crate::krylov(Method::exprb43()), crate::cpu(Isa::Avx512, 2), f64);
conforms!(krylov_avx512_f32, crate::krylov(Method::exprb43()), crate::cpu(Isa::Avx512, 1), f32);

conforms!(rkck_inlined_f64, Method::rkck(), crate::inlined(Isa::Avx512, 2), f64);
conforms!(tsit5_inlined_f64, Method::tsit5(), crate::inlined(Isa::Avx2, 1), f64);
conforms!(rkc_inlined_f64, Method::rkc(), crate::inlined(Isa::Avx512, 2), f64);

conforms!(rkck_cuda_f64, Method::rkck(), Place::Host, f64);
conforms!(rkck_cuda_f32, Method::rkck(), Place::Host, f32);
conforms!(rkck_warp_f64, Method::rkck(), Place::Groups(32), f64);
conforms!(dopri5_cuda_f64, Method::dopri5(), Place::Host, f64);
conforms!(dopri5_warp_f64, Method::dopri5(), Place::Groups(32), f64);
conforms!(tsit5_cuda_f32, Method::tsit5(), Place::Host, f32);
conforms!(vern7_cuda_f64, Method::vern7(), Place::Host, f64);
conforms!(rkck_lanes_f64, Method::rkck(), Place::Lanes, f64);
conforms!(dopri5_lanes_f64, Method::dopri5(), Place::Lanes, f64);
conforms!(tsit5_lanes_f32, Method::tsit5(), Place::Lanes, f32);
conforms!(vern7_lanes_f64, Method::vern7(), Place::Lanes, f64);
conforms!(rkc_cuda_f64, Method::rkc(), Place::Host, f64);
conforms!(rkc_cuda_f32, Method::rkc(), Place::Host, f32);
conforms!(rkc_warp_f64, Method::rkc(), Place::Groups(32), f64);
conforms!(rkc_warp_f32, Method::rkc(), Place::Groups(32), f32);
conforms!(rodas3_cuda_f64, Method::rodas3(), Place::Host, f64);
conforms!(rodas4_cuda_f64, Method::rodas4(), Place::Host, f64);
conforms!(rodas4_cuda_f32, Method::rodas4(), Place::Host, f32);
conforms!(rodas4_warp_f64, Method::rodas4(), Place::Groups(32), f64);
conforms!(differences_cuda_f64, crate::differences(Method::rodas4()), Place::Host, f64);
conforms!(suite differences_warp_f64, crate::differences(Method::rodas4()), Place::Groups(32), f64);
conforms!(rodas5p_cuda_f64, Method::rodas5p(), Place::Host, f64);
conforms!(ros34pw2_cuda_f64, Method::ros34pw2(), Place::Host, f64);
conforms!(radau_cuda_f64, Method::radau(), Place::Host, f64);
conforms!(radau_cuda_f32, Method::radau(), Place::Host, f32);
conforms!(radau_warp_f64, Method::radau(), Place::Groups(32), f64);
conforms!(suite radau_warp_f32, Method::radau(), Place::Groups(32), f32);
conforms!(exp4_cuda_f64, Method::exp4(), Place::Host, f64);
conforms!(exprb43_cuda_f64, Method::exprb43(), Place::Host, f64);
conforms!(exprb43_cuda_f32, Method::exprb43(), Place::Host, f32);
conforms!(krylov_exp4_cuda_f64, crate::krylov(Method::exp4()), Place::Host, f64);
conforms!(krylov_cuda_f64, crate::krylov(Method::exprb43()), Place::Host, f64);
conforms!(krylov_cuda_f32, crate::krylov(Method::exprb43()), Place::Host, f32);

conforms!(rkck_gpu_f64, Method::rkck(), Place::Device(Device::cuda(0)), f64, #[ignore = "needs a GPU"]);
conforms!(rkck_gpu_f32, Method::rkck(), Place::Device(Device::cuda(0)), f32, #[ignore = "needs a GPU"]);
conforms!(tsit5_gpu_f64, Method::tsit5(), Place::Device(Device::cuda(0)), f64, #[ignore = "needs a GPU"]);
conforms!(vern7_gpu_f64, Method::vern7(), Place::Device(Device::cuda(0)), f64, #[ignore = "needs a GPU"]);
conforms!(rkc_gpu_f64, Method::rkc(), Place::Device(Device::cuda(0)), f64, #[ignore = "needs a GPU"]);
conforms!(rkc_gpu_f32, Method::rkc(), Place::Device(Device::cuda(0)), f32, #[ignore = "needs a GPU"]);
conforms!(rodas3_gpu_f64, Method::rodas3(), Place::Device(Device::cuda(0)), f64, #[ignore = "needs a GPU"]);
conforms!(rodas4_gpu_f64, Method::rodas4(), Place::Device(Device::cuda(0)), f64, #[ignore = "needs a GPU"]);
conforms!(rodas4_gpu_f32, Method::rodas4(), Place::Device(Device::cuda(0)), f32, #[ignore = "needs a GPU"]);
conforms!(differences_gpu_f64, crate::differences(Method::rodas4()), Place::Device(Device::cuda(0)), f64, #[ignore = "needs a GPU"]);
conforms!(rodas5p_gpu_f64, Method::rodas5p(), Place::Device(Device::cuda(0)), f64, #[ignore = "needs a GPU"]);
conforms!(radau_gpu_f64, Method::radau(), Place::Device(Device::cuda(0)), f64, #[ignore = "needs a GPU"]);
conforms!(radau_gpu_f32, Method::radau(), Place::Device(Device::cuda(0)), f32, #[ignore = "needs a GPU"]);
conforms!(exp4_gpu_f64, Method::exp4(), Place::Device(Device::cuda(0)), f64, #[ignore = "needs a GPU"]);
conforms!(exprb43_gpu_f64, Method::exprb43(), Place::Device(Device::cuda(0)), f64, #[ignore = "needs a GPU"]);
conforms!(exprb43_gpu_f32, Method::exprb43(), Place::Device(Device::cuda(0)), f32, #[ignore = "needs a GPU"]);
conforms!(krylov_gpu_f64, crate::krylov(Method::exprb43()), Place::Device(Device::cuda(0)), f64, #[ignore = "needs a GPU"]);
conforms!(krylov_gpu_f32, crate::krylov(Method::exprb43()), Place::Device(Device::cuda(0)), f32, #[ignore = "needs a GPU"]);
