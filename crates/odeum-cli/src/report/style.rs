//! Colours, where the terminal wants them.

use std::io::IsTerminal;

/// Paints text for one stream; plain when it is no terminal or `NO_COLOR` is set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    colour: bool,
}

impl Style {
    pub(crate) fn stdout() -> Style {
        Style { colour: wanted() && std::io::stdout().is_terminal() }
    }

    pub(crate) fn stderr() -> Style {
        Style { colour: wanted() && std::io::stderr().is_terminal() }
    }

    #[cfg(test)]
    pub(crate) fn plain() -> Style {
        Style { colour: false }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("1;33", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.paint("1;32", text)
    }

    pub(crate) fn blue(self, text: &str) -> String {
        self.paint("1;34", text)
    }

    /// How the codes of its colours go on after ESC; none where it paints nothing.
    pub(super) fn codes(self) -> &'static [&'static str] {
        if self.colour {
            &["[1m", "[2m", "[1;31m", "[1;33m", "[1;32m", "[1;34m", "[0m"]
        } else {
            &[]
        }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

fn wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
