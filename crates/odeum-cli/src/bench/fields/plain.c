/* Steps of forward Euler as a plain loop: what a user would write for one problem, with a layer of ghosts
   that continues the box at its other end. Prints the seconds of a step, the best of some rounds, and
   the sum of the first species at the end of a round.
   Arguments: problem (0 diffusion, 1 Gray-Scott), cells along two axes, whether most of it is zero,
   steps before and within what is timed, rounds. REAL is the precision. */
#define _POSIX_C_SOURCE 200112L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void continue_box(REAL *a, long nx, long ny) {
    long row = nx + 2;
    for (long y = 1; y <= ny; y++) {
        a[y * row] = a[y * row + nx];
        a[y * row + nx + 1] = a[y * row + 1];
    }
    if (ny > 1) {
        memcpy(a, a + ny * row, (size_t)row * sizeof(REAL));
        memcpy(a + (ny + 1) * row, a + row, (size_t)row * sizeof(REAL));
    }
}

#define LINE(a) ((a)[x - 1] - 2 * (a)[x] + (a)[x + 1])
#define NEAR(a) ((a)[x - 1] + (a)[x + 1] + (a)[x - row] + (a)[x + row])
#define NEXT(a) ((a)[x - row - 1] + (a)[x - row + 1] + (a)[x + row - 1] + (a)[x + row + 1])
#define PLANE(a) ((4 * NEAR(a) + NEXT(a) - 20 * (a)[x]) * (REAL)(1.0 / 6.0))
#define DIFFUSE(LAP) next_u[x] = u[x] + h * LAP(u);
#define REACT(LAP)                                                                            \
    REAL rate = u[x] * v[x] * v[x];                                                           \
    next_u[x] = u[x] + h * ((REAL)0.16 * LAP(u) - rate + (REAL)0.037 * (1 - u[x]));           \
    next_v[x] = v[x] + h * ((REAL)0.08 * LAP(v) + rate - (REAL)0.097 * v[x]);
#define ALONG(BODY)                                                                           \
    for (long x = row + 1; x <= row + nx; x++) { BODY }
#define ACROSS(BODY)                                                                          \
    for (long y = 1; y <= ny; y++)                                                            \
        for (long x = y * row + 1; x <= y * row + nx; x++) { BODY }

static void diffuse(long nx, long ny, REAL h, const REAL *restrict u, REAL *restrict next_u) {
    long row = nx + 2;
    if (ny == 1) ALONG(DIFFUSE(LINE))
    else ACROSS(DIFFUSE(PLANE))
}

static void react(long nx, long ny, REAL h, const REAL *restrict u, const REAL *restrict v,
                  REAL *restrict next_u, REAL *restrict next_v) {
    long row = nx + 2;
    if (ny == 1) ALONG(REACT(LINE))
    else ACROSS(REACT(PLANE))
}

static void begin(REAL *u, REAL *v, int reacts, int zeros, long nx, long ny) {
    for (long y = 0; y < ny; y++) {
        for (long x = 0; x < nx; x++) {
            int near = labs(x - nx / 2) < 10 && labs(y - ny / 2) < 10;
            double wave = 0.01 * (double)((x + 3 * y) % 17);
            size_t at = (size_t)((y + 1) * (nx + 2) + x + 1);
            if (!reacts) u[at] = (REAL)(zeros ? near : 1 + wave);
            else u[at] = (REAL)(zeros ? (near ? 0.5 : 1.0) : 0.4 + wave);
            v[at] = (REAL)(zeros ? (near ? 0.25 : 0.0) : 0.3 + wave);
        }
    }
}

int main(int count, char **given) {
    if (count != 8) return 1;
    int reacts = atoi(given[1]), zeros = atoi(given[4]);
    long nx = atol(given[2]), ny = atol(given[3]), before = atol(given[5]), timed = atol(given[6]);
    size_t size = (size_t)(nx + 2) * (size_t)(ny + 2) * sizeof(REAL);
    REAL *all[4];
    for (int k = 0; k < 4; k++) {
        all[k] = malloc(size);
        if (!all[k]) return 1;
        memset(all[k], 0, size);
    }
    REAL h = (REAL)(reacts ? 0.5 : 0.15);
    double best = INFINITY, sum = 0;
    for (long round = atol(given[7]); round > 0; round--) {
        REAL *u = all[0], *v = all[1], *next_u = all[2], *next_v = all[3];
        begin(u, v, reacts, zeros, nx, ny);
        double from = 0;
        for (long step = 0; step < before + timed; step++) {
            if (step == before) from = now();
            continue_box(u, nx, ny);
            if (reacts) {
                continue_box(v, nx, ny);
                react(nx, ny, h, u, v, next_u, next_v);
            } else {
                diffuse(nx, ny, h, u, next_u);
            }
            REAL *swap = u;
            u = next_u, next_u = swap;
            swap = v, v = next_v, next_v = swap;
        }
        double seconds = (now() - from) / (double)timed;
        if (seconds < best) best = seconds;
        sum = 0;
        for (long y = 1; y <= ny; y++) {
            /* Row by row: one sum over millions of cells would err by more than both fields differ. */
            double row = 0;
            for (long x = 1; x <= nx; x++) row += (double)u[y * (nx + 2) + x];
            sum += row;
        }
    }
    printf("%.9e %.12e\n", best, sum);
    return 0;
}
