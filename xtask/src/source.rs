//! What a Rust file imports, read without a parser: enough for formatted code.

/// Text of a file without comments and string contents, so that what is left is code.
pub(crate) fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if c == '"' {
            code.push_str("\"\"");
            end_of_string(rest)
        } else if rest.starts_with("'\"'") {
            3
        } else {
            code.push(c);
            c.len_utf8()
        };
        rest = &rest[skipped..];
    }
    code
}

/// Length of the string literal at the start of `rest`.
fn end_of_string(rest: &str) -> usize {
    let mut escaped = false;
    for (i, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return i + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The code before the file's test module: tests may import what they like.
pub(crate) fn without_tests(code: &str) -> &str {
    code.split("#[cfg(test)]\nmod tests {").next().unwrap_or(code)
}

/// Every path in the code that begins with `head::`, as its segments after the head; groups in
/// braces are spread.
pub(crate) fn paths_from(code: &str, head: &str) -> Vec<Vec<String>> {
    let marker = format!("{head}::");
    let mut paths = Vec::new();
    for (start, _) in code.match_indices(&marker) {
        let before = code[..start].chars().next_back();
        // What `$crate` names in a macro is imported where that is used.
        let is_whole = !before.is_some_and(|c| c.is_alphanumeric() || ['_', ':', '$'].contains(&c));
        if is_whole {
            spread(&code[start + marker.len()..], &mut Vec::new(), &mut paths);
        }
    }
    paths
}

/// Reads one path or group at the start of `text`; gives the length read.
fn spread(text: &str, prefix: &mut Vec<String>, paths: &mut Vec<Vec<String>>) -> usize {
    if let Some(group) = text.strip_prefix('{') {
        let mut read = 1;
        loop {
            let rest = &group[read - 1..];
            let skipped = rest.len() - rest.trim_start_matches([',', ' ', '\n']).len();
            read += skipped;
            let rest = &rest[skipped..];
            if rest.is_empty() || rest.starts_with('}') {
                return read + 1;
            }
            let length = spread(rest, prefix, paths);
            if length == 0 {
                return read;
            }
            read += length;
        }
    }
    let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if name.is_empty() {
        return 0;
    }
    let mut read = name.len();
    prefix.push(name);
    if text[read..].starts_with("::") && !text[read..].starts_with("::<") {
        read += 2;
        read += spread(&text[read..], prefix, paths);
    } else {
        paths.push(prefix.clone());
    }
    prefix.pop();
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_no_code() {
        let text = "use a; // crate::x\nlet s = \"crate::y \\\" \"; /* crate::z */ let c = '\"';";
        assert_eq!(code_only(text), "use a; \nlet s = \"\";  let c = ;");
    }

    #[test]
    fn groups_are_spread() {
        let code = "use crate::{a::{B, c::D}, e};\nlet x = crate::f::<g>();";
        let paths: Vec<_> = paths_from(code, "crate").iter().map(|p| p.join("::")).collect();
        assert_eq!(paths, ["a::B", "a::c::D", "e", "f"]);
        assert!(paths_from("use mycrate::a;", "crate").is_empty());
    }
}
