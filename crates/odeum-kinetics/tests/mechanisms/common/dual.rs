//! Dual numbers: a value and its derivative in one direction.

use std::ops::{Add, Div, Mul, Neg, Sub};

use odeum_core::Real;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Dual {
    pub(crate) value: f64,
    pub(crate) slope: f64,
}

impl Dual {
    pub(crate) fn new(value: f64, slope: f64) -> Dual {
        Dual { value, slope }
    }

    /// f(self) from f and f′ at the value; a zero slope stays zero whatever f′ is.
    fn chain(self, f: f64, derivative: f64) -> Dual {
        Dual::new(f, if self.slope == 0.0 { 0.0 } else { self.slope * derivative })
    }
}

impl Add for Dual {
    type Output = Dual;
    fn add(self, b: Dual) -> Dual {
        Dual::new(self.value + b.value, self.slope + b.slope)
    }
}

impl Sub for Dual {
    type Output = Dual;
    fn sub(self, b: Dual) -> Dual {
        Dual::new(self.value - b.value, self.slope - b.slope)
    }
}

impl Mul for Dual {
    type Output = Dual;
    fn mul(self, b: Dual) -> Dual {
        Dual::new(self.value * b.value, self.slope * b.value + self.value * b.slope)
    }
}

impl Div for Dual {
    type Output = Dual;
    fn div(self, b: Dual) -> Dual {
        let value = self.value / b.value;
        Dual::new(value, (self.slope - value * b.slope) / b.value)
    }
}

impl Neg for Dual {
    type Output = Dual;
    fn neg(self) -> Dual {
        Dual::new(-self.value, -self.slope)
    }
}

impl Real for Dual {
    type Mask = bool;
    fn lit(x: f64) -> Dual {
        Dual::new(x, 0.0)
    }
    fn mul_add(self, a: Dual, b: Dual) -> Dual {
        self * a + b
    }
    fn sqrt(self) -> Dual {
        let root = self.value.sqrt();
        self.chain(root, 0.5 / root)
    }
    fn cbrt(self) -> Dual {
        let root = self.value.cbrt();
        self.chain(root, 1.0 / (3.0 * root * root))
    }
    fn abs(self) -> Dual {
        self.chain(self.value.abs(), self.value.signum())
    }
    fn floor(self) -> Dual {
        Dual::new(self.value.floor(), 0.0)
    }
    fn exp(self) -> Dual {
        let exp = self.value.exp();
        self.chain(exp, exp)
    }
    fn ln(self) -> Dual {
        self.chain(self.value.ln(), 1.0 / self.value)
    }
    fn sin(self) -> Dual {
        self.chain(self.value.sin(), self.value.cos())
    }
    fn cos(self) -> Dual {
        self.chain(self.value.cos(), -self.value.sin())
    }
    fn tan(self) -> Dual {
        self.chain(self.value.tan(), self.value.cos().powi(-2))
    }
    fn asin(self) -> Dual {
        self.chain(self.value.asin(), (1.0 - self.value * self.value).sqrt().recip())
    }
    fn acos(self) -> Dual {
        self.chain(self.value.acos(), -(1.0 - self.value * self.value).sqrt().recip())
    }
    fn atan(self) -> Dual {
        self.chain(self.value.atan(), (1.0 + self.value * self.value).recip())
    }
    fn sinh(self) -> Dual {
        self.chain(self.value.sinh(), self.value.cosh())
    }
    fn cosh(self) -> Dual {
        self.chain(self.value.cosh(), self.value.sinh())
    }
    fn tanh(self) -> Dual {
        self.chain(self.value.tanh(), self.value.cosh().powi(-2))
    }
    fn powf(self, exponent: Dual) -> Dual {
        (exponent * self.ln()).exp()
    }
    fn lt(self, other: Dual) -> bool {
        self.value < other.value
    }
    fn le(self, other: Dual) -> bool {
        self.value <= other.value
    }
    fn eq(self, other: Dual) -> bool {
        self.value == other.value
    }
    fn select(mask: bool, a: Dual, b: Dual) -> Dual {
        if mask { a } else { b }
    }
}
