//! Numbers in what is told.

/// Digits and points of a number that says itself shorter with an exponent: no f64 between 1e-4 and
/// 1e17 has as many.
const LONG: usize = 24;

/// What to do about a number that [`vanishes`].
pub const TOO_SMALL: &str = "the smallest is 4.9e-324: give a larger one, or zero";

/// Whether a text is a number that is not zero, but too small to be told from it.
pub fn vanishes(text: &str) -> bool {
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    digits.contains(|c: char| matches!(c, '1'..='9')) && text.parse() == Ok(0.0)
}

/// A text whose long numbers have exponents: `1e-300` for 300 zeros. Parts of a path stay as they are.
pub fn with_exponents(text: &str) -> String {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_digit) {
        let (before, from) = rest.split_at(start);
        let len = from.find(|c| !is_digit(c)).unwrap_or(from.len());
        // A point behind the digits ends a sentence.
        let len = from[..len].trim_end_matches('.').len().max(1);
        let (digits, after) = from.split_at(len);
        // Digits within a word, or before an exponent, are left as they are.
        let joined = |c: char| c.is_alphanumeric() || "_/\\".contains(c);
        let whole = !before.ends_with(joined) && !after.starts_with(joined);
        out += before;
        match digits.parse::<f64>() {
            Ok(x) if whole && len > LONG && x.is_finite() => out += &format!("{x:e}"),
            _ => out += digits,
        }
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_alone_have_exponents() {
        let text = format!("... found {}, {} and -{}.", 1e-300, 0.1 + 0.2, 1e200);
        assert_eq!(with_exponents(&text), "... found 1e-300, 0.30000000000000004 and -1e200.");
        let words = "a1234567890123456789012345678 1234567890123456789012345678e5";
        let path = "runs/1234567890123456789012345678 1234567890123456789012345678/a.npz";
        for text in [words, path] {
            assert_eq!(with_exponents(text), text);
        }
    }
}
