//! k = A T^b exp(−Tₐ / T).

use odeum_core::Real;

use crate::mechanism::Arrhenius;
use crate::thermo::Temperature;

/// Integer powers of T that are kept ready: −3 … 4.
const LOWEST_POWER: i32 = -3;
const N_POWERS: usize = 8;

/// All Arrhenius expressions of a mechanism: first the constants, then A T^b with a small integer
/// b and no activation temperature, then those that need an exponential.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ArrheniusTable {
    /// Where k of each expression goes.
    pub(crate) slot: Vec<u32>,
    pub(crate) a: Vec<f64>,
    pub(crate) b: Vec<f64>,
    pub(crate) ta: Vec<f64>,
    /// End of the constants and of the powers.
    pub(crate) constants_end: usize,
    pub(crate) powers_end: usize,
}

fn is_power(k: &Arrhenius) -> bool {
    let (low, high) = (f64::from(LOWEST_POWER), f64::from(LOWEST_POWER) + N_POWERS as f64);
    k.ta == 0.0 && k.b == k.b.trunc() && (low..high).contains(&k.b)
}

impl ArrheniusTable {
    /// From (slot, expression).
    pub(crate) fn new(expressions: &[(usize, Arrhenius)]) -> ArrheniusTable {
        let kind = |k: &Arrhenius| match (is_power(k), k.b == 0.0) {
            (true, true) => 0,
            (true, false) => 1,
            (false, _) => 2,
        };
        let mut sorted = expressions.to_vec();
        sorted.sort_by_key(|(_, k)| kind(k));
        let mut table = ArrheniusTable::default();
        for (slot, k) in &sorted {
            table.slot.push(*slot as u32);
            table.a.push(k.a);
            table.b.push(k.b);
            table.ta.push(k.ta);
        }
        table.constants_end = sorted.iter().filter(|(_, k)| kind(k) == 0).count();
        table.powers_end = sorted.iter().filter(|(_, k)| kind(k) <= 1).count();
        table
    }

    /// k, and with `D` d ln k/dT, of every expression.
    #[inline(always)]
    pub(crate) fn evaluate<R: Real, const D: bool>(
        &self,
        at: &Temperature<R>,
        k: &mut [R],
        dlnk: &mut [R],
    ) {
        let n = self.slot.len();
        let (slot, a, b, ta) = (&self.slot[..n], &self.a[..n], &self.b[..n], &self.ta[..n]);
        for i in 0..self.constants_end {
            k[slot[i] as usize] = R::lit(a[i]);
            if D {
                dlnk[slot[i] as usize] = R::lit(0.0);
            }
        }
        let (t, r) = (at.t, at.recip);
        let (t2, r2) = (t * t, r * r);
        let powers: [R; N_POWERS] = [r2 * r, r2, r, R::lit(1.0), t, t2, t2 * t, t2 * t2];
        for i in self.constants_end..self.powers_end {
            let power = (b[i] as i32 - LOWEST_POWER) as usize;
            k[slot[i] as usize] = R::lit(a[i]) * powers[power];
            if D {
                dlnk[slot[i] as usize] = R::lit(b[i]) * r;
            }
        }
        for i in self.powers_end..n {
            let exponent = R::lit(b[i]).mul_add(at.ln, -(R::lit(ta[i]) * r));
            k[slot[i] as usize] = R::lit(a[i]) * exponent.exp();
            if D {
                dlnk[slot[i] as usize] = R::lit(ta[i]).mul_add(r, R::lit(b[i])) * r;
            }
        }
    }
}
