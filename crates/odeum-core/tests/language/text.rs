//! Equations as text: what they mean, and what is said when they are wrong.

use odeum_core::graph::{Builder, Node, NodeId, Op};
use odeum_core::text::{
    Diagnostic, Part, Refusal, TextSource, Variable, Vocabulary, constant, names,
};
use odeum_core::{Graph, Real, Symbol, System};

/// The value of an expression of x, y, t and the parameter k.
fn value(text: &str, t: f64, [x, y]: [f64; 2], k: f64) -> f64 {
    let source = TextSource {
        states: vec!["x", "y"],
        params: vec!["k"],
        equations: vec![("x", text), ("y", "0")],
        ..TextSource::default()
    };
    let system = source.read().unwrap_or_else(|errors| panic!("{text}: {errors}"));
    let mut dydt = [f64::NAN; 2];
    system.tape().rhs(t, &[x, y], &[k], &mut dydt);
    dydt[0]
}

/// The errors of one expression in the same surroundings.
fn errors(text: &str) -> Vec<Diagnostic> {
    let source = TextSource {
        states: vec!["x", "speed"],
        params: vec!["k"],
        definitions: vec![("wave", "sin(k * t)")],
        equations: vec![("x", text), ("speed", "0")],
        ..TextSource::default()
    };
    source.read().map_or_else(|errors| errors.0, |_| Vec::new())
}

#[test]
fn expressions_mean_what_they_mean_in_mathematics() {
    let (t, [x, y], k) = (0.3, [1.7, 0.6], 2.5);
    let cases: [(&str, f64); 22] = [
        ("-x^2", -(x * x)),
        ("2^3^2", 512.0),
        ("x^-2", 1.0 / (x * x)),
        ("x^(1/2)", x.powf(0.5)),
        ("x^k", x.powf(k)),
        ("pow(x, 3)", x * (x * x)),
        ("x - y - k", x - y - k),
        ("x / y / k", x / y / k),
        ("x/y*k", x / y * k),
        ("-x * -y", x * y),
        ("exp(ln(x))*t", x.ln().exp() * t),
        ("log10(1000)", 1000_f64.ln() * std::f64::consts::LOG10_E),
        ("sin(pi/2) + cos(0)", 2.0),
        ("min(x, y) + 10*max(x, y)", y + 10.0 * x),
        ("if(x > y, 1, 2)", 1.0),
        ("if(x <= y || !(t < 1) , 1, 2)", 2.0),
        ("select(x != x, 1, 2)", 2.0),
        ("select(x >= 1.7 && y == 0.6, 3, 4)", 3.0),
        ("1e3 + .5 + 2.", 1002.5),
        ("((((x))))", x),
        ("+x - +y", x - y),
        ("abs(-floor(k)) \n + \t cbrt(27)", 5.0),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text, t, [x, y], k), expected, "{text}");
    }
}

#[test]
fn integer_exponents_multiply() {
    let functions = |text: &str| {
        let source =
            TextSource { states: vec!["x"], equations: vec![("x", text)], ..TextSource::default() };
        source.read().map(|system| system.graph().counts().functions)
    };
    assert_eq!(functions("x^7 + x^(-3) + x^(2*3) + pow(x, -2)"), Ok(0));
    assert_eq!(functions("x^2.5"), Ok(1));
}

/// A product of so many factors would have as many roundings.
#[test]
fn powers_of_large_integers_are_exact_to_roundings() {
    let x = 1.000_123_f64;
    for (text, n) in [("x^1000", 1000.0), ("pow(-x, 3001)", 3001.0), ("x^-40000", -40_000.0)] {
        let found = value(text, 0.0, [x, 0.0], 0.0);
        let wanted = if text.contains("-x") { -x.powf(n) } else { x.powf(n) };
        assert!((found / wanted - 1.0).abs() < 4.0 * f64::EPSILON, "{text}: {found:e}, {wanted:e}");
    }
}

#[test]
fn text_and_rust_give_the_same_graph() {
    let text = TextSource {
        states: vec!["prey", "predator"],
        params: vec!["growth", "predation", "death", "conversion"],
        definitions: vec![("meetings", "prey * predator")],
        equations: vec![
            ("predator", "conversion * meetings - death * predator"),
            ("prey", "growth * prey - predation * meetings"),
        ],
        spectral_radius: Some("growth + death"),
    };
    let text = text.read().expect("a correct system");
    let rust = Graph::record(2, 4, |_, y, p| {
        let meetings = y[0] * y[1];
        vec![p[0] * y[0] - p[1] * meetings, p[3] * meetings - p[2] * y[1]]
    });
    let (y, p) = ([2.0, 3.0], [0.1, 0.2, 0.3, 0.4]);
    assert_eq!(text.graph().eval(0.0, &y, &p), rust.eval(0.0, &y, &p));
    assert_eq!(text.graph().counts(), rust.counts());
    assert_eq!(text.tape().state_names(), ["prey", "predator"]);
    assert_eq!(text.tape().spectral_radius(0.0, &y, &p), Some(0.1 + 0.3));
    assert!(text.warnings().is_empty());
}

#[test]
fn slips_are_named_and_placed() {
    // Text, then line, column, length, a part of the message, a part of the help.
    let cases = [
        ("sped + 1", (1, 1, 4), "`sped`", "`speed`"),
        ("k * wvae", (1, 5, 4), "`wvae`", "`wave`"),
        ("x +\n  zzz", (2, 3, 3), "`zzz`", ""),
        ("sine(x)", (1, 1, 4), "no function `sine`", "`sin`"),
        ("log(x)", (1, 1, 3), "two functions", "ln or log10"),
        ("exp", (1, 1, 3), "is a function", "exp(...)"),
        ("sine(x)", (1, 1, 4), "no function `sine`", "functions: abs, acos,"),
        ("hypotenuse(x)", (1, 1, 10), "no function `hypotenuse`", "functions: abs, acos,"),
        ("heaviside(x)", (1, 1, 9), "no function `heaviside`", "select(x >= 0, 1, 0)"),
        ("k * sign(x)", (1, 5, 4), "no function `sign`", "select(x > 0, 1, select(x < 0, -1, 0))"),
        ("1 - exp x", (1, 9, 1), "operator is missing", "exp(...)"),
        ("x exp", (1, 3, 3), "operator is missing", "`*`"),
        ("x² + 1", (1, 1, 3), "nothing is called `x²`", "`^`"),
        ("-1e-400 * x", (1, 2, 6), "too small", "4.9e-324"),
        ("if(x < 1 and k > 2, 1, 2)", (1, 10, 3), "operator is missing", "`&&`"),
        ("if(x < 1 OR k > 2, 1, 2)", (1, 10, 2), "operator is missing", "`||`"),
        ("if(not x < 1, 1, 2)", (1, 4, 3), "`not` is no word", "`!`"),
        ("if(not(x < 1), 1, 2)", (1, 4, 3), "no function `not`", "`!`"),
        ("1 if x < 1 else 2", (1, 3, 2), "operator is missing", "select("),
        ("min(x; k)", (1, 6, 1), "`;`", "`,`"),
        ("k(x + 1)", (1, 1, 1), "not a function", "k * (...)"),
        ("min(x)", (1, 1, 3), "takes 2 arguments, not 1", ""),
        ("sin()", (1, 1, 3), "takes 1 argument, not 0", ""),
        ("1 + (x < 1)", (1, 8, 1), "condition where a number", "select"),
        ("x < 1", (1, 1, 5), "a condition, not a number", "select"),
        ("if(x, 1, 2)", (1, 4, 1), "number where a condition", "compare"),
        ("if(!x < 1, 1, 2)", (1, 5, 1), "number where a condition", "compare"),
        ("e^x", (1, 1, 1), "`e`", "exp(1)"),
        ("2x", (1, 2, 1), "operator is missing", "`*`"),
        ("x ** 2", (1, 4, 1), "found `*`", "`^`"),
        ("x * * 2", (1, 5, 1), "found `*`", ""),
        ("x = 2", (1, 3, 1), "`=`", "`==`"),
        ("µ·x", (1, 2, 2), "`·`", "`*`"),
        ("(x", (1, 1, 1), "never closed", ""),
        ("", (1, 1, 0), "found the end", ""),
    ];
    for (text, (line, column, len), message, help) in cases {
        let errors = errors(text);
        let Some(first) = errors.first() else { panic!("{text} was accepted") };
        assert_eq!(first.part, Part::Equation(0), "{text}");
        assert_eq!((first.line, first.column, first.len), (line, column, len), "{text}: {first}");
        assert!(first.message.contains(message), "{text}: {first}");
        assert!(first.help.as_deref().unwrap_or("").contains(help), "{text}: {first}");
        assert_eq!(first.help.is_none(), help.is_empty(), "{text}: {first}");
    }
}

#[test]
fn all_errors_are_found_at_once() {
    let source = TextSource {
        states: vec!["x", "y", "z"],
        params: vec!["k", "k"],
        definitions: vec![("a", "b + 1"), ("b", "c"), ("c", "2 * a"), ("d", "d"), ("f", "a")],
        equations: vec![("x", "q + r"), ("x", "1"), ("w", "1"), ("y", "f +")],
        spectral_radius: Some("unknown"),
    };
    let found: Vec<(Part, String)> = source
        .read()
        .map_or_else(|errors| errors.0, |_| Vec::new())
        .into_iter()
        .map(|error| (error.part, error.message))
        .collect();
    let expected = [
        (Part::StateName(2), "`z` has no equation"),
        (Part::ParamName(1), "there is a parameter called `k` already"),
        (Part::Definition(0), "this definition goes round in a circle"),
        (Part::Definition(3), "this definition goes round in a circle"),
        (Part::Equation(0), "nothing is called `q`"),
        (Part::Equation(0), "nothing is called `r`"),
        (Part::EquationName(1), "there is an equation of `x` already"),
        (Part::EquationName(2), "there is no state called `w`"),
        (Part::Equation(3), "expected a number, a name or `(`, found the end"),
        (Part::SpectralRadius, "nothing is called `unknown`"),
    ];
    let expected: Vec<(Part, String)> =
        expected.into_iter().map(|(part, message)| (part, message.to_owned())).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_circle_is_shown() {
    let source =
        TextSource { definitions: vec![("a", "1 + b"), ("b", "a")], ..TextSource::default() };
    let errors = source.read().map(|_| ()).expect_err("a circle");
    assert_eq!(
        errors.to_string(),
        "definition of a, line 1, column 5: this definition goes round in a circle (a → b → a)"
    );
}

#[test]
fn what_is_never_used_is_a_warning() {
    let source = TextSource {
        states: vec!["x"],
        params: vec!["k", "spare"],
        definitions: vec![("idle", "1"), ("used", "k")],
        equations: vec![("x", "used * x")],
        spectral_radius: None,
    };
    let system = source.read().expect("a correct system");
    let parts: Vec<Part> = system.warnings().iter().map(|warning| warning.part).collect();
    assert_eq!(parts, [Part::ParamName(1), Part::DefinitionName(0)]);
}

#[test]
fn long_texts_are_read() {
    let sum = vec!["x"; 100_000].join(" + ");
    assert_eq!(value(&sum, 0.0, [2.0, 0.0], 0.0), 200_000.0);
    let definitions: Vec<(String, String)> = (0..20_000)
        .map(|k| (format!("d{k}"), if k == 0 { "x".to_owned() } else { format!("d{} + 1", k - 1) }))
        .collect();
    let mut source = TextSource {
        states: vec!["x"],
        definitions: definitions.iter().rev().map(|(a, b)| (a.as_str(), b.as_str())).collect(),
        equations: vec![("x", "d19999")],
        ..TextSource::default()
    };
    let system = source.read().expect("a chain of definitions");
    assert_eq!(system.graph().eval(0.0, &[1.0], &[]), [20_000.0]);
    let back = format!("d{}", 19_999);
    source.definitions[19_999].1 = &back;
    assert_eq!(source.read().map(|_| ()).map_err(|errors| errors.0.len()), Err(1));
}

#[test]
fn ten_megabytes_of_parentheses_are_refused_quickly() {
    let errors = errors(&"(".repeat(10_000_000));
    assert!(errors[0].message.contains("levels deep"), "{}", errors[0]);
    assert_eq!(errors.len(), 1);
}

/// Small, fast and good enough to vary texts: xorshift64 (Marsaglia, J. Stat. Softw. 8 (2003)).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

#[test]
fn mutated_texts_never_panic() {
    const SEEDS: [&str; 5] = [
        "-k * x^2 + sin(pi * t) / max(speed, 1e-3)",
        "if(x < 1 && !(speed >= 2) || t != 0, wave, pow(x, -3))",
        "select(x == x, ((x)), -+-x) - .5e-3 * wave",
        "exp(-(x - speed)^2 / (2 * k^2)) µ θ²",
        "min(max(abs(x), tanh(t)), log10(1 + floor(x))) = \n**",
    ];
    const PIECES: [&str; 24] = [
        "(", ")", "+", "-", "*", "/", "^", "<", ">=", "==", "&&", "||", "!", ",", "x", "wave",
        "if", "exp", "1e999", "2.", "\n", "µ", "²", "\u{0}",
    ];
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for round in 0..20_000 {
        let mut text: Vec<char> = SEEDS[round % SEEDS.len()].chars().collect();
        for _ in 0..=random.below(6) {
            let at = random.below(text.len() + 1);
            match random.below(4) {
                0 if at < text.len() => {
                    text.remove(at);
                }
                1 => text.truncate(at.max(1)),
                2 => {
                    let end = (at + random.below(8)).min(text.len());
                    let copy: Vec<char> = text[at.min(end)..end].to_vec();
                    text.splice(at..at, copy);
                }
                _ => {
                    text.splice(at..at, PIECES[random.below(PIECES.len())].chars());
                }
            }
        }
        let text: String = text.into_iter().collect();
        for error in errors(&text) {
            assert!(text.is_char_boundary(error.offset), "{text:?}");
            assert!(text.is_char_boundary(error.offset + error.len), "{text:?}");
            assert!(error.line >= 1 && error.column >= 1);
        }
    }
}

#[test]
fn recorded_and_read_choices_agree() {
    let rust = Graph::record(2, 1, |t, y, k| {
        let up = y[0].gt(y[1]) & t.ne(k[0]);
        vec![Symbol::select(up, y[0], -y[1]), Symbol::lit(0.0)]
    });
    for (t, y, k) in [(0.0, [1.0, 2.0], 1.0), (0.0, [2.0, 1.0], 1.0), (1.0, [2.0, 1.0], 1.0)] {
        assert_eq!(rust.eval(t, &y, &[k])[0], value("if(x > y && t != k, x, -y)", t, y, k));
    }
}

/// A variable and a function beside those of every system.
#[test]
fn vocabularies_add_names() {
    struct Twice(usize);
    impl Vocabulary for Twice {
        fn variables(&self) -> Vec<Variable> {
            vec![Variable { name: "x", state: 1, kind: "coordinate" }]
        }
        fn functions(&self) -> Vec<&'static str> {
            vec!["twice"]
        }
        fn call(&mut self, k: usize, builder: &mut Builder, id: NodeId) -> Result<NodeId, Refusal> {
            assert_eq!(k, 0);
            self.0 += 1;
            if matches!(builder.nodes()[id.index()], Node::Const(_)) {
                return Err(Refusal {
                    message: "a number".to_owned(),
                    help: "write it".to_owned(),
                });
            }
            Ok(builder.apply(Op::Add, &[id, id]))
        }
    }
    let source = |state: &'static str, equation: &'static str| TextSource {
        states: vec![state],
        equations: vec![(state, equation)],
        ..TextSource::default()
    };
    let mut twice = Twice(0);
    let read = source("u", "twice(u + x) - x").read_with(&mut twice).unwrap();
    let graph = read.graph(read.equations(), vec!["u".to_owned(), "x".to_owned()], Vec::new());
    assert_eq!(graph.eval(0.0, &[3.0, 5.0], &[]), [11.0]);
    assert_eq!(twice.0, 1);
    let wrong =
        |state, equation| source(state, equation).read_with(&mut Twice(0)).map(|_| ()).unwrap_err();
    for (state, equation, message) in [
        ("u", "twice(2)", "column 7: a number (write it)"),
        ("u", "twice(u, x)", "takes 1 argument"),
        ("u", "x(u)", "is not a function"),
        ("x", "0", "`x` is a coordinate"),
    ] {
        let said = wrong(state, equation).to_string();
        assert!(said.contains(message), "{equation}: {said}");
    }
    assert!(source("x", "0").read().is_ok());
}

#[test]
fn constants_are_numbers_that_name_nothing() {
    let pi = std::f64::consts::PI;
    for (text, value) in
        [("2*pi", 2.0 * pi), ("1/144", 1.0 / 144.0), ("-sqrt(4)", -2.0), ("1e3", 1e3)]
    {
        assert_eq!(constant(text), Ok(value), "{text}");
    }
    for (text, message) in [
        ("2*t", "changes with the time"),
        ("2*k", "nothing is called `k`"),
        ("1 < 2", "a condition"),
        ("1,5", "found `,`"),
        ("", "found the end"),
        ("value", "circle"),
    ] {
        let errors = constant(text).map_or_else(|errors| errors.to_string(), |x| x.to_string());
        assert!(errors.contains(message), "{text}: {errors}");
    }
    assert!(constant("1/0").is_ok_and(f64::is_infinite), "the caller judges the number");
    assert_eq!(names("2*k + sin(θ_1) ² and").collect::<Vec<_>>(), ["k", "sin", "θ_1", "and"]);
}

#[test]
fn definitions_can_be_read_alone() {
    let source = TextSource {
        params: vec!["w"],
        definitions: vec![("a", "b + 1"), ("b", "w*t")],
        ..TextSource::default()
    };
    assert_eq!(source.read_definitions().unwrap().eval(2.0, &[], &[3.0]), [7.0, 6.0]);
    let source = TextSource { definitions: vec![("a", "t < 1")], ..TextSource::default() };
    assert!(source.read_definitions().unwrap_err().to_string().contains("condition"));
}
