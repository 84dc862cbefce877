//! Tokens to a syntax tree, by operator precedence.

use super::token::{Span, Token, Tokens};
use crate::number::{TOO_SMALL, vanishes};

/// Deepest nesting of parentheses, calls, signs and powers; more is a slip or an attack, and
/// the parser's own stack must not overflow.
const MAX_DEPTH: usize = 200;

/// A complaint about a place in the text, not yet tied to its part.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Complaint {
    pub(super) span: Span,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl Complaint {
    pub(super) fn new(span: Span, message: impl Into<String>) -> Complaint {
        Complaint { span, message: message.into(), help: None }
    }

    pub(super) fn help(self, help: impl Into<String>) -> Complaint {
        Complaint { help: Some(help.into()), ..self }
    }
}

/// Index of a piece of a [`Tree`].
pub(super) type Index = usize;

/// A piece of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece<'a> {
    Number(f64),
    Name(&'a str),
    Unary(Unary, Index),
    Binary(Binary, Index, Index),
    Call(&'a str, Vec<Index>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unary {
    Minus,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Binary {
    Or,
    And,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Plus,
    Minus,
    Times,
    Over,
    Power,
}

/// How tightly operators bind.
mod level {
    pub(super) const OR: u8 = 1;
    pub(super) const AND: u8 = 2;
    pub(super) const COMPARISON: u8 = 3;
    pub(super) const SUM: u8 = 4;
    pub(super) const PRODUCT: u8 = 5;
    /// Operands of a sign: so −x² is −(x²).
    pub(super) const POWER: u8 = 6;
}

/// The operator a sign stands for between two operands, and its level.
fn binary(sign: &str) -> Option<(Binary, u8)> {
    Some(match sign {
        "||" => (Binary::Or, level::OR),
        "&&" => (Binary::And, level::AND),
        "<" => (Binary::Less, level::COMPARISON),
        "<=" => (Binary::LessEqual, level::COMPARISON),
        ">" => (Binary::Greater, level::COMPARISON),
        ">=" => (Binary::GreaterEqual, level::COMPARISON),
        "==" => (Binary::Equal, level::COMPARISON),
        "!=" => (Binary::NotEqual, level::COMPARISON),
        "+" => (Binary::Plus, level::SUM),
        "-" => (Binary::Minus, level::SUM),
        "*" => (Binary::Times, level::PRODUCT),
        "/" => (Binary::Over, level::PRODUCT),
        "^" => (Binary::Power, level::POWER),
        _ => return None,
    })
}

/// An expression as an array: parts stand before the whole, the root stands last. So whoever
/// walks it needs a loop and no recursion, however long the expression is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tree<'a> {
    pub(super) pieces: Vec<(Piece<'a>, Span)>,
}

/// Reads a whole text as one expression. The first error ends it.
pub(super) fn parse(text: &str) -> Result<Tree<'_>, Complaint> {
    let mut tokens = Tokens::new(text);
    let next = tokens.next();
    let mut parser = Parser { tokens, next, tree: Tree::default(), depth: 0 };
    parser.expression(level::OR)?;
    match parser.next.0 {
        Token::End => Ok(parser.tree),
        Token::Sign(")") => Err(Complaint::new(parser.next.1, "this `)` closes nothing")),
        _ => Err(parser.unexpected("an operator")),
    }
}

struct Parser<'a> {
    tokens: Tokens<'a>,
    /// The token to come.
    next: (Token<'a>, Span),
    tree: Tree<'a>,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn advance(&mut self) -> Span {
        let span = self.next.1;
        self.next = self.tokens.next();
        span
    }

    fn push(&mut self, piece: Piece<'a>, span: Span) -> Index {
        self.tree.pieces.push((piece, span));
        self.tree.pieces.len() - 1
    }

    /// An expression of operators that bind at least as tightly as `lowest`.
    fn expression(&mut self, lowest: u8) -> Result<Index, Complaint> {
        if self.depth == MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            return Err(Complaint::new(self.next.1, message).help("name parts by definitions"));
        }
        self.depth += 1;
        let mut left = self.operand()?;
        let mut compared = false;
        while let Token::Sign(sign) = self.next.0
            && let Some((operator, level)) = binary(sign)
            && level >= lowest
        {
            if level == level::COMPARISON && std::mem::replace(&mut compared, true) {
                let complaint = Complaint::new(self.next.1, "comparisons cannot be chained");
                return Err(complaint.help("join two comparisons with &&"));
            }
            let span = self.advance();
            // Powers group from the right, everything else from the left.
            let right =
                self.expression(if operator == Binary::Power { level } else { level + 1 })?;
            left = self.push(Piece::Binary(operator, left, right), span);
        }
        self.depth -= 1;
        Ok(left)
    }

    /// A number, a name, a call, something in parentheses, or one of these with a sign.
    fn operand(&mut self) -> Result<Index, Complaint> {
        match self.next.0 {
            Token::Number(number) => {
                let span = self.advance();
                if vanishes(self.tokens.text(span)) {
                    return Err(Complaint::new(span, "this number is too small").help(TOO_SMALL));
                }
                if !number.is_finite() {
                    return Err(Complaint::new(span, "this number is too large"));
                }
                Ok(self.push(Piece::Number(number), span))
            }
            Token::Name(name) => {
                let span = self.advance();
                if self.next.0 != Token::Sign("(") {
                    let prefix = matches!(self.next.0, Token::Name(_) | Token::Number(_));
                    return match word_remedy(name).filter(|_| prefix) {
                        Some(help) => {
                            let message = format!("`{name}` is no word of expressions");
                            Err(Complaint::new(span, message).help(help))
                        }
                        None => Ok(self.push(Piece::Name(name), span)),
                    };
                }
                let arguments = self.arguments()?;
                Ok(self.push(Piece::Call(name, arguments), span))
            }
            Token::Sign("(") => {
                let open = self.advance();
                let inside = self.expression(level::OR)?;
                self.close(open)?;
                Ok(inside)
            }
            Token::Sign(sign @ ("-" | "!" | "+")) => {
                let span = self.advance();
                let operand = self.expression(level::POWER)?;
                Ok(match sign {
                    "-" => self.push(Piece::Unary(Unary::Minus, operand), span),
                    "!" => self.push(Piece::Unary(Unary::Not, operand), span),
                    _ => operand,
                })
            }
            _ => Err(self.unexpected("a number, a name or `(`")),
        }
    }

    /// The arguments of a call, from its opening to its closing parenthesis.
    fn arguments(&mut self) -> Result<Vec<Index>, Complaint> {
        let open = self.advance();
        let mut arguments = Vec::new();
        if self.next.0 != Token::Sign(")") {
            arguments.push(self.expression(level::OR)?);
            while self.next.0 == Token::Sign(",") {
                self.advance();
                arguments.push(self.expression(level::OR)?);
            }
        }
        self.close(open)?;
        Ok(arguments)
    }

    fn close(&mut self, open: Span) -> Result<(), Complaint> {
        match self.next.0 {
            Token::Sign(")") => {
                self.advance();
                Ok(())
            }
            Token::End => Err(Complaint::new(open, "this `(` is never closed")),
            _ => Err(self.unexpected("an operator or `)`")),
        }
    }

    /// The next token is not what can stand here.
    fn unexpected(&self, expected: &str) -> Complaint {
        let (token, span) = self.next;
        let what = match token {
            Token::Number(_) | Token::Name(_) => {
                let complaint = Complaint::new(span, "an operator is missing before this");
                return complaint.help(match token {
                    Token::Name(name) => word_remedy(name).unwrap_or(MULTIPLY),
                    _ => MULTIPLY,
                });
            }
            Token::Sign("*") if self.tokens.follows(span, '*') => {
                let complaint = Complaint::new(span, format!("expected {expected}, found `*`"));
                return complaint.help("powers are written with `^`");
            }
            Token::Sign(sign) => format!("`{sign}`"),
            Token::Stray(c) => {
                let complaint =
                    Complaint::new(span, format!("`{}` means nothing here", c.escape_debug()));
                return match remedy(c) {
                    Some(help) => complaint.help(help),
                    None => complaint,
                };
            }
            Token::End => "the end".to_owned(),
        };
        Complaint::new(span, format!("expected {expected}, found {what}"))
    }
}

/// Where an operator is missing.
pub(super) const MULTIPLY: &str = "write `*` to multiply";

/// What a word of programming languages is written as, where it stands for an operator.
pub(super) fn word_remedy(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "and" => "for `and`, write `&&`",
        "or" => "for `or`, write `||`",
        "not" => "for `not`, write `!`",
        "if" | "then" | "else" => "to choose, write select(condition, a, b)",
        "mod" | "div" => "write x / y, or x - y * floor(x / y) for what is left",
        _ => return None,
    })
}

/// What a character that means nothing was probably meant to be.
fn remedy(c: char) -> Option<&'static str> {
    Some(match c {
        '=' => "to compare, write `==`",
        ';' => "separate arguments by `,`",
        '&' => "for `and`, write `&&`",
        '|' => "for `or`, write `||`; for an absolute value, abs(...)",
        '−' | '–' => "write `-`",
        '·' | '×' | '⋅' | '∙' => "write `*`",
        '÷' => "write `/`",
        '²' => "write `^2`",
        '³' => "write `^3`",
        '[' | '{' => "write `(`",
        ']' | '}' => "write `)`",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree with every operator in parentheses.
    fn grouped(text: &str) -> String {
        let tree = parse(text).expect("a correct expression");
        let mut done: Vec<String> = Vec::new();
        for (piece, (start, len)) in &tree.pieces {
            let sign = &text[*start..*start + *len];
            done.push(match piece {
                Piece::Number(x) => x.to_string(),
                Piece::Name(name) => (*name).to_owned(),
                Piece::Unary(_, a) => format!("({sign}{})", done[*a]),
                Piece::Binary(_, a, b) => format!("({}{sign}{})", done[*a], done[*b]),
                Piece::Call(name, arguments) => {
                    let arguments: Vec<_> = arguments.iter().map(|&a| done[a].clone()).collect();
                    format!("{name}[{}]", arguments.join(","))
                }
            });
        }
        done.pop().unwrap_or_default()
    }

    #[test]
    fn operators_bind_as_in_mathematics() {
        for (text, expected) in [
            ("a-b-c", "((a-b)-c)"),
            ("a+b*c", "(a+(b*c))"),
            ("a/b/c", "((a/b)/c)"),
            ("-x^2", "(-(x^2))"),
            ("2^3^2", "(2^(3^2))"),
            ("2^-x*y", "((2^(-x))*y)"),
            ("a*-b", "(a*(-b))"),
            ("-a*b", "((-a)*b)"),
            ("+a - +b", "(a-b)"),
            ("a<b && c>=d || !(e==f)", "(((a<b)&&(c>=d))||(!(e==f)))"),
            ("if(a<1,min(b,c),0)", "if[(a<1),min[b,c],0]"),
        ] {
            assert_eq!(grouped(text), expected);
        }
    }

    #[test]
    fn errors_stand_where_the_slip_is() {
        for (text, offset, part) in [
            ("", 0, "found the end"),
            ("a + ", 4, "found the end"),
            ("a + )", 4, "found `)`"),
            ("(a + b", 0, "never closed"),
            ("f(a", 1, "never closed"),
            ("a)", 1, "closes nothing"),
            ("2 x", 2, "operator is missing"),
            ("2(x)", 1, "expected an operator, found `(`"),
            ("a ** b", 3, "expected a number"),
            ("a = b", 2, "means nothing"),
            ("a < b < c", 6, "chained"),
            ("1e999", 0, "too large"),
            ("2 - 1e-400", 4, "too small"),
            ("f(a,,b)", 4, "found `,`"),
            ("x − y", 2, "means nothing"),
        ] {
            let complaint = parse(text).expect_err(text);
            assert_eq!(complaint.span.0, offset, "{text}: {complaint:?}");
            assert!(complaint.message.contains(part), "{text}: {complaint:?}");
        }
    }

    #[test]
    fn depth_is_bounded_and_length_is_not() {
        for open in ["(", "-", "x^", "f(", "!"] {
            let complaint = parse(&open.repeat(5_000_000)).map(|_| ()).expect_err("too deep");
            assert!(complaint.message.contains("nested"), "{open}");
        }
        let sum = vec!["a"; 200_000].join("+");
        assert_eq!(parse(&sum).map(|tree| tree.pieces.len()), Ok(399_999));
    }
}
