//! Ends of lines in text files.

use std::borrow::Cow;

/// The text with a line feed for each carriage return that ends a line by itself, as on the Macintosh of old; of the
/// same length. Those before a line feed stay.
#[must_use]
pub fn line_feeds(text: &str) -> Cow<'_, str> {
    if !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    let mut fed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\r') {
        let after = rest[at..].trim_start_matches('\r');
        let (before, returns) = rest[..rest.len() - after.len()].split_at(at);
        fed.push_str(before);
        match after.starts_with('\n') {
            true => fed.push_str(returns),
            false => fed.extend(returns.chars().map(|_| '\n')),
        }
        rest = after;
    }
    fed.push_str(rest);
    Cow::Owned(fed)
}

#[cfg(test)]
mod tests {
    use super::line_feeds;

    #[test]
    fn returns_alone_become_feeds() {
        for (text, expected) in [
            ("", ""),
            ("a\nb", "a\nb"),
            ("a\r\nb\r\n", "a\r\nb\r\n"),
            ("a\rb\r", "a\nb\n"),
            ("é\r\rb\r\nc\r\r\nd\r", "é\n\nb\r\nc\r\r\nd\n"),
        ] {
            assert_eq!(line_feeds(text), expected);
        }
    }
}
