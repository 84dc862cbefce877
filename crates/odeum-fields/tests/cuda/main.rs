//! Kernels of fields: executed on this machine through the host shim, and through the run-time
//! compiler. One program, as each would compile the same simulations again.
#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../odeum-ode/tests/device/nvrtc.rs"]
mod nvrtc;

mod compile;
mod deceivers;
mod host;
mod kernels;
mod mask;
mod pipeline;
mod published;
mod simulation;
mod slabs;
