//! Literals of Python as headers of NPY files have them: texts, whole numbers, truths, lists, tuples and dictionaries.

use std::iter::Peekable;
use std::str::Chars;

/// A literal.
#[derive(Debug, PartialEq)]
pub(crate) enum Literal {
    Text(String),
    Whole(usize),
    Truth(bool),
    List(Vec<Literal>),
    Tuple(Vec<Literal>),
    Dict(Vec<(Literal, Literal)>),
}

/// Literals within each other; those of headers are four deep.
const DEEPEST: usize = 16;

impl Literal {
    /// The literal that a text consists of, white space aside.
    pub(crate) fn read(text: &str) -> Option<Literal> {
        let mut rest = text.chars().peekable();
        let literal = literal(&mut rest, DEEPEST)?;
        (next(&mut rest).is_none()).then_some(literal)
    }

    /// The number of a whole number.
    pub(crate) fn whole(&self) -> Option<usize> {
        match self {
            Literal::Whole(number) => Some(*number),
            _ => None,
        }
    }

    /// The text of a text.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Literal::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// The next character that is no white space, not yet taken.
fn next(rest: &mut Peekable<Chars<'_>>) -> Option<char> {
    while rest.next_if(|c| c.is_ascii_whitespace()).is_some() {}
    rest.peek().copied()
}

fn literal(rest: &mut Peekable<Chars<'_>>, depth: usize) -> Option<Literal> {
    let depth = depth.checked_sub(1)?;
    match next(rest)? {
        '[' => items(rest, ']', |rest| literal(rest, depth)).map(|(items, _)| Literal::List(items)),
        '(' => {
            let (mut items, commas) = items(rest, ')', |rest| literal(rest, depth))?;
            // A literal in brackets is no tuple.
            if (items.len(), commas) == (1, 0) { items.pop() } else { Some(Literal::Tuple(items)) }
        }
        '{' => {
            let entry = |rest: &mut Peekable<Chars<'_>>| {
                let key = literal(rest, depth)?;
                next(rest).filter(|c| *c == ':')?;
                rest.next();
                Some((key, literal(rest, depth)?))
            };
            items(rest, '}', entry).map(|(entries, _)| Literal::Dict(entries))
        }
        quote @ ('\'' | '"') => {
            rest.next();
            text(rest, quote).map(Literal::Text)
        }
        '0'..='9' => {
            let digits = taken(rest, |c| c.is_ascii_digit());
            // As Python 2 wrote them.
            rest.next_if_eq(&'L');
            digits.parse().ok().map(Literal::Whole)
        }
        _ => match taken(rest, |c| c.is_ascii_alphabetic()).as_str() {
            "True" => Some(Literal::Truth(true)),
            "False" => Some(Literal::Truth(false)),
            _ => None,
        },
    }
}

/// What stands between brackets, separated by commas, and the number of these.
fn items<T>(
    rest: &mut Peekable<Chars<'_>>,
    end: char,
    mut item: impl FnMut(&mut Peekable<Chars<'_>>) -> Option<T>,
) -> Option<(Vec<T>, usize)> {
    rest.next();
    let (mut items, mut commas) = (Vec::new(), 0);
    while next(rest)? != end {
        if commas < items.len() {
            return None;
        }
        items.push(item(rest)?);
        if next(rest)? == ',' {
            rest.next();
            commas += 1;
        }
    }
    rest.next();
    Some((items, commas))
}

/// The rest of a text that has begun with a quote.
fn text(rest: &mut Peekable<Chars<'_>>, quote: char) -> Option<String> {
    let mut text = String::new();
    loop {
        let c = match rest.next()? {
            c if c == quote => return Some(text),
            '\\' => match rest.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'x' => code(rest, 2)?,
                'u' => code(rest, 4)?,
                'U' => code(rest, 8)?,
                c @ ('\\' | '\'' | '"') => c,
                _ => return None,
            },
            c => c,
        };
        text.push(c);
    }
}

/// The character whose number has so many hexadecimal digits.
fn code(rest: &mut Peekable<Chars<'_>>, digits: usize) -> Option<char> {
    let digits: Option<String> =
        (0..digits).map(|_| rest.next_if(char::is_ascii_hexdigit)).collect();
    char::from_u32(u32::from_str_radix(&digits?, 16).ok()?)
}

fn taken(rest: &mut Peekable<Chars<'_>>, is_of: impl Fn(&char) -> bool) -> String {
    std::iter::from_fn(|| rest.next_if(&is_of)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_read() {
        let text = r#" {'a': [('x [m]', "k's"), ('\x41\u00b5\\',)], "b": (2L, 3), 'c': (True), 'd': (),} "#;
        let word = |text: &str| Literal::Text(text.to_owned());
        let pair = Literal::Tuple(vec![word("x [m]"), word("k's")]);
        let list = Literal::List(vec![pair, Literal::Tuple(vec![word("Aµ\\")])]);
        let shape = Literal::Tuple(vec![Literal::Whole(2), Literal::Whole(3)]);
        let values = [list, shape, Literal::Truth(true), Literal::Tuple(Vec::new())];
        let entries = ["a", "b", "c", "d"].map(word).into_iter().zip(values).collect();
        assert_eq!(Literal::read(text), Some(Literal::Dict(entries)));
    }

    #[test]
    fn what_is_no_literal_is_none() {
        let deep = "(".repeat(100_000);
        for text in [
            "",
            "{'a'}",
            "(1 2)",
            "(,)",
            "'a",
            "[1",
            "None",
            "1 2",
            r"'\q'",
            "9".repeat(30).as_str(),
            &deep,
        ] {
            assert_eq!(Literal::read(text), None, "{text:.20}");
        }
    }
}
