//! From syntax trees to one graph: names, dependencies, conditions and numbers.

use super::diagnostic::{Diagnostic, Part, TextErrors};
use super::parse::{Binary, Complaint, MULTIPLY, Piece, Tree, Unary, parse, word_remedy};
use super::scope::{AMBIGUOUS, Function, Meaning, Scope};
use super::token::Span;
use super::vocabulary::{NoVocabulary, Refusal, TextGraphs, Vocabulary};
use super::{TextSource, TextSystem};
use crate::graph::{Builder, Graph, Node, NodeId, Op};

/// Errors reported for one text; after so many the next ones help nobody.
const MAX_ERRORS: usize = 20;

/// Exponents up to this make a power a product, whose roundings add up.
const MAX_FACTORS: f64 = 16.0;

/// Errors after which no similar names are looked for: in a huge text that is all wrong the
/// search would take longer than everything else.
const MAX_SUGGESTIONS: usize = 100;

/// What a piece of an expression comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Number(NodeId),
    Condition(NodeId),
    /// Something wrong that has been reported.
    Wrong,
}

/// One expression on its way: its part, and its tree if the syntax is right.
struct Expression<'a> {
    part: Part,
    tree: Option<Tree<'a>>,
}

struct Resolver<'s, 'a, 'v> {
    source: &'s TextSource<'a>,
    scope: Scope<'a>,
    errors: Vec<Diagnostic>,
    builder: Builder,
    /// Values of the definitions, as far as they are known.
    definitions: Vec<Value>,
    vocabulary: &'v mut dyn Vocabulary,
}

/// Reads all expressions of a source.
pub(super) fn resolve(source: &TextSource<'_>) -> Result<TextSystem, TextErrors> {
    let mut vocabulary = NoVocabulary;
    let (resolver, values) = Resolver::read(source, &mut vocabulary)?;
    let Resolver { builder, .. } = &resolver;
    let names = (owned(&source.states), owned(&source.params));
    let radius = values.radius.map(|id| Graph::assemble(builder, &[id], names.clone()));
    let graph = Graph::assemble(builder, &values.equations, names).with_spectral_radius(radius);
    Ok(TextSystem { graph, warnings: values.warnings })
}

/// Reads equations that use names of a vocabulary.
pub(super) fn resolve_with(
    source: &TextSource<'_>,
    vocabulary: &mut dyn Vocabulary,
) -> Result<TextGraphs, TextErrors> {
    let (Resolver { builder, .. }, values) = Resolver::read(source, vocabulary)?;
    Ok(TextGraphs::new(builder, values.equations, values.warnings))
}

/// The number a text comes to that knows nothing but numbers, `pi` and functions.
pub(super) fn resolve_constant(text: &str) -> Result<f64, TextErrors> {
    let source = TextSource { definitions: vec![("value", text)], ..TextSource::default() };
    let graph = resolve_definitions(&source)?;
    if graph.uses_time() {
        let complaint = Complaint::new((0, text.len()), "this changes with the time");
        let Complaint { span, message, help } = complaint.help("give a number that `t` is not in");
        let part = Part::Definition(0);
        return Err(TextErrors(vec![Diagnostic::new(&source, part, span, message, help)]));
    }
    Ok(graph.eval(0.0, &[], &[]).first().copied().unwrap_or(f64::NAN))
}

/// Reads the definitions of a source, in its order.
pub(super) fn resolve_definitions(source: &TextSource<'_>) -> Result<Graph, TextErrors> {
    let mut vocabulary = NoVocabulary;
    let (mut resolver, values) = Resolver::read(source, &mut vocabulary)?;
    for k in 0..source.definitions.len() {
        if let Value::Condition(_) = resolver.definitions[k] {
            let len = source.definitions[k].1.len();
            let complaint = Complaint::new((0, len), "this is a condition, not a number");
            resolver.report(Part::Definition(k), complaint.help("use select(condition, a, b)"));
        }
    }
    if !resolver.errors.is_empty() {
        return Err(TextErrors(resolver.errors));
    }
    let names = (owned(&source.states), owned(&source.params));
    Ok(Graph::assemble(&resolver.builder, &values.definitions, names))
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// What the expressions of a source come to.
struct Values {
    /// In the order of the states.
    equations: Vec<NodeId>,
    /// Those definitions that are numbers, in order.
    definitions: Vec<NodeId>,
    radius: Option<NodeId>,
    warnings: Vec<Diagnostic>,
}

/// Names before definitions before equations; within a text the order stays.
fn order(part: Part) -> (usize, usize) {
    match part {
        Part::StateName(i) => (0, i),
        Part::ParamName(j) => (1, j),
        Part::DefinitionName(k) | Part::Definition(k) => (2, k),
        Part::EquationName(k) | Part::Equation(k) => (3, k),
        Part::SpectralRadius => (4, 0),
    }
}

impl<'s, 'a, 'v> Resolver<'s, 'a, 'v> {
    /// Reads all expressions, or says all that is wrong.
    fn read(
        source: &'s TextSource<'a>,
        vocabulary: &'v mut dyn Vocabulary,
    ) -> Result<(Resolver<'s, 'a, 'v>, Values), TextErrors> {
        let mut errors = Vec::new();
        let scope = Scope::new(source, vocabulary, &mut errors);
        let definitions = vec![Value::Wrong; source.definitions.len()];
        let builder = Builder::default();
        let mut resolver = Resolver { source, scope, errors, builder, definitions, vocabulary };
        for i in 0..source.states.len() {
            resolver.builder.intern(Node::State(i as u32));
        }

        let equation_of = resolver.match_equations();
        let definitions: Vec<Expression<'_>> =
            (0..source.definitions.len()).map(|k| resolver.parse(Part::Definition(k))).collect();
        let equations: Vec<Expression<'_>> =
            (0..source.equations.len()).map(|k| resolver.parse(Part::Equation(k))).collect();
        let radius = source.spectral_radius.map(|_| resolver.parse(Part::SpectralRadius));

        for k in resolver.definition_order(&definitions) {
            resolver.definitions[k] = resolver.evaluate(&definitions[k]);
        }
        let numbers: Vec<Option<NodeId>> =
            equations.iter().map(|equation| resolver.number(equation)).collect();
        let radius_value = radius.as_ref().and_then(|radius| resolver.number(radius));
        let warnings = resolver.unused(definitions.iter().chain(&equations).chain(&radius));

        let outputs: Option<Vec<NodeId>> =
            equation_of.iter().map(|equation| equation.and_then(|k| numbers[k])).collect();
        match outputs {
            Some(equations) if resolver.errors.is_empty() => {
                let numbers = resolver.definitions.iter().filter_map(|value| match value {
                    Value::Number(id) => Some(*id),
                    _ => None,
                });
                let definitions = numbers.collect();
                let values = Values { equations, definitions, radius: radius_value, warnings };
                Ok((resolver, values))
            }
            _ => {
                let mut errors = resolver.errors;
                errors.sort_by_key(|error| order(error.part));
                Err(TextErrors(errors))
            }
        }
    }

    fn report(&mut self, part: Part, complaint: Complaint) {
        let Complaint { span, message, help } = complaint;
        self.errors.push(Diagnostic::new(self.source, part, span, message, help));
    }

    /// The function most like a name, if one is, and all there are.
    fn functions_like(&self, name: &str) -> String {
        let all = format!("functions: {}", self.scope.functions().join(", "));
        match self.similar(name, |m| matches!(m, Meaning::Function(_))) {
            Some(similar) => format!("{similar} {all}"),
            None => all,
        }
    }

    fn similar(&self, name: &str, suitable: fn(Meaning) -> bool) -> Option<String> {
        if self.errors.len() < MAX_SUGGESTIONS { self.scope.similar(name, suitable) } else { None }
    }

    /// The equation of each state.
    fn match_equations(&mut self) -> Vec<Option<usize>> {
        let mut equation_of = vec![None; self.source.states.len()];
        for (k, (name, _)) in self.source.equations.iter().enumerate() {
            let whole = (0, name.len());
            let complaint = match self.scope.get(name) {
                Some(Meaning::State(i)) if equation_of[i].is_none() => {
                    equation_of[i] = Some(k);
                    continue;
                }
                Some(Meaning::State(_)) => {
                    Complaint::new(whole, format!("there is an equation of `{name}` already"))
                }
                _ => {
                    let shown: String =
                        name.chars().take(40).flat_map(char::escape_debug).collect();
                    let message = format!("there is no state called `{shown}`");
                    let help = self.similar(name, |m| matches!(m, Meaning::State(_)));
                    Complaint { span: whole, message, help }
                }
            };
            self.report(Part::EquationName(k), complaint);
        }
        for i in 0..equation_of.len() {
            let name = self.source.states[i];
            // A name that is wrong itself has been reported.
            if equation_of[i].is_none() && self.scope.get(name) == Some(Meaning::State(i)) {
                let complaint =
                    Complaint::new((0, name.len()), format!("`{name}` has no equation"));
                self.report(Part::StateName(i), complaint);
            }
        }
        equation_of
    }

    fn parse(&mut self, part: Part) -> Expression<'a> {
        let tree = match parse(part.text(self.source)) {
            Ok(tree) => Some(tree),
            Err(complaint) => {
                let complaint = self.as_call(complaint, part.text(self.source));
                self.report(part, complaint);
                None
            }
        };
        Expression { part, tree }
    }

    /// Where an operator is missing behind the name of a function, it is parentheses that are.
    fn as_call(&self, complaint: Complaint, text: &str) -> Complaint {
        let before = &text[..complaint.span.0];
        match super::names(before).last() {
            Some(name)
                if complaint.help.as_deref() == Some(MULTIPLY)
                    && before.trim_end().ends_with(name)
                    && matches!(self.scope.get(name), Some(Meaning::Function(_))) =>
            {
                complaint.help(format!("to call a function, write {name}(...)"))
            }
            _ => complaint,
        }
    }

    /// The definitions that an expression names, and where.
    fn references(&self, expression: &Expression<'_>) -> Vec<(usize, Span)> {
        let pieces = expression.tree.iter().flat_map(|tree| &tree.pieces);
        pieces
            .filter_map(|(piece, span)| match piece {
                Piece::Name(name) => match self.scope.get(name) {
                    Some(Meaning::Definition(k)) => Some((k, *span)),
                    _ => None,
                },
                _ => None,
            })
            .collect()
    }

    /// The definitions such that each comes after those it uses, without those in a circle,
    /// which are reported, and those that depend on a circle.
    fn definition_order(&mut self, definitions: &[Expression<'_>]) -> Vec<usize> {
        let references: Vec<Vec<(usize, Span)>> =
            definitions.iter().map(|definition| self.references(definition)).collect();
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); definitions.len()];
        for (k, used) in references.iter().enumerate() {
            used.iter().for_each(|&(other, _)| users[other].push(k));
        }
        let mut missing: Vec<usize> = references.iter().map(Vec::len).collect();
        let mut order: Vec<usize> = (0..definitions.len()).filter(|&k| missing[k] == 0).collect();
        let mut done = 0;
        while done < order.len() {
            for &user in &users[order[done]] {
                missing[user] -= 1;
                if missing[user] == 0 {
                    order.push(user);
                }
            }
            done += 1;
        }
        self.report_circles(&references, &missing);
        order
    }

    /// Follows references among definitions that still miss some, until they come round.
    fn report_circles(&mut self, references: &[Vec<(usize, Span)>], missing: &[usize]) {
        // For each definition the walk that came by, and its place on the path.
        let mut visits: Vec<Option<(usize, usize)>> = vec![None; missing.len()];
        for start in 0..missing.len() {
            let mut path: Vec<(usize, Span)> = Vec::new();
            let mut at = start;
            while missing[at] > 0 && visits[at].is_none() {
                visits[at] = Some((start, path.len()));
                let Some(&(next, span)) = references[at].iter().find(|(k, _)| missing[*k] > 0)
                else {
                    break;
                };
                path.push((at, span));
                at = next;
            }
            // A walk that ran into an older one found nothing new.
            let circle = match visits[at] {
                Some((walk, first)) if walk == start => &path[first..],
                _ => continue,
            };
            let Some(&(definition, span)) = circle.first() else { continue };
            let names: Vec<&str> = circle
                .iter()
                .chain(circle.first())
                .map(|&(k, _)| self.source.definitions[k].0)
                .collect();
            let complaint = Complaint::new(span, "this definition goes round in a circle");
            let complaint = complaint.help(names.join(" → "));
            self.report(Part::Definition(definition), complaint);
        }
    }

    /// The node of an expression that must be a number.
    fn number(&mut self, expression: &Expression<'_>) -> Option<NodeId> {
        match self.evaluate(expression) {
            Value::Number(id) => Some(id),
            Value::Condition(_) => {
                let len = expression.part.text(self.source).len();
                let complaint = Complaint::new((0, len), "this is a condition, not a number");
                self.report(expression.part, complaint.help("use select(condition, a, b)"));
                None
            }
            Value::Wrong => None,
        }
    }

    /// The value of an expression. Errors within it are reported.
    fn evaluate(&mut self, expression: &Expression<'_>) -> Value {
        let Some(tree) = &expression.tree else { return Value::Wrong };
        let mut values: Vec<Value> = Vec::with_capacity(tree.pieces.len());
        let mut reported = 0;
        for (piece, span) in &tree.pieces {
            let value = self.piece(tree, piece, *span, &values);
            values.push(value.unwrap_or_else(|complaint| {
                reported += 1;
                if reported <= MAX_ERRORS {
                    self.report(expression.part, complaint);
                }
                Value::Wrong
            }));
        }
        values.pop().unwrap_or(Value::Wrong)
    }

    fn piece(
        &mut self,
        tree: &Tree<'_>,
        piece: &Piece<'_>,
        span: Span,
        values: &[Value],
    ) -> Result<Value, Complaint> {
        let operand = |k: usize| (values[k], tree.pieces[k].1);
        match piece {
            Piece::Number(x) => Ok(Value::Number(self.builder.constant(*x))),
            Piece::Name(name) => self.named(name, span),
            Piece::Unary(Unary::Minus, a) => self.apply(Op::Neg, &[operand(*a)]),
            Piece::Unary(Unary::Not, a) => self.join(Op::Not, &[operand(*a)]),
            Piece::Binary(operator, a, b) => {
                let (a, b) = (operand(*a), operand(*b));
                match operator {
                    Binary::Or => self.join(Op::Or, &[a, b]),
                    Binary::And => self.join(Op::And, &[a, b]),
                    Binary::Less => self.apply(Op::Lt, &[a, b]),
                    Binary::LessEqual => self.apply(Op::Le, &[a, b]),
                    Binary::Greater => self.apply(Op::Lt, &[b, a]),
                    Binary::GreaterEqual => self.apply(Op::Le, &[b, a]),
                    Binary::Equal => self.apply(Op::Eq, &[a, b]),
                    Binary::NotEqual => {
                        let equal = self.apply(Op::Eq, &[a, b])?;
                        self.join(Op::Not, &[(equal, span)])
                    }
                    Binary::Plus => self.apply(Op::Add, &[a, b]),
                    Binary::Minus => self.apply(Op::Sub, &[a, b]),
                    Binary::Times => self.apply(Op::Mul, &[a, b]),
                    Binary::Over => self.apply(Op::Div, &[a, b]),
                    Binary::Power => self.power(a, b),
                }
            }
            Piece::Call(name, arguments) => {
                let arguments: Vec<(Value, Span)> = arguments.iter().map(|&k| operand(k)).collect();
                self.call(name, span, &arguments)
            }
        }
    }

    fn named(&mut self, name: &str, span: Span) -> Result<Value, Complaint> {
        let node = match self.scope.get(name) {
            Some(Meaning::State(i)) => Node::State(i as u32),
            Some(Meaning::Param(j)) => Node::Param(j as u32),
            Some(Meaning::Time) => Node::Time,
            Some(Meaning::Variable(state, _)) => Node::State(state as u32),
            Some(Meaning::Constant(x)) => return Ok(Value::Number(self.builder.constant(x))),
            Some(Meaning::Definition(k)) => return Ok(self.definitions[k]),
            Some(Meaning::Function(_)) => {
                let complaint = Complaint::new(span, format!("`{name}` is a function"));
                return Err(complaint.help(format!("call it: {name}(...)")));
            }
            None => {
                let shown: String = name.chars().take(40).collect();
                let message = format!("nothing is called `{shown}`");
                let help = match name {
                    "e" => Some("for Euler's number write exp(1)".to_owned()),
                    _ if name.ends_with(is_raised) => {
                        Some("powers are written with `^`".to_owned())
                    }
                    _ => self.similar(name, |m| !matches!(m, Meaning::Function(_))),
                };
                return Err(Complaint { span, message, help });
            }
        };
        Ok(Value::Number(self.builder.intern(node)))
    }

    fn call(
        &mut self,
        name: &str,
        span: Span,
        arguments: &[(Value, Span)],
    ) -> Result<Value, Complaint> {
        let function = match self.scope.get(name) {
            Some(Meaning::Function(_)) if name == AMBIGUOUS => {
                let complaint = Complaint::new(span, "`log` may mean two functions");
                return Err(complaint.help("write ln or log10"));
            }
            Some(Meaning::Function(function)) => function,
            Some(_) => {
                let complaint = Complaint::new(span, format!("`{name}` is not a function"));
                return Err(complaint.help(format!("to multiply, write {name} * (...)")));
            }
            None => {
                let shown: String = name.chars().take(40).collect();
                let message = format!("there is no function `{shown}`");
                let known = word_remedy(name).or_else(|| function_remedy(name));
                let help = known.map_or_else(|| self.functions_like(name), str::to_owned);
                return Err(Complaint::new(span, message).help(help));
            }
        };
        let arity = function.arity();
        if arguments.len() != arity {
            let plural = if arity == 1 { "" } else { "s" };
            let message =
                format!("`{name}` takes {arity} argument{plural}, not {}", arguments.len());
            return Err(Complaint::new(span, message));
        }
        match function {
            Function::Op(op) => self.apply(op, arguments),
            Function::Added(k) => {
                let Some(id) = number(arguments[0])? else { return Ok(Value::Wrong) };
                let refused =
                    |Refusal { message, help }| Complaint::new(arguments[0].1, message).help(help);
                self.vocabulary.call(k, &mut self.builder, id).map(Value::Number).map_err(refused)
            }
            Function::Power => self.power(arguments[0], arguments[1]),
            Function::Log10 => {
                let ln = self.apply(Op::Ln, arguments)?;
                let per_decade = self.builder.constant(std::f64::consts::LOG10_E);
                self.apply(Op::Mul, &[(ln, span), (Value::Number(per_decade), span)])
            }
            Function::Choice => {
                let condition = condition(arguments[0])?;
                let (a, b) = (number(arguments[1])?, number(arguments[2])?);
                let (Some(condition), Some(a), Some(b)) = (condition, a, b) else {
                    return Ok(Value::Wrong);
                };
                Ok(Value::Number(self.builder.apply(Op::Select, &[condition, a, b])))
            }
        }
    }

    /// A power; by multiplications if the exponent is an integer constant.
    fn power(&mut self, base: (Value, Span), exponent: (Value, Span)) -> Result<Value, Complaint> {
        let (Some(a), Some(b)) = (number(base)?, number(exponent)?) else {
            return Ok(Value::Wrong);
        };
        let integer = self.builder.value(b).filter(|x| x.fract() == 0.0 && x.abs() <= MAX_FACTORS);
        Ok(Value::Number(match integer {
            Some(n) => self.builder.powi(a, n as i32),
            None => self.builder.apply(Op::Powf, &[a, b]),
        }))
    }

    /// An operation on numbers.
    fn apply(&mut self, op: Op, operands: &[(Value, Span)]) -> Result<Value, Complaint> {
        let ids: Vec<Option<NodeId>> =
            operands.iter().map(|&operand| number(operand)).collect::<Result<_, _>>()?;
        let Some(ids) = ids.into_iter().collect::<Option<Vec<_>>>() else {
            return Ok(Value::Wrong);
        };
        let id = self.builder.apply(op, &ids);
        Ok(match op {
            Op::Lt | Op::Le | Op::Eq => Value::Condition(id),
            _ => Value::Number(id),
        })
    }

    /// An operation on conditions.
    fn join(&mut self, op: Op, operands: &[(Value, Span)]) -> Result<Value, Complaint> {
        let ids: Vec<Option<NodeId>> =
            operands.iter().map(|&operand| condition(operand)).collect::<Result<_, _>>()?;
        let ids: Option<Vec<NodeId>> = ids.into_iter().collect();
        Ok(ids.map_or(Value::Wrong, |ids| Value::Condition(self.builder.apply(op, &ids))))
    }

    /// Warnings for parameters and definitions that no expression names.
    fn unused<'e>(&self, expressions: impl Iterator<Item = &'e Expression<'a>>) -> Vec<Diagnostic>
    where
        'a: 'e,
    {
        let mut params = vec![false; self.source.params.len()];
        let mut definitions = vec![false; self.source.definitions.len()];
        for (piece, _) in expressions.filter_map(|e| e.tree.as_ref()).flat_map(|tree| &tree.pieces)
        {
            if let Piece::Name(name) = piece {
                match self.scope.get(name) {
                    Some(Meaning::Param(j)) => params[j] = true,
                    Some(Meaning::Definition(k)) => definitions[k] = true,
                    _ => {}
                }
            }
        }
        let unused = |used: Vec<bool>| (0..used.len()).filter(move |&k| !used[k]);
        let params = unused(params).map(Part::ParamName);
        let definitions = unused(definitions).map(Part::DefinitionName);
        let warning = |part: Part| {
            let len = part.text(self.source).len();
            Diagnostic::new(self.source, part, (0, len), "never used".to_owned(), None)
        };
        params.chain(definitions).map(warning).collect()
    }
}

/// What a function that is not here is written as.
fn function_remedy(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "sign" | "sgn" => "write select(x > 0, 1, select(x < 0, -1, 0))",
        "heaviside" => "write select(x >= 0, 1, 0)",
        "ceil" => "write -floor(-x)",
        "round" => "write floor(x + 0.5)",
        "log2" => "write ln(x) / ln(2)",
        _ => return None,
    })
}

/// True of a digit of an exponent, which is a letter of names too.
fn is_raised(c: char) -> bool {
    matches!(c, '⁰' | '¹' | '²' | '³' | '⁴'..='⁹')
}

/// The node of a number; nothing where an error has been reported.
fn number((value, span): (Value, Span)) -> Result<Option<NodeId>, Complaint> {
    match value {
        Value::Number(id) => Ok(Some(id)),
        Value::Wrong => Ok(None),
        Value::Condition(_) => {
            let complaint = Complaint::new(span, "this is a condition where a number is needed");
            Err(complaint.help("use select(condition, a, b)"))
        }
    }
}

/// The node of a condition; nothing where an error has been reported.
fn condition((value, span): (Value, Span)) -> Result<Option<NodeId>, Complaint> {
    match value {
        Value::Condition(id) => Ok(Some(id)),
        Value::Wrong => Ok(None),
        Value::Number(_) => {
            let complaint = Complaint::new(span, "this is a number where a condition is needed");
            Err(complaint.help("compare it with something"))
        }
    }
}
