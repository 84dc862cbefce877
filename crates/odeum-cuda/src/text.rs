//! The text of a kernel under construction.

use std::fmt::{Display, Write};

/// Most entries of a table that is a local constant.
const LOCAL: usize = 64;

/// Lines of CUDA C++.
#[derive(Debug, Default)]
pub struct Text(String);

impl Text {
    /// A line, or several.
    pub fn line(&mut self, line: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{line}");
    }

    /// `#define name value`.
    pub fn define(&mut self, name: &str, value: impl Display) {
        self.line(format_args!("#define {name} {value}"));
    }

    /// A function `head`, as `od_a(int s, int m)`, that reads the entry `index` of a table: a local
    /// constant, which the compiler folds away where it knows the index. A long one is static: a copy in each
    /// function it is inlined into took 13 of the 15 s that a step of fields of 64 species is compiled in. A short one is not, with which
    /// kernels take fewer registers.
    pub fn table(&mut self, kind: &str, head: &str, index: &str, values: &[String]) {
        let (n, list) = (values.len().max(1), values.join(", "));
        let constant = if n > LOCAL { "static constexpr" } else { "const" };
        self.line(format_args!(
            "OD_FN {kind} {head} {{ {constant} {kind} values[{n}] = {{{list}}}; return values[{index}]; }}"
        ));
    }

    /// As [`table`](Text::table), in memory: for indices known only when the program runs.
    pub fn table_in_memory(&mut self, kind: &str, head: &str, index: &str, values: &[String]) {
        let (n, list) = (values.len().max(1), values.join(", "));
        let name = head.split('(').next().unwrap_or(head);
        self.line(format_args!("__constant__ {kind} {name}_table[{n}] = {{{list}}};"));
        self.line(format_args!("OD_FN {kind} {head} {{ return {name}_table[{index}]; }}"));
    }

    /// The text.
    pub fn finish(self) -> String {
        self.0
    }
}
