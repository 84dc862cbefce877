//! A mechanism with every rate law, and dual numbers.
#![allow(dead_code)]

pub(crate) mod dual;
pub(crate) mod synthetic;
