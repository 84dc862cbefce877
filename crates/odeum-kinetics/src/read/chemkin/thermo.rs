//! Thermodynamic data of Chemkin: NASA-7 in fixed columns.
//!
//! Kee, Rupley & Miller, Chemkin-II, Sandia report SAND89-8009B, table III: name 1-18, atoms
//! 25-44 and 74-78, temperatures 46-73, the line's number in column 80; five coefficients of 15
//! columns a line, those of the upper range first.

use std::collections::HashMap;

use super::lines::Line;
use crate::mechanism::{Range, Thermo};
use crate::read::number;
use crate::read::problem::{Log, quote};

/// The data of one species.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) composition: Vec<(String, f64)>,
    /// What is said of an element with two groups of atoms.
    pub(super) repeated: Option<String>,
    pub(super) thermo: Thermo,
    pub(super) line: usize,
    /// In the file of the mechanism, not in one of thermodynamic data.
    pub(super) own: bool,
}

/// Characters `from .. to` of a line, as far as it goes.
fn columns(line: &str, from: usize, to: usize) -> &str {
    let at = |n: usize| line.char_indices().nth(n).map_or(line.len(), |(byte, _)| byte);
    line[at(from)..at(to)].trim()
}

/// The first line of an entry without a comment beyond its columns.
fn without_comment(line: &str) -> &str {
    let end = line.char_indices().nth(80).map_or(line.len(), |(byte, _)| byte);
    let comment = line[end..].find('!').map_or(line.len(), |at| end + at);
    &line[..comment]
}

/// First letter large, the rest small, as elements are written.
pub(super) fn capitalised(symbol: &str) -> String {
    let mut letters = symbol.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters.flat_map(char::to_lowercase)).collect(),
        None => String::new(),
    }
}

/// Atoms in groups of two columns of symbol and the rest of count. What has no digit is no count:
/// the columns of the fifth element may hold something else.
fn atoms(
    line: &str,
    from: usize,
    groups: usize,
    width: usize,
    into: &mut Vec<(String, f64)>,
) -> Result<(), String> {
    for i in 0..groups {
        let start = from + i * width;
        let symbol = columns(line, start, start + 2);
        let count = columns(line, start + 2, start + width);
        let letters = symbol.chars().any(char::is_alphabetic);
        // Only the four groups of old hold nothing but atoms.
        let named = letters || (from == 24 && !symbol.is_empty());
        if !named || !count.contains(|c: char| c.is_ascii_digit()) {
            continue;
        }
        let symbol = capitalised(symbol);
        let count = number::parse(count, false)
            .map_err(|error| format!("the atoms of {}: {error}", quote(&symbol)))?;
        if count != 0.0 && !letters {
            return Err(format!("atoms of '{}', which is no element", quote(&symbol)));
        }
        if count != 0.0 {
            into.push((symbol, count));
        }
    }
    Ok(())
}

/// Adds up groups of one element, and says which has several: it is nearly always a slip of columns.
fn summed(groups: Vec<(String, f64)>) -> (Vec<(String, f64)>, Option<String>) {
    let (mut sums, mut repeated): (Vec<(String, f64)>, _) = (Vec::new(), None);
    for (symbol, count) in groups {
        match sums.iter_mut().find(|sum| sum.0 == symbol) {
            Some(sum) => {
                repeated.get_or_insert(format!(
                    "the element {} again, with {count} beside {}, most probably a slip of columns (readers \
                     differ: the sum, or the last)",
                    quote(&symbol),
                    sum.1
                ));
                sum.1 += count;
            }
            None => sums.push((symbol, count)),
        }
    }
    (sums, repeated)
}

/// Default temperatures of a section, (low, middle, high) \[K\]: the three numbers with which its
/// first line begins.
pub(super) fn defaults(lines: &[Line<'_>]) -> Option<[f64; 3]> {
    let words = lines.first()?.1.split('!').next()?.split_whitespace().take(3);
    let numbers: Vec<f64> = words.map_while(|word| number::parse(word, true).ok()).collect();
    <[f64; 3]>::try_from(numbers).ok()
}

/// Adds the entries of a section that `wanted` names to `found`, `None` for those that are wrong;
/// the first of a name wins. `shared` are the default temperatures of a section without its own.
pub(super) fn read(
    header: Line<'_>,
    lines: &[Line<'_>],
    shared: Option<[f64; 3]>,
    wanted: &dyn Fn(&str) -> bool,
    found: &mut HashMap<String, Option<Entry>>,
    log: &mut Log,
) {
    if header.1.to_ascii_uppercase().contains("NASA9") {
        let what = "NASA-9 data in Chemkin's layout are not supported".to_owned();
        log.error(header.0, "THERMO", what, "give NASA-7 data, or Cantera YAML");
        return;
    }
    let mut rest = lines;
    let comment = |line: &str| line.trim_start().starts_with('!');
    let own = defaults(rest);
    if own.is_some() {
        rest = &rest[1..];
    }
    let temperatures = own.or(shared);
    let mut i = 0;
    while i < rest.len() {
        let (number, line) = rest[i];
        i += 1;
        if comment(line) {
            continue;
        }
        let line = without_comment(line);
        let name = columns(line, 0, 18).split_whitespace().next().unwrap_or("").to_owned();
        // Lines of atoms that follow a '&' in column 81.
        let mut more = Vec::new();
        let mut head_goes_on = line.trim_end().ends_with('&');
        while head_goes_on && i < rest.len() {
            let text = rest[i].1.split('!').next().unwrap_or("").trim_end();
            head_goes_on = text.ends_with('&');
            more.push(text.trim_end_matches('&'));
            i += 1;
        }
        if columns(line, 79, 80) != "1" {
            // Not the head of an entry; told only where it names a species of the mechanism.
            if wanted(&name) {
                let what = "no '1' in column 80 of the first line of its data".to_owned();
                log.error(number, &name, what, "keep to the columns of the format");
                found.entry(name).or_insert(None);
            }
            continue;
        }
        let body = &rest[i..rest.len().min(i + 3)];
        let complete = body.len() == 3
            && (2..=4).zip(body).all(|(k, line)| columns(line.1, 79, 80) == k.to_string());
        if !wanted(&name) {
            i += if complete { 3 } else { 0 };
            continue;
        }
        if !complete {
            let what = "its data are not four lines, numbered in column 80".to_owned();
            log.error(number, &name, what, "keep to the columns of the format");
            found.entry(name).or_insert(None);
            continue;
        }
        i += 3;
        if found.contains_key(&name) {
            let what = "thermodynamic data again".to_owned();
            log.warn(number, &name, what, "the first entry is used");
            continue;
        }
        let read = coefficients(body).and_then(|all| {
            entry(number, line, &more, &all, temperatures).map_err(|what| (number, what))
        });
        if let Err((number, what)) = &read {
            log.error(*number, &name, what.clone(), "keep to the columns of the format");
        }
        found.insert(name, read.ok());
    }
}

/// The fourteen coefficients of an entry, or a line and what is wrong with it.
fn coefficients(body: &[Line<'_>]) -> Result<[f64; 14], (usize, String)> {
    let mut all = [0.0; 14];
    for (k, value) in all.iter_mut().enumerate() {
        let ((number, line), column) = (body[k / 5], 15 * (k % 5));
        let text = columns(line, column, column + 15);
        if !text.is_empty() {
            *value = number::parse(&text.replace(' ', ""), true)
                .map_err(|error| (number, format!("coefficient {}: {error}", k + 1)))?;
        }
    }
    Ok(all)
}

fn entry(
    line: usize,
    head: &str,
    more: &[&str],
    all: &[f64; 14],
    defaults: Option<[f64; 3]>,
) -> Result<Entry, String> {
    let mut composition = Vec::new();
    if more.is_empty() {
        atoms(head, 24, 4, 5, &mut composition)?;
        // The fifth element shares columns with long middle temperatures: letters tell it.
        atoms(head, 73, 1, 5, &mut composition)?;
        let beyond = head.chars().count().saturating_sub(80) / 10;
        atoms(head, 80, beyond, 10, &mut composition)?;
    } else {
        let words: Vec<&str> = more.iter().flat_map(|text| text.split_whitespace()).collect();
        for pair in words.chunks(2) {
            let [symbol, count] = pair else { return Err("an element without count".to_owned()) };
            composition.push((capitalised(symbol), number::parse(count, false)?));
        }
    }
    let (composition, repeated) = summed(composition);
    if composition.is_empty() {
        return Err("no atoms in columns 25 to 44".to_owned());
    }
    let temperature = |from, to, default: Option<f64>| match columns(head, from, to) {
        "" => default.ok_or_else(|| format!("no temperature in columns {} to {to}", from + 1)),
        text => number::parse(text, true),
    };
    let low = temperature(45, 55, defaults.map(|t| t[0]))?;
    let high = temperature(55, 65, defaults.map(|t| t[2]))?;
    let half = |from: usize| std::array::from_fn::<f64, 7, _>(|i| all[from + i]);
    let (upper, lower) = (half(0), half(7));
    let zero = |a: &[f64; 7]| a.iter().all(|&x| x == 0.0);
    let given = columns(head, 65, 73);
    let mut middle = match given {
        "" if zero(&lower) || zero(&upper) => None,
        "" => defaults.map(|t| t[1]).filter(|&t| low < t && t < high),
        text => Some(number::parse(text, true)?),
    };
    if middle == Some(low) || middle == Some(high) || upper == lower {
        middle = None;
    }
    let ranges = match middle {
        None if low >= high => {
            return Err(format!("the temperatures {low}, {high} do not ascend"));
        }
        None => {
            let a = if zero(&lower) || upper == lower {
                upper
            } else if zero(&upper) {
                lower
            } else if given.is_empty() {
                let after = match defaults {
                    Some([_, middle, _]) => format!("that after THERMO is {middle}"),
                    None => "none after THERMO".to_owned(),
                };
                return Err(format!("no middle temperature in columns 66 to 73, and {after}"));
            } else {
                return Err("two sets of coefficients for one range of temperature".to_owned());
            };
            vec![Range { low, high, a }]
        }
        Some(middle) if low < middle && middle < high => {
            vec![Range { low, high: middle, a: lower }, Range { low: middle, high, a: upper }]
        }
        Some(middle) => {
            return Err(format!("the temperatures {low}, {middle}, {high} do not ascend"));
        }
    };
    Ok(Entry { composition, repeated, thermo: Thermo::Nasa7(ranges), line, own: false })
}

/// Text for an element that is not declared.
pub(super) fn undeclared(symbol: &str) -> String {
    format!("the element {} is not declared", quote(symbol))
}
