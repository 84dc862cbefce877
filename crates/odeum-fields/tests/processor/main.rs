//! What fields compute on processors, against identities, solutions and each other. One program,
//! as each would compile the same marches again.
#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;

mod cascade;
mod deceivers;
mod energy;
mod fronts;
mod homogeneous;
mod koren;
mod laplacian;
mod manufactured;
mod march;
mod mask;
mod native;
mod physics;
mod puffs;
mod record;
mod stabilised;
mod subnormal;
mod symmetry;
mod thin;
mod walls;
