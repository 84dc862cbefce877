//! `odeum devices`: what this machine can compute on.

use crate::Exit;
use crate::bench::Machine;
use crate::report::{Align, Style, Table};

pub(crate) fn command() -> Exit {
    let machine = Machine::here();
    let mut table = Table::new(&[("device", Align::Left), ("what it is", Align::Left)]);
    let threads = format!("{}, {} threads, {} lanes", machine.cpu, machine.threads, machine.isa);
    table.row(["cpu", &threads]);
    for (i, gpu) in machine.gpus.iter().enumerate() {
        table.row([format!("cuda:{i}"), gpu.clone()]);
    }
    print!("{}", table.render(Style::stdout()));
    if let Some(reason) = &machine.no_gpu {
        println!("\n  no GPU: {reason}");
    }
    Exit::Success
}
