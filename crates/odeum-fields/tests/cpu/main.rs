//! What fields compute on CPUs, against identities, solutions and each other. One program,
//! as each would compile the same simulations again.
#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;

mod boundaries;
mod cascade;
mod deceivers;
mod energy;
mod fronts;
mod going_on;
mod homogeneous;
mod koren;
mod laplacian;
mod long_waves;
mod manufactured;
mod mask;
mod native;
mod physics;
mod places;
mod puffs;
mod record;
mod simulation;
mod species;
mod stabilised;
mod subnormal;
mod symmetry;
mod thin;
mod undamped;
mod units;
mod unseen;
