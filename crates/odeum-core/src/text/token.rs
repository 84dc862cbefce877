//! Text to tokens, one at a time.

/// Bytes of a text: first, and how many.
pub(super) type Span = (usize, usize);

/// The smallest pieces of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A number; infinite when it is too large.
    Number(f64),
    Name(&'a str),
    /// An operator, a parenthesis or a comma.
    Sign(&'static str),
    /// Something no expression contains.
    Stray(char),
    End,
}

/// Longer signs stand before their beginnings.
const SIGNS: [&str; 17] =
    ["<=", ">=", "==", "!=", "&&", "||", "<", ">", "+", "-", "*", "/", "^", "!", "(", ")", ","];

/// The tokens of a text.
pub(super) struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Tokens<'a> {
        Tokens { text, at: 0 }
    }

    /// What stands in a span.
    pub(super) fn text(&self, (start, len): Span) -> &'a str {
        &self.text[start..start + len]
    }

    /// True when the character right before a span is `c`.
    pub(super) fn follows(&self, (start, _): Span, c: char) -> bool {
        self.text[..start].ends_with(c)
    }

    /// The next token and where it stands; [`Token::End`] again and again at the end.
    pub(super) fn next(&mut self) -> (Token<'a>, Span) {
        let rest = self.text[self.at..].trim_start();
        let start = self.text.len() - rest.len();
        let (token, len) = match rest.chars().next() {
            None => (Token::End, 0),
            Some(c) if c.is_ascii_digit() || (c == '.' && starts_with_digit(&rest[1..])) => {
                let len = number_len(rest);
                // The grammar of `number_len` is a part of what the conversion accepts.
                (Token::Number(rest[..len].parse().unwrap_or(f64::NAN)), len)
            }
            Some(c) if starts_name(c) => {
                let len = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
                (Token::Name(&rest[..len]), len)
            }
            Some(c) => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => (Token::Sign(sign), sign.len()),
                None => (Token::Stray(c), c.len_utf8()),
            },
        };
        self.at = start + len;
        (token, (start, len))
    }
}

/// True for a text that is one name.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(starts_name) && text.chars().all(continues_name)
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// Length of the number a text starts with: digits, a fraction, an exponent.
fn number_len(text: &str) -> usize {
    let digits = |from: usize| {
        let rest = &text[from..];
        from + rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())
    };
    let mut len = digits(0);
    if text[len..].starts_with('.') {
        len = digits(len + 1);
    }
    if let Some(exponent) = text[len..].strip_prefix(['e', 'E']) {
        let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if starts_with_digit(unsigned) {
            len = digits(text.len() - unsigned.len());
        }
    }
    len
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Token<'_>> {
        let mut tokens = Tokens::new(text);
        std::iter::from_fn(|| Some(tokens.next().0)).take_while(|t| *t != Token::End).collect()
    }

    #[test]
    fn numbers_end_where_they_should() {
        use Token::*;
        for (text, number) in
            [("2", 2.0), (".5", 0.5), ("2.", 2.0), ("1.5e-3", 1.5e-3), ("1E2", 100.0)]
        {
            assert_eq!(all(text), [Number(number)]);
        }
        assert_eq!(all("2e"), [Number(2.0), Name("e")]);
        assert_eq!(all("2e+x"), [Number(2.0), Name("e"), Sign("+"), Name("x")]);
        assert_eq!(all("1e999"), [Number(f64::INFINITY)]);
        assert_eq!(all("."), [Stray('.')]);
    }

    #[test]
    fn spans_count_bytes() {
        let mut tokens = Tokens::new(" θ_1 <=\n µ");
        assert_eq!(tokens.next(), (Token::Name("θ_1"), (1, 4)));
        assert_eq!(tokens.next(), (Token::Sign("<="), (6, 2)));
        assert_eq!(tokens.next(), (Token::Name("µ"), (10, 2)));
        assert_eq!(tokens.next(), (Token::End, (12, 0)));
    }
}
