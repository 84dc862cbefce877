//! Kernels of fields: executed on this machine through the host shim, and through the run-time
//! compiler. One program, as each would compile the same simulations again.
//!
//! What takes long is g++, a tenth of a second for each text. So of many shapes, boundaries, tilings, methods
//! and parts each check takes some, such that each occurs with some of the others; `ODEUM_THOROUGH=1`
//! has all of them run.
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
mod places;
mod published;
mod simulation;
mod slabs;
