//! dump
#![allow(missing_docs, clippy::unwrap_used)]
use odeum_fields::cuda::{Tiling, inspect};
use odeum_fields::problems::Paper;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let n = |k: usize| a[k].parse::<usize>().unwrap();
    let paper = Paper::named(&a[1]).unwrap();
    let problem = paper.problem([512; 3]).unwrap();
    let t = Tiling {
        depth: n(2),
        pack: n(3),
        rows: n(4),
        block: [n(5), n(6)],
        ahead: n(7),
        blocks_per_sm: n(8),
        planes: 0,
    };
    println!("{}", inspect::kernel::<f32>(&problem, t, 1.0).unwrap().source);
}
