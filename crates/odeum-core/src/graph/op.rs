//! The operations of a graph: one table of name, C spelling, cost, meaning and derivative.

use crate::real::Real;

/// What an operation costs, roughly, and what it gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A number, for about one instruction.
    Arithmetic,
    /// A number, by a division or a square root.
    Root,
    /// A number, by an elementary function: tens of instructions.
    Function,
    /// A truth value.
    Condition,
}

impl Class {
    /// Cost relative to an addition, for balancing work: a division or a root occupies the
    /// unit of a vector processor about eight times, an elementary function about twenty times
    /// as long as an addition.
    pub fn cost(self) -> u64 {
        match self {
            Class::Arithmetic | Class::Condition => 1,
            Class::Root => 8,
            Class::Function => 20,
        }
    }
}

/// What the table says about an operation, apart from its meaning and derivative.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// Name in the textual form of a graph.
    pub name: &'static str,
    /// Number of operands.
    pub arity: usize,
    /// What it costs and gives.
    pub class: Class,
    /// Spelling in C; `{0}`, `{1}`, `{2}` stand for the operands.
    pub c: &'static str,
}

/// How the derivative of an operation follows from the derivatives of its operands.
pub(crate) enum Rule<R: Real> {
    /// The sum of operand derivatives, each times its partial derivative.
    Partials(Vec<R>),
    /// The derivative of the first of the last two operands where the condition holds, of the
    /// second elsewhere. A product with 0 and 1 would let a NaN of the branch not taken through.
    Choice(R::Mask),
    /// Zero wherever it exists.
    Constant,
}

/// Where an operation finds its operands and leaves its result.
///
/// A trait with inlined methods and not two closures: those cannot be marked for inlining, and
/// lane code that is not inlined is compiled without the lanes' instructions.
pub(crate) trait Operands<R: Real> {
    /// Operand `k`, below the arity.
    fn operand(&self, k: usize) -> R;
    /// Takes the result.
    fn result(&mut self, value: R);
}

/// [`Operands`] of an operation at one place after the other.
pub(crate) trait Offsets<R: Real>: Operands<R> {
    /// Goes on to the next place; false when there is none.
    fn advance(&mut self) -> bool;
}

/// Operands in a slice, the result in a variable.
struct Loose<'a, R>(&'a [R], &'a mut R);

impl<R: Real> Operands<R> for Loose<'_, R> {
    #[inline(always)]
    fn operand(&self, k: usize) -> R {
        self.0[k]
    }

    #[inline(always)]
    fn result(&mut self, value: R) {
        *self.1 = value;
    }
}

/// A truth value as a number, which is how tapes store it: 1 or 0.
#[inline(always)]
fn truth<R: Real>(mask: R::Mask) -> R {
    R::select(mask, R::lit(1.0), R::lit(0.0))
}

/// The truth value behind [`truth`].
#[inline(always)]
fn holds<R: Real>(number: R) -> R::Mask {
    number.eq(R::lit(1.0))
}

/// Turns the table into the enum and its functions, so that no fact stands twice.
///
/// A row: name(operands) -> value: class, C spelling, meaning, rule of differentiation.
macro_rules! op_table {
    ($($(#[$doc:meta])* $op:ident($($x:ident),+) -> $u:ident: $class:ident, $c:literal,
        $meaning:expr, $rule:ident[$($d:expr),*];)*) => {
        /// An operation on nodes of a graph. Meanings are those of [`Real`]'s methods.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op {
            $($(#[$doc])* $op,)*
        }

        impl Op {
            /// Every operation, in the order of the table.
            pub const ALL: &[Op] = &[$(Op::$op,)*];

            /// The row of the table.
            pub fn info(self) -> OpInfo {
                match self {
                    $(Op::$op => OpInfo {
                        name: stringify!($op),
                        arity: [$(stringify!($x)),+].len(),
                        class: Class::$class,
                        c: $c,
                    },)*
                }
            }

            /// Computes the operation, from the operands to the result of `place`.
            ///
            /// Every arm of the dispatch loads just its operands and stores its own result, so
            /// that no wide value crosses from one arm to another.
            #[inline(always)]
            pub(crate) fn run<R: Real>(self, mut place: impl Operands<R>) {
                match self {
                    $(Op::$op => {
                        let mut count = 0..;
                        $(let $x = place.operand(count.next().unwrap_or(0));)+
                        place.result($meaning);
                    })*
                }
            }

            /// Computes the operation at all places, of which there is at least one: the choice
            /// of the operation is made once for all.
            #[inline(always)]
            pub(crate) fn run_along<R: Real>(self, mut places: impl Offsets<R>) {
                match self {
                    $(Op::$op => loop {
                        let mut count = 0..;
                        $(let $x = places.operand(count.next().unwrap_or(0));)+
                        places.result($meaning);
                        if !places.advance() {
                            break;
                        }
                    })*
                }
            }

            /// The derivative at operands `x` where the operation gives `value`.
            #[allow(unused_variables)]
            pub(crate) fn rule<R: Real>(self, x: &[R], value: R) -> Rule<R> {
                match self {
                    $(Op::$op => {
                        let mut operands = x.iter().copied();
                        $(let $x = operands.next().unwrap_or(value);)+
                        let $u = value;
                        op_table!(@rule $rule[$($d),*])
                    })*
                }
            }
        }
    };
    (@rule partials[$($d:expr),*]) => { Rule::Partials(vec![$($d),*]) };
    (@rule choice[$mask:expr]) => { Rule::Choice($mask) };
    (@rule constant[]) => { Rule::Constant };
}

op_table! {
    /// a + b
    Add(a, b) -> u: Arithmetic, "{0} + {1}", a + b, partials[R::lit(1.0), R::lit(1.0)];
    /// a − b
    Sub(a, b) -> u: Arithmetic, "{0} - {1}", a - b, partials[R::lit(1.0), R::lit(-1.0)];
    /// a b
    Mul(a, b) -> u: Arithmetic, "{0} * {1}", a * b, partials[b, a];
    /// a b + c
    MulAdd(a, b, c) -> u: Arithmetic, "od_fma({0}, {1}, {2})",
        a.mul_add(b, c), partials[b, a, R::lit(1.0)];
    /// a b − c
    MulSub(a, b, c) -> u: Arithmetic, "od_fma({0}, {1}, -{2})",
        a.mul_add(b, -c), partials[b, a, R::lit(-1.0)];
    /// c − a b
    NegMulAdd(a, b, c) -> u: Arithmetic, "od_fma(-{0}, {1}, {2})",
        (-a).mul_add(b, c), partials[-b, -a, R::lit(1.0)];
    /// (a + b) + c
    Add3(a, b, c) -> u: Arithmetic, "{0} + {1} + {2}",
        a + b + c, partials[R::lit(1.0), R::lit(1.0), R::lit(1.0)];
    /// (a b) c
    Mul3(a, b, c) -> u: Arithmetic, "{0} * {1} * {2}", a * b * c, partials[b * c, a * c, a * b];
    /// −a
    Neg(a) -> u: Arithmetic, "-{0}", -a, partials[R::lit(-1.0)];
    /// |a|
    Abs(a) -> u: Arithmetic, "od_abs({0})",
        a.abs(), partials[R::select(a.lt(R::lit(0.0)), R::lit(-1.0), R::lit(1.0))];
    /// Largest integer not above a
    Floor(a) -> u: Arithmetic, "od_floor({0})", a.floor(), constant[];
    /// The smaller; NaN when either is NaN. Of equal ones the first has the derivative, and the second that of the larger, so
    /// that of both together nothing is lost.
    Min(a, b) -> u: Arithmetic, "od_min({0}, {1})", a.min(b), choice[a.le(b) | a.ne(a)];
    /// The larger; NaN when either is NaN
    Max(a, b) -> u: Arithmetic, "od_max({0}, {1})", a.max(b), choice[b.lt(a) | a.ne(a)];
    /// a where the condition m holds, b elsewhere
    Select(m, a, b) -> u: Arithmetic, "{0} ? {1} : {2}", R::select(holds(m), a, b), choice[holds(m)];
    /// a / b
    Div(a, b) -> u: Root, "{0} / {1}", a / b, partials[b.recip(), -(u * b.recip())];
    /// 1 / a
    Recip(a) -> u: Root, "od_recip({0})", a.recip(), partials[-(u * u)];
    /// √a
    Sqrt(a) -> u: Root, "od_sqrt({0})", a.sqrt(), partials[R::lit(0.5) / u];
    /// 1 / √a
    Rsqrt(a) -> u: Root, "od_rsqrt({0})", a.rsqrt(), partials[R::lit(-0.5) * u * (u * u)];
    /// Cube root
    Cbrt(a) -> u: Function, "od_cbrt({0})", a.cbrt(), partials[(R::lit(3.0) * (u * u)).recip()];
    /// eᵃ
    Exp(a) -> u: Function, "od_exp({0})", a.exp(), partials[u];
    /// Natural logarithm
    Ln(a) -> u: Function, "od_ln({0})", a.ln(), partials[a.recip()];
    /// Sine
    Sin(a) -> u: Function, "od_sin({0})", a.sin(), partials[a.cos()];
    /// Cosine
    Cos(a) -> u: Function, "od_cos({0})", a.cos(), partials[-a.sin()];
    /// Tangent
    Tan(a) -> u: Function, "od_tan({0})", a.tan(), partials[R::lit(1.0) + u * u];
    /// Inverse sine
    Asin(a) -> u: Function, "od_asin({0})", a.asin(), partials[(R::lit(1.0) - a * a).rsqrt()];
    /// Inverse cosine
    Acos(a) -> u: Function, "od_acos({0})", a.acos(), partials[-(R::lit(1.0) - a * a).rsqrt()];
    /// Inverse tangent
    Atan(a) -> u: Function, "od_atan({0})", a.atan(), partials[(R::lit(1.0) + a * a).recip()];
    /// Hyperbolic sine
    Sinh(a) -> u: Function, "od_sinh({0})", a.sinh(), partials[a.cosh()];
    /// Hyperbolic cosine
    Cosh(a) -> u: Function, "od_cosh({0})", a.cosh(), partials[a.sinh()];
    /// Hyperbolic tangent
    Tanh(a) -> u: Function, "od_tanh({0})", a.tanh(), partials[R::lit(1.0) - u * u];
    /// aᵇ. The first partial is b aᵇ⁻¹ and not b u / a, and zero for b = 0; the second is zero where a has no logarithm. Both are
    /// finite at a = 0 for b > 1.
    Powf(a, b) -> u: Function, "od_pow({0}, {1})", a.powf(b), partials[
        R::select(b.eq(R::lit(0.0)), b, b * a.powf(b - R::lit(1.0))),
        R::select(a.le(R::lit(0.0)), R::lit(0.0), u * a.ln())
    ];
    /// a < b
    Lt(a, b) -> u: Condition, "{0} < {1}", truth(a.lt(b)), constant[];
    /// a ≤ b
    Le(a, b) -> u: Condition, "{0} <= {1}", truth(a.le(b)), constant[];
    /// a = b
    Eq(a, b) -> u: Condition, "{0} == {1}", truth(a.eq(b)), constant[];
    /// Both hold
    And(a, b) -> u: Condition, "{0} && {1}", truth(holds(a) & holds(b)), constant[];
    /// At least one holds
    Or(a, b) -> u: Condition, "{0} || {1}", truth(holds(a) | holds(b)), constant[];
    /// Does not hold
    Not(a) -> u: Condition, "!{0}", truth(!holds(a)), constant[];
}

impl Op {
    /// True when exchanging the first two operands changes no bit of the result.
    pub(crate) fn commutes(self) -> bool {
        use Op::*;
        matches!(self, Add | Mul | Add3 | Mul3 | MulAdd | MulSub | NegMulAdd | Eq | And | Or)
    }

    /// The operation on given numbers.
    #[inline(always)]
    pub(crate) fn eval<R: Real>(self, x: &[R]) -> R {
        let mut value = x[0];
        self.run(Loose(x, &mut value));
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_names_exactly_the_operands() {
        for op in Op::ALL {
            let info = op.info();
            for k in 0..3 {
                assert_eq!(info.c.contains(&format!("{{{k}}}")), k < info.arity, "{op:?}");
            }
        }
    }

    #[test]
    fn partials_agree_with_central_differences() {
        for op in Op::ALL {
            let arity = op.info().arity;
            let x = &[0.37, 0.81, -0.53][..arity];
            let Rule::Partials(partials) = op.rule(x, op.eval(x)) else { continue };
            assert_eq!(partials.len(), arity);
            for k in 0..arity {
                let at = |shift: f64| {
                    let mut moved = x.to_vec();
                    moved[k] += shift;
                    op.eval(&moved)
                };
                let h = 1e-5;
                let difference = (at(h) - at(-h)) / (2.0 * h);
                assert!((partials[k] - difference).abs() < 1e-8, "{op:?}, operand {k}");
            }
        }
    }

    #[test]
    fn powers_have_finite_derivatives_at_zero() {
        let partials = |x: [f64; 2]| match Op::Powf.rule(&x, Op::Powf.eval(&x)) {
            Rule::Partials(partials) => partials,
            _ => panic!("powf has partial derivatives"),
        };
        assert_eq!(partials([0.0, 2.5]), [0.0, 0.0]);
        assert_eq!(partials([0.0, 1.0])[0], 1.0);
        assert_eq!(partials([0.0, 0.0]), [0.0, 0.0]);
        assert_eq!(partials([-2.0, 3.0]), [12.0, 0.0]);
    }
}
