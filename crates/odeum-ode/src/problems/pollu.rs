//! The air pollution problem POLLU.

use super::{Builtin, Problem, fixed, fixed_mut, names, references};
use odeum_core::{Real, System};

/// Twenty species and 25 reactions of the lower atmosphere, after the Dutch national institute
/// of public health; p = (k₁ … k₂₅) [1/min, 1/(ppm min)], states \[ppm\].
///
/// J. G. Verwer, SIAM J. Sci. Comput. 15 (1994) 1243–1250; Mazzia & Magherini, *Test Set for IVP
/// Solvers*, problem POLLU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pollu;

impl Pollu {
    /// The problem in its usual form.
    pub fn problem() -> Problem {
        Problem {
            name: "pollu",
            title: "Air pollution POLLU",
            about: "Atmospheric chemistry of twenty species; the excited oxygen atom decays at \
                    4e11 per minute, so an implicit method is needed.",
            source: "J. G. Verwer, SIAM J. Sci. Comput. 15 (1994) 1243-1250; Mazzia & Magherini, \
                     Test Set for IVP Solvers, release 2.4 (2008)",
            method: "rodas5p",
            y0: vec![
                0.0, 0.2, 0.0, 0.04, 0.0, 0.0, 0.1, 0.3, 0.01, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
                0.007, 0.0, 0.0, 0.0,
            ],
            params: vec![
                0.35, 26.6, 1.23e4, 8.6e-4, 8.2e-4, 1.5e4, 1.3e-4, 2.4e4, 1.65e4, 9e3, 0.022,
                1.2e4, 1.88, 1.63e4, 4.8e6, 3.5e-4, 0.0175, 1e8, 4.44e11, 1.24e3, 2.1, 5.78,
                0.0474, 1.78e3, 3.12,
            ],
            span: (0.0, 60.0),
            references: references::POLLU,
            system: Builtin::Pollu(Pollu),
        }
    }
}

impl System for Pollu {
    fn dim(&self) -> usize {
        20
    }

    fn n_params(&self) -> usize {
        25
    }

    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let y = fixed::<20, R>(y);
        let k = fixed::<25, R>(p);
        let dydt = fixed_mut::<20, R>(dydt);
        let r1 = k[0] * y[0];
        let r2 = k[1] * y[1] * y[3];
        let r3 = k[2] * y[4] * y[1];
        let r4 = k[3] * y[6];
        let r5 = k[4] * y[6];
        let r6 = k[5] * y[6] * y[5];
        let r7 = k[6] * y[8];
        let r8 = k[7] * y[8] * y[5];
        let r9 = k[8] * y[10] * y[1];
        let r10 = k[9] * y[10] * y[0];
        let r11 = k[10] * y[12];
        let r12 = k[11] * y[9] * y[1];
        let r13 = k[12] * y[13];
        let r14 = k[13] * y[0] * y[5];
        let r15 = k[14] * y[2];
        let r16 = k[15] * y[3];
        let r17 = k[16] * y[3];
        let r18 = k[17] * y[15];
        let r19 = k[18] * y[15];
        let r20 = k[19] * y[16] * y[5];
        let r21 = k[20] * y[18];
        let r22 = k[21] * y[18];
        let r23 = k[22] * y[0] * y[3];
        let r24 = k[23] * y[18] * y[0];
        let r25 = k[24] * y[19];
        dydt[0] = -r1 - r10 - r14 - r23 - r24 + r2 + r3 + r9 + r11 + r12 + r22 + r25;
        dydt[1] = -r2 - r3 - r9 - r12 + r1 + r21;
        dydt[2] = -r15 + r1 + r17 + r19 + r22;
        dydt[3] = -r2 - r16 - r17 - r23 + r15;
        dydt[4] = -r3 + r4 + r4 + r6 + r7 + r13 + r20;
        dydt[5] = -r6 - r8 - r14 - r20 + r3 + r18 + r18;
        dydt[6] = -r4 - r5 - r6 + r13;
        dydt[7] = r4 + r5 + r6 + r7;
        dydt[8] = -r7 - r8;
        dydt[9] = -r12 + r7 + r9;
        dydt[10] = -r9 - r10 + r8 + r11;
        dydt[11] = r9;
        dydt[12] = -r11 + r10;
        dydt[13] = -r13 + r12;
        dydt[14] = r14;
        dydt[15] = -r18 - r19 + r16;
        dydt[16] = -r20;
        dydt[17] = r20;
        dydt[18] = -r21 - r22 - r24 + r23 + r25;
        dydt[19] = -r25 + r24;
    }

    fn state_names(&self) -> Vec<String> {
        names(&[
            "NO2", "NO", "O3P", "O3", "HO2", "OH", "HCHO", "CO", "ALD", "MEO2", "C2O3", "CO2",
            "PAN", "CH3O", "HNO3", "O1D", "SO2", "SO4", "NO3", "N2O5",
        ])
    }

    fn param_names(&self) -> Vec<String> {
        names(&[
            "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9", "k10", "k11", "k12", "k13",
            "k14", "k15", "k16", "k17", "k18", "k19", "k20", "k21", "k22", "k23", "k24", "k25",
        ])
    }
}
