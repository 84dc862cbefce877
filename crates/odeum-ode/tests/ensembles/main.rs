//! Ensembles on the CPU, and the kernels of GPUs without one.

// A helper that cannot go on fails the test.
#![allow(clippy::unwrap_used)]

mod chemistry;
mod device_compile;
mod device_differences;
mod device_driver;
mod device_events;
mod device_exponential;
mod device_kernels;
mod device_parts;
mod device_radau;
mod device_rounds;
mod device_solution;
mod event;
mod extremes;
mod far;
#[path = "../device/host.rs"]
mod host;
mod lent;
mod panics;
mod problems;
mod recorded_groups;
mod refill;
mod refused_systems;
mod rkc_work;
mod scaled;
mod series;
mod session;
mod spectral_radius;
mod stiff;
mod suggested;
mod tableaus;
