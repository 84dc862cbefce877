//! `odeum devices`: what this machine can compute on.

use crate::bench::Machine;
use crate::exit::Exit;
use crate::report::{Align, Style, Table, say};

pub(crate) fn command() -> Exit {
    let machine = Machine::here();
    let mut table = Table::new(&[("device", Align::Left), ("what it is", Align::Left)]);
    let threads = format!("{}, {} threads, {} lanes", machine.cpu, machine.threads, machine.isa);
    table.row(["cpu", &threads]);
    for (i, gpu) in machine.gpus.iter().enumerate() {
        table.row([format!("cuda:{i}"), gpu.clone()]);
    }
    let mut text = table.render(Style::stdout());
    for reason in &machine.lacks {
        text += &format!("\n  {reason}\n");
    }
    say(&text);
    Exit::Success
}
