// Where the planes of a pipeline's tile lie in shared memory, and what a step and the potentials are
// made of there. Plane n of a stage has its origin one cell further in than the plane that it was
// computed from, so that the thread of a cell reads and writes at one place in all of them.

// Tables of the model: `od_field(f)` is the number of field f, one of the Laplacians in F, and
// `od_field_of(n)` the way back (-1 of one that is not in F). A species that potentials depend on is
// far: it is wanted four cells around the tile, others three.
struct OdPipeline {
    // Cells of the tile; rows of a thread of the two groups that compute it, and its registers.
    static constexpr int W = OD_PIPELINE_X, T = OD_PIPELINE_Y, H = 8;
    static constexpr int REGISTERS = 192;
    static constexpr int REGISTERS_BESIDE = 504 - 2 * REGISTERS;
    // How often the code of potentials beside the tile is there.
    static constexpr int CODES = OD_FIELDS > 2 ? 1 : 3;
    // Threads of a group along x, and its warps.
    static constexpr int CW = W / 2, WARPS = T / H;
    // Words of a row of fields and of potentials; rows of planes of fields, and their words, which
    // boxes want to be a multiple of 128 bytes.
    static constexpr int P = OD_PIPELINE_ROW, PM = W + 6, ROWS = OD_PIPELINE_ROWS;
    static constexpr int PLANE = (ROWS * P + 31) / 32 * 32;
    static constexpr int MU0 = (T + 6) * PM, MU1 = (T + 2) * PM, FIRST = (T + 4) * P;
    // Four planes of far species, two of near ones and of potentials, three of the first step and
    // one of its potentials; before them are barriers, time-dependent values, and a list of ghosts.
    static constexpr int SLOT = OD_S * FIRST, GHOSTS = 2;
    static constexpr int AT_TIME_DEPENDENT = 40, AT_LIST = 64, AT_FAR = AT_LIST + 2 * 64 * GHOSTS,
                         AT_NEAR = AT_FAR + 4 * OD_FAR * PLANE,
                         AT_MU0 = AT_NEAR + 2 * OD_NEAR * PLANE,
                         AT_MU1 = AT_MU0 + 2 * OD_POTENTIALS * MU0,
                         AT_FIRST = AT_MU1 + OD_POTENTIALS * MU1, WORDS = AT_FIRST + 3 * SLOT;
    static_assert(4 * WORDS == OD_PIPELINE_BYTES, "shared memory as the host reserves it");
    static_assert(CW == 32, "a warp takes a row");
    // Barriers: planes of far and near species that have come; potentials of the field; the first
    // and the second step; potentials of the first step; far and near species with their ghosts.
    static constexpr int B_FAR = 0, B_NEAR = 4, B_MU0 = 6, B_FIRST = 8, B_SECOND = 10, B_MU1 = 12,
                         B_FAR_GHOSTS = 13, B_NEAR_GHOSTS = 15, BARRIERS = 17;
    static_assert(8 * BARRIERS <= 4 * AT_TIME_DEPENDENT, "room for barriers");
};

// What a step is made of: its fields are the Laplacians in F, its inputs and results the species.
// Addresses are those of windows: of species one word before them.
struct OdStepRule {
    static constexpr int FIELDS = OD_FIELDS, RESULTS = OD_S, INPUTS = OD_S;
    static constexpr int LAST = OD_FIELDS_OF_SPECIES > 0 ? OD_FIELDS_OF_SPECIES - 1 : 0;
    // The numbers of the first step, but for the time.
    const OdStep &step;
    real t;
    unsigned species[OD_S], mu[OD_POTENTIALS + 1];

    OD_FN_MEMBER static int input(int f) { return od_field(f) < OD_S ? od_field(f) : -1; }
    OD_FN_MEMBER static bool apart(int s) { return od_field_of(s) < 0; }
    OD_FN_MEMBER static bool spreads(int r, int f) { return od_spreads(r, od_field(f)); }
    // The field that completes a result.
    OD_FN_MEMBER static int ends(int r) { return od_last_field(r); }
    OD_FN_MEMBER real part(int r, int f) const {
        return step.spread[od_spread(r, od_field(f))];
    }
    OD_FN_MEMBER void row(int f, int r, real (&u)[4]) const {
        const int n = od_field(f);
        if (n < OD_S) {
            od_read_row(true, species[n < OD_S ? n : 0] + 4 * r * OdPipeline::P, u);
        } else {
            od_read_row(false, mu[n < OD_S ? 0 : n - OD_S] + 4 * r * OdPipeline::PM, u);
        }
    }
    OD_FN_MEMBER float2 cells(int s, int j) const {
        return od_get_two(species[s] + 4 * ((j + 1) * OdPipeline::P + 2));
    }
    OD_FN_MEMBER void begin(const real (&u)[OD_S], real (&values)[OD_S]) const {
        real inputs[OD_S + 3] = {}, rhs[OD_S];
        OD_EACH(s, OD_S) inputs[s] = u[s];
        od_local(t, inputs, inputs, rhs);
        OD_EACH(s, OD_S) values[s] = od_reacts(s) ? od_fma(step.h, rhs[s], u[s]) : u[s];
    }
};

// What potentials are made of: fields and inputs are the far species. (Without potentials nothing
// of this is used.)
struct OdPotentialRule {
    static constexpr int FIELDS = OD_FAR > 0 ? OD_FAR : 1, INPUTS = FIELDS, LAST = FIELDS - 1;
    static constexpr int RESULTS = OD_POTENTIALS > 0 ? OD_POTENTIALS : 1;
    real t;
    unsigned planes[FIELDS];

    OD_FN_MEMBER static int input(int f) { return f; }
    OD_FN_MEMBER static bool apart(int) { return false; }
    OD_FN_MEMBER static bool spreads(int, int) { return true; }
    OD_FN_MEMBER static int ends(int) { return LAST; }
    OD_FN_MEMBER real part(int r, int f) const { return od_potential_part(r, od_far_species(f)); }
    OD_FN_MEMBER void row(int f, int r, real (&u)[4]) const {
        od_read_row(false, planes[f] + 4 * r * OdPipeline::P, u);
    }
    OD_FN_MEMBER float2 cells(int, int) const { return float2{}; }
    OD_FN_MEMBER void begin(const real (&u)[INPUTS], real (&values)[RESULTS]) const {
        real inputs[OD_S + 3] = {};
        OD_EACH(f, OD_FAR) inputs[od_far_species(f)] = u[f];
        od_local_potentials(t, inputs, inputs, values);
    }
};

// What all threads of a block know.
struct OdBlock {
    // Shared memory: the first word, which begins the barriers.
    unsigned base;
    // The tile's first cell, planes from `begin` to before `end`.
    int x0, y0, begin, end;
    // Planes go in by turns; in turn n goes in plane first + n.
    int first, turns;
    // Whether the tile is at the low and at the high end of the box along x, of which it is at one
    // at most, and at any end of what boxes in memory do not reach beyond.
    bool low, high, rim;
};

OD_FN unsigned od_at(const OdBlock &block, int word) { return block.base + 4 * word; }

// A barrier of two or of four that are passed in turn.
OD_FN unsigned od_two(const OdBlock &block, int barrier, int n) {
    return block.base + 8 * (barrier + (n & 1));
}
OD_FN unsigned od_four(const OdBlock &block, int barrier, int n) {
    return block.base + 8 * (barrier + (n & 3));
}
OD_FN void od_wait_two(const OdBlock &block, int barrier, int n) {
    od_wait(od_two(block, barrier, n), n >> 1 & 1);
}
// Waits for what came from memory in turn n, with its ghosts.
OD_FN void od_wait_far(const OdBlock &block, int n) {
    if (block.rim) {
        od_wait_two(block, OdPipeline::B_FAR_GHOSTS, n);
    } else {
        od_wait(od_four(block, OdPipeline::B_FAR, n), n >> 2 & 1);
    }
}
OD_FN void od_wait_boundary_cells(const OdBlock &block, int n) {
    od_wait_two(block, block.rim ? OdPipeline::B_NEAR_GHOSTS : OdPipeline::B_NEAR, n);
}

// Whether ghosts of some species beyond a boundary along x do not mirror.
OD_FN bool od_shifts(int face) {
    bool any = false;
    OD_EACH(s, OD_S) any = any || od_boundary(s, face) == OD_AFFINE;
    return any;
}

// Where planes lie: of far and near species, and of potentials, by the turn that they came in or
// that they are written in; of the first step by a slot that goes round.
OD_FN int od_far_at(int n, int f) {
    return OdPipeline::AT_FAR + ((n & 3) * OD_FAR + f) * OdPipeline::PLANE;
}
OD_FN int od_boundary_cells_at(int n, int s) {
    return OdPipeline::AT_NEAR + ((n & 1) * OD_NEAR + s) * OdPipeline::PLANE;
}
OD_FN int od_mu0_at(int n, int p) {
    return OdPipeline::AT_MU0 + ((n & 1) * OD_POTENTIALS + p) * OdPipeline::MU0;
}
OD_FN int od_slot(int n) { return OdPipeline::AT_FIRST + n % 3 * OdPipeline::SLOT; }

// The first step in turn n, at a place in planes of fields and of potentials: what came in turn
// n - 2, and potentials that were written in turn n - 1 (n - 2 where there are no more).
OD_FN void od_aim_first(OdStepRule &rule, int n, bool again, unsigned at, unsigned at_mu) {
    OD_EACH(s, OD_S) {
        const int far = od_far_at(n - 2, od_fars(s)), near = od_boundary_cells_at(n, s - od_fars(s));
        rule.species[s] = at + 4 * ((od_feeds(s) ? far : near) + OdPipeline::P);
    }
    OD_EACH(p, OD_POTENTIALS) rule.mu[p] = at_mu + 4 * od_mu0_at(again ? n - 1 : n, p);
}
OD_FN void od_aim_second(OdStepRule &rule, int slot, unsigned at, unsigned at_mu) {
    OD_EACH(s, OD_S) rule.species[s] = at + 4 * (slot + s * OdPipeline::FIRST + OdPipeline::P);
    OD_EACH(p, OD_POTENTIALS) rule.mu[p] = at_mu + 4 * (OdPipeline::AT_MU1 + p * OdPipeline::MU1);
}
OD_FN void od_aim_mu0(OdPotentialRule &rule, int n, unsigned at) {
    OD_EACH(f, OD_FAR) rule.planes[f] = at + 4 * od_far_at(n, f);
}
OD_FN void od_aim_mu1(OdPotentialRule &rule, int slot, unsigned at) {
    OD_EACH(f, OD_FAR) rule.planes[f] = at + 4 * (slot + od_far_species(f) * OdPipeline::FIRST);
}
