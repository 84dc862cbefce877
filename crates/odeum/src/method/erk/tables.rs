//! Coefficients, typed once: device code prints them from here.

use super::Tableau;

/// Cash & Karp 1990, order 5(4), six stages.
pub static CASH_KARP: Tableau = Tableau {
    name: "rkck",
    order: 5,
    embedded_order: 4,
    c: &[0.0, 1.0 / 5.0, 3.0 / 10.0, 3.0 / 5.0, 1.0, 7.0 / 8.0],
    a: &[
        &[],
        &[1.0 / 5.0],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[3.0 / 10.0, -9.0 / 10.0, 6.0 / 5.0],
        &[-11.0 / 54.0, 5.0 / 2.0, -70.0 / 27.0, 35.0 / 27.0],
        &[1631.0 / 55296.0, 175.0 / 512.0, 575.0 / 13824.0, 44275.0 / 110592.0, 253.0 / 4096.0],
    ],
    b: &[37.0 / 378.0, 0.0, 250.0 / 621.0, 125.0 / 594.0, 0.0, 512.0 / 1771.0],
    e: &[
        37.0 / 378.0 - 2825.0 / 27648.0,
        0.0,
        250.0 / 621.0 - 18575.0 / 48384.0,
        125.0 / 594.0 - 13525.0 / 55296.0,
        -277.0 / 14336.0,
        512.0 / 1771.0 - 1.0 / 4.0,
    ],
    reference: "J. R. Cash & A. H. Karp, ACM Trans. Math. Software 16 (1990) 201-222; \
                Niemeyer & Sung 2014, table 1",
};

/// Dormand & Prince 1980, order 5(4), seven stages, first same as last.
pub static DORMAND_PRINCE: Tableau = Tableau {
    name: "dopri5",
    order: 5,
    embedded_order: 4,
    c: &[0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0],
    a: &[
        &[],
        &[1.0 / 5.0],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
        &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
        &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
        &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
    ],
    b: &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0, 0.0],
    e: &[
        71.0 / 57600.0,
        0.0,
        -71.0 / 16695.0,
        71.0 / 1920.0,
        -17253.0 / 339200.0,
        22.0 / 525.0,
        -1.0 / 40.0,
    ],
    reference: "J. R. Dormand & P. J. Prince, J. Comput. Appl. Math. 6 (1980) 19-26",
};
pub static TSITOURAS: Tableau = DUMMY;
pub static VERNER7: Tableau = DUMMY;
const DUMMY: Tableau = Tableau {
    name: "dummy",
    order: 5,
    embedded_order: 4,
    c: &[0.0],
    a: &[&[]],
    b: &[1.0],
    e: &[0.0],
    reference: "",
};
