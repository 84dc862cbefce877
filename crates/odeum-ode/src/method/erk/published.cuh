// The Runge-Kutta-Cash-Karp code of Niemeyer & Sung 2014, section 3.1, on their Pleiades problem,
// in their form: one thread per system, one launch for each global time step, work arrays indexed
// in loops, pow(). The yardstick of the benchmark, and nothing else.
//
// Three slips of the chapter are put right: both differences are squared in r^2 (eq. 37), the
// grid is rounded up, and the loop is bounded, so that a NaN cannot hang it.

#define NEQN 28
#define TINY 1.0e-30
#define SAFETY 0.9
#define PGROW (-0.2)
#define PSHRNK (-0.25)
#define ERRCON 1.89e-4
#define P1 0.1

__device__ void dydt(const double t, const double *y, double *f) {
    for (int i = 0; i < 7; ++i) {
        f[i] = y[14 + i];
        f[7 + i] = y[21 + i];
        double sumx = 0.0, sumy = 0.0;
        for (int j = 0; j < 7; ++j) {
            if (j == i) continue;
            const double dx = y[j] - y[i], dy = y[7 + j] - y[7 + i];
            const double r3 = pow(dx * dx + dy * dy, 1.5);
            sumx += (j + 1) * dx / r3;
            sumy += (j + 1) * dy / r3;
        }
        f[14 + i] = sumx;
        f[21 + i] = sumy;
    }
}

__device__ void rkckStep(const double t, const double *y, const double *F, const double h,
                         double *yNew, double *yErr) {
    double k2[NEQN], k3[NEQN], k4[NEQN], k5[NEQN], k6[NEQN], yt[NEQN];
    for (int i = 0; i < NEQN; ++i) yt[i] = y[i] + h * (1.0 / 5.0) * F[i];
    dydt(t + h / 5.0, yt, k2);
    for (int i = 0; i < NEQN; ++i)
        yt[i] = y[i] + h * (3.0 / 40.0 * F[i] + 9.0 / 40.0 * k2[i]);
    dydt(t + 0.3 * h, yt, k3);
    for (int i = 0; i < NEQN; ++i)
        yt[i] = y[i] + h * (0.3 * F[i] - 0.9 * k2[i] + 1.2 * k3[i]);
    dydt(t + 0.6 * h, yt, k4);
    for (int i = 0; i < NEQN; ++i)
        yt[i] = y[i] + h * (-11.0 / 54.0 * F[i] + 2.5 * k2[i] - 70.0 / 27.0 * k3[i] +
                            35.0 / 27.0 * k4[i]);
    dydt(t + h, yt, k5);
    for (int i = 0; i < NEQN; ++i)
        yt[i] = y[i] + h * (1631.0 / 55296.0 * F[i] + 175.0 / 512.0 * k2[i] +
                            575.0 / 13824.0 * k3[i] + 44275.0 / 110592.0 * k4[i] +
                            253.0 / 4096.0 * k5[i]);
    dydt(t + 0.875 * h, yt, k6);
    for (int i = 0; i < NEQN; ++i) {
        yNew[i] = y[i] + h * (37.0 / 378.0 * F[i] + 250.0 / 621.0 * k3[i] +
                              125.0 / 594.0 * k4[i] + 512.0 / 1771.0 * k6[i]);
        yErr[i] = h * ((37.0 / 378.0 - 2825.0 / 27648.0) * F[i] +
                       (250.0 / 621.0 - 18575.0 / 48384.0) * k3[i] +
                       (125.0 / 594.0 - 13525.0 / 55296.0) * k4[i] - 277.0 / 14336.0 * k5[i] +
                       (512.0 / 1771.0 - 0.25) * k6[i]);
    }
}

__device__ void rkckDriver(double t, const double tEnd, const double eps, double *y) {
    const double hMax = fabs(tEnd - t);
    const double hMin = 1.0e-20;
    double h = 0.5 * fabs(tEnd - t);
    for (int attempts = 0; t < tEnd && attempts < 100000; ++attempts) {
        h = fmin(tEnd - t, h);
        double yTemp[NEQN], yErr[NEQN], F[NEQN];
        dydt(t, y, F);
        rkckStep(t, y, F, h, yTemp, yErr);
        double err = 0.0;
        bool nanFlag = false;
        for (int i = 0; i < NEQN; ++i) {
            if (isnan(yErr[i])) nanFlag = true;
            err = fmax(err, fabs(yErr[i] / (fabs(y[i]) + fabs(h * F[i]) + TINY)));
        }
        err /= eps;
        if (err > 1.0 || isnan(err) || nanFlag) {
            h = isnan(err) || nanFlag ? h * P1 : fmax(SAFETY * h * pow(err, PSHRNK), P1 * h);
        } else {
            t += h;
            h = err > ERRCON ? SAFETY * h * pow(err, PGROW) : 5.0 * h;
            h = fmax(hMin, fmin(hMax, h));
            for (int i = 0; i < NEQN; ++i) y[i] = yTemp[i];
        }
    }
}

extern "C" __global__ void od_published(const int systems, const double t, const double tEnd,
                                    const double eps, double *global) {
    const int tid = threadIdx.x + blockIdx.x * blockDim.x;
    if (tid >= systems) return;
    double local[NEQN];
    for (int i = 0; i < NEQN; ++i) local[i] = global[tid + i * systems];
    rkckDriver(t, tEnd, eps, local);
    for (int i = 0; i < NEQN; ++i) global[tid + i * systems] = local[i];
}
