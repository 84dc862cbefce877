//! The text of a kernel under construction.

use std::fmt::{Display, Write};

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
    /// constant, which the compiler folds away where it knows the index.
    pub fn table(&mut self, kind: &str, head: &str, index: &str, values: &[String]) {
        let (n, list) = (values.len().max(1), values.join(", "));
        self.line(format_args!(
            "OD_FN {kind} {head} {{ const {kind} values[{n}] = {{{list}}}; return values[{index}]; }}"
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
