//! Numbers as mechanism files write them.

/// A finite number; `D` stands for `E` where `fortran`.
///
/// `inf`, `nan` and what overflows are refused: no quantity of a mechanism may be one.
pub(crate) fn parse(text: &str, fortran: bool) -> Result<f64, String> {
    let text = text.trim();
    let plain = |c: char| {
        c.is_ascii_digit()
            || matches!(c, '+' | '-' | '.' | 'e' | 'E')
            || (fortran && matches!(c, 'd' | 'D'))
    };
    if text.is_empty() || text.len() > 60 || !text.chars().all(plain) {
        let advice = if begins(text) && text.contains(',') {
            ": write a decimal point in place of the comma"
        } else {
            ""
        };
        return Err(format!("'{}' is not a number{advice}", super::problem::quote(text)));
    }
    let value = if fortran && text.contains(['d', 'D']) {
        text.replace(['d', 'D'], "e").parse::<f64>()
    } else {
        text.parse::<f64>()
    };
    match value {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(format!("{text} is beyond the range of double precision")),
        Err(_) => Err(format!("'{text}' is not a number")),
    }
}

/// A number that stands alone as a value of YAML.
///
/// Cantera takes a whole number that begins with 0 for octal, where its digits allow that: refused
/// where the two differ.
pub(crate) fn yaml(text: &str) -> Result<f64, String> {
    let value = parse(text, false)?;
    let digits = text.trim().trim_start_matches(['+', '-']);
    match u64::from_str_radix(digits, 8) {
        Ok(octal) if digits.starts_with('0') && octal as f64 != value.abs() => Err(format!(
            "{} begins with 0, so Cantera takes it for octal ({octal}): write it without the 0",
            text.trim()
        )),
        _ => Ok(value),
    }
}

/// Whether a text begins as a number does.
pub(crate) fn begins(text: &str) -> bool {
    text.trim_start_matches(['+', '-', '.']).starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_and_fortran() {
        assert_eq!(parse(" 1.5e+3 ", false), Ok(1500.0));
        assert_eq!(parse("1.5D3", true), Ok(1500.0));
        for bad in ["", "nan", "inf", "1e400", "1d3", "0x10", "1e", "--1", "1_000", "."] {
            assert!(parse(bad, false).is_err(), "{bad}");
        }
        assert!(parse("7,1e+12", false).unwrap_err().contains("decimal point"));
        assert!(!parse("H2,O2", false).unwrap_err().contains("decimal point"));
    }

    #[test]
    fn octal_to_cantera() {
        for octal in ["010", "05000", "-0100", "+0100", "00012"] {
            assert!(yaml(octal).unwrap_err().contains("octal"), "{octal}");
            assert!(parse(octal, true).is_ok());
        }
        for (same, value) in
            [("0", 0.0), ("-00", 0.0), ("07", 7.0), ("08", 8.0), ("010.", 10.0), ("01e1", 10.0)]
        {
            assert_eq!(yaml(same), Ok(value), "{same}");
        }
    }
}
