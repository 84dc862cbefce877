// Runge-Kutta-Chebyshev of order 2, interleaved systems (gpu/device/interleaved.cuh).
//
// Equation, method, order, stability and reference: mod.rs beside this file. What each system does in a turn: phases.cuh. The first
// thread of a system has its scalars and decides; all its threads do with their components of the vectors what it orders.

// What is to be done with the vectors, in this order, before w = y + d moves.
enum OdOrder : unsigned {
    OD_KEEP_DIRECTION = 1,      // of the power method, which has found it
    OD_START = 2,               // the slope is f, and so is the direction
    OD_ACCEPT = 4,              // the state is w, its slope f
    OD_TAKE = 8,                // the state is the first one of another system
    OD_SAVE = 16,               // the state goes to save times
    OD_WRITE = 32,              // the state is the last one of its system
    OD_FIRST_STAGE = 64         // the stage before is y
};

// What the first thread tells the others: rows of OdMemory::words and ::numbers.
enum OdToldWord {
    OD_TOLD_PHASE, OD_TOLD_HAS_MORE, OD_TOLD_ORDER, OD_TOLD_MOVE, OD_TOLD_INDEX, OD_TOLD_FIRST_SAVE, OD_TOLD_END_SAVE,
    OD_TOLD_GOES_ON, OD_TOLD_WORDS
};
enum OdToldNumber {
    OD_TOLD_AT, OD_TOLD_MU, OD_TOLD_NU, OD_TOLD_REACH, OD_TOLD_A, OD_TOLD_SCALE, OD_TOLD_STEP_SIZE,
    OD_TOLD_NUMBERS
};
static_assert(OD_TOLD_WORDS <= OD_INTERLEAVED_WORDS && OD_TOLD_NUMBERS <= OD_INTERLEAVED_NUMBERS, "there are rows");

// Sums over the components, for whoever decides. A direction is the change of f in the power method, f at a start, else the one found last.
enum OdSum {
    OD_OF_PHASE,                // squares of what the phase wants, or the norm of an error; products of move and direction
    OD_NOT_FINITE_SUM,          // above zero: there is a component that is not finite,
    OD_OUTSIDE_SUM,             // that lies outside the data of the model,
    OD_IMPOSSIBLE_SUM,          // that can be none of a state
    OD_MOVE2, OD_D2,            // squares of the move w - y, of the direction
    OD_LARGEST_D,               // no sums but the largest: of the direction,
    OD_LARGEST_YD,              // and of its products with the state
    OD_SUMS
};
// A decision of all systems takes about so large a part of a turn.
#define OD_DECISIONS_OF_A_TURN 4u
static_assert(OD_SUMS <= OD_CELLS && OD_SUMS <= OD_WARPS, "each sum has a cell and a warp");

// The vectors of a system, for its first thread: sums over them, and orders of what is to be done with them.
struct OdVectors {
    const OdTask &task;
    real sums[OD_SUMS];
    bool in_power;              // these are of a turn of the power method
#if OD_EVENT
    real passing[4];            // the component of the terminal event before and after a step, and f of it
#endif
    unsigned order;
    OdMove how;
    real scale;                 // of the move
    unsigned index;             // of the system to take, or of the component to mirror
    unsigned saves[2];          // the first save time, and the one after the last

    OD_FN_MEMBER void begin() {
        order = 0;
        how = OD_STAY;
    }
    OD_FN_MEMBER void take(unsigned system) {
        order |= OD_TAKE;
        index = system;
    }
    OD_FN_MEMBER void save(unsigned k) {
        if (!(order & OD_SAVE)) saves[0] = k;
        saves[1] = k + 1;
        order |= OD_SAVE;
    }
    OD_FN_MEMBER void write() { order |= OD_WRITE; }
    OD_FN_MEMBER void start() { order |= OD_START; }
    OD_FN_MEMBER void accept() { order |= OD_ACCEPT; }
    OD_FN_MEMBER void keep_direction() { order |= OD_KEEP_DIRECTION; }
    OD_FN_MEMBER void begin_stages() { order |= OD_FIRST_STAGE; }
    OD_FN_MEMBER void move(OdMove order, real a) {
        how = order;
        scale = a;
    }
    OD_FN_MEMBER void move(OdMove order, real a, int mirrored) {
        move(order, a);
        index = mirrored;
    }
    // Of reactors: squares are numbers of full precision, or what is lost does not matter beside that of a temperature; which is
    // never near zero, so that distances are those of states.
    OD_FN_MEMBER real norm_of_change() const { return od_sqrt(sums[OD_D2]); }
    OD_FN_MEMBER real norm_of_move() const { return od_sqrt(sums[OD_MOVE2]); }
    OD_FN_MEMBER real cosine_of_change(real) const { return sums[OD_OF_PHASE]; }
    OD_FN_MEMBER real stretch_of_change(real) const {
        const real most = sums[OD_LARGEST_D];
        return most > real(0) ? sums[OD_LARGEST_YD] / most * OD_PART_OF_STATE / most : real(0);
    }
    // After an estimate that has failed nothing is known of the direction, and the next one begins without.
    OD_FN_MEMBER real stretch_of_direction(real longest) const { return in_power ? real(0) : stretch_of_change(longest); }
    OD_FN_MEMBER real squares_of_euler_error(real) const { return sums[OD_OF_PHASE]; }
    OD_FN_MEMBER OdNorm error(real) const {
        OdNorm norm;
        norm.total = sums[OD_OF_PHASE];
        norm.magnitude = sums[OD_NOT_FINITE_SUM] > real(0) ? OD_NOT_FINITE : 0;
        return norm;
    }
#if OD_EVENT
    OD_FN_MEMBER OdPassage passage(const OdEvent &event, real &slope_after) const {
        slope_after = passing[3];
        return od_passage(task, event, passing[0], passing[1], passing[2]);
    }
#endif
#if OD_RANGES
    OD_FN_MEMBER bool is_outside() const { return sums[OD_OUTSIDE_SUM] > real(0); }
    OD_FN_MEMBER bool is_impossible() const { return sums[OD_IMPOSSIBLE_SUM] > real(0); }
#endif
};

// Out of line: decisions are long, and what they need is not to lie in registers of the stages.
static __device__ __noinline__ void od_rkc_turn(const OdTask &task, OdRkcLoop &loop, OdVectors &x) {
    od_rkc_decide(task, loop, x);
}
static __device__ __noinline__ void od_rkc_take(const OdTask &task, OdRkcLoop &loop, unsigned k, OdVectors &x) {
    od_rkc_load(task, loop, k, x);
}
static __device__ __noinline__ OdStage od_rkc_next_stage(OdRkcLoop &loop) { return od_rkc_stage(loop); }

extern "C" __global__ void __launch_bounds__(OD_BLOCK, OD_BLOCKS_PER_SM)
od_rkc_interleaved(const OdTask task) {
    OD_SHARED(OdMemory, od_memory);
    OdMemory &memory = od_memory[0];
    const OdGroup g = od_group(task, memory);
    const OdNumbers w = g.state();
    const bool decides = g.warp == 0;
    OdRkcLoop loop;
    loop.phase = OD_IDLE;
    loop.at = real(0);
    bool is_more = true;        // the queue may have more systems
    OdVectors orders{task};
    OdParams p = od_params(task, 0);
    real y[OD_EACH];            // the state
    real slope[OD_EACH];        // f there
    real direction[OD_EACH];    // of the power method, found last: seldom wanted, so in local memory
    real d[OD_EACH];            // f is evaluated at w = y + d
    real before[OD_EACH];       // d of the stage before the last
    real f[OD_EACH];            // f where it is evaluated: at w, which is OdMemory::state
    unsigned system = 0, waited = 0;
    real at = real(0), step = real(0);
    OD_UNROLL_OWN
    for (int e = 0; e < OD_EACH; ++e) y[e] = slope[e] = direction[e] = real(1), d[e] = before[e] = real(0);
    OD_OWN(e, i) w[i] = real(1);
    // Of arrays whose places the compiler does not know nothing is in registers.
    const unsigned aside = od_opaque(0);
    OdWork work;
    work.begin();

    // It ends: the power method and the stages are bounded, every attempt counts, and od_proceed
    // ends a system at max_steps.
    for (;;) {
        OD_GROUP_BARRIER();
        if (decides) {
            memory.words[OD_TOLD_PHASE][g.lane] = loop.phase;
            memory.words[OD_TOLD_HAS_MORE][g.lane] = is_more;
            if (loop.phase == OD_AT_STAGE) {
                const OdStage s = od_rkc_next_stage(loop);
                memory.numbers[OD_TOLD_AT][g.lane] = loop.at;
                memory.numbers[OD_TOLD_MU][g.lane] = s.mu;
                memory.numbers[OD_TOLD_NU][g.lane] = s.nu;
                memory.numbers[OD_TOLD_REACH][g.lane] = loop.step * s.mu_tilde;
                memory.numbers[OD_TOLD_A][g.lane] = s.a;
            }
        }
        od_group_rhs(g, at, w, p, f);
        const OdPhase phase = (OdPhase)memory.words[OD_TOLD_PHASE][g.lane];
        const bool more = memory.words[OD_TOLD_HAS_MORE][g.lane];
        if (phase == OD_AT_STAGE) {
            const real mu = memory.numbers[OD_TOLD_MU][g.lane], nu = memory.numbers[OD_TOLD_NU][g.lane];
            const real reach = memory.numbers[OD_TOLD_REACH][g.lane], a = memory.numbers[OD_TOLD_A][g.lane];
            at = memory.numbers[OD_TOLD_AT][g.lane];
            OD_OWN(e, i) {
                const real change = f[e] - a * slope[e];
                const real old = od_fma(mu, d[e], nu * before[e]);
                before[e] = d[e];
                d[e] = od_fma(change, reach, old);
                w[i] = y[e] + d[e];
            }
        }
        // Decisions take a part of a turn, whoever has one to make: systems wait for others, at f of the same state, until together they
        // have waited for about as long.
        const bool is_busy = phase != OD_IDLE || more, waits = is_busy && phase != OD_AT_STAGE;
        waited += od_count(waits);
        if (waited * OD_DECISIONS_OF_A_TURN < od_count(is_busy)) continue;
        waited = 0;
        OD_GROUP_BARRIER();

        // Sums over the components.
        if (waits) {
            real sums[OD_SUMS] = {};
            OdNorm norm;
            od_norm_clear(norm);
            const real fraction = step * OD_ERROR_OF_SLOPES;
            const real unit = OD_NORM == OD_NORM_RMS ? real(1) : od_near_recip(task.rtol);
            OD_OWN(e, i) {
                const real there = w[i], change = f[e] - slope[e], move = there - y[e];
                const real along = phase == OD_IN_POWER ? change : phase == OD_AT_START ? f[e] : direction[e + aside];
                sums[OD_MOVE2] = od_fma(move, move, sums[OD_MOVE2]);
                sums[OD_D2] = od_fma(along, along, sums[OD_D2]);
                sums[OD_LARGEST_D] = od_larger(sums[OD_LARGEST_D], od_abs(along));
                sums[OD_LARGEST_YD] = od_larger(sums[OD_LARGEST_YD], od_abs(y[e] * along));
                if (phase == OD_IN_POWER) {
                    sums[OD_OF_PHASE] = od_fma(change, move, sums[OD_OF_PHASE]);
                } else if (phase == OD_AT_EULER) {
                    const real weight = od_weight(task, i, y[e], y[e], od_abs(step) * slope[e]);
                    const real ratio = (f[e] - slope[e]) * (unit * weight);
                    sums[OD_OF_PHASE] = od_fma(ratio, ratio, sums[OD_OF_PHASE]);
                } else if (phase == OD_AT_END) {
                    const real error = od_fma(slope[e] + f[e], fraction, -(OD_ERROR_OF_STATES * d[e]));
                    od_norm_ratio(norm, error * od_weight(task, i, y[e], there, step * slope[e]));
                    od_norm_finite(norm, there);
                    od_norm_finite(norm, error);
#if OD_RANGES
                    // How many components would lie outside the data of the model, and where there is no state.
                    if (od_outside(i, there)) sums[OD_OUTSIDE_SUM] = real(1);
                    if (od_impossible(task, i, there)) sums[OD_IMPOSSIBLE_SUM] = real(1);
#endif
                }
            }
#if OD_EVENT
            // Into the first rows, which all threads have read: before these sums was a barrier.
            OD_OWN(e, i) {
                if (i == od_event_component(task)) {
                    const real passing[4] = {y[e], w[i], slope[e], f[e]};
#pragma unroll
                    for (int k = 0; k < 4; ++k) memory.numbers[k][g.lane] = passing[k];
                }
            }
#endif
            if (phase == OD_AT_END) {
                od_norm_close_group(norm);
                sums[OD_OF_PHASE] = norm.total;
                sums[OD_NOT_FINITE_SUM] = norm.magnitude < OD_NOT_FINITE ? real(0) : real(1);
            }
#pragma unroll
            for (int k = 0; k < OD_SUMS; ++k) memory.cells[k][g.warp][g.lane] = sums[k];
        }
        OD_GROUP_BARRIER();
        // Each sum is completed by a warp.
        if (waits && g.warp < OD_SUMS) {
            const bool of_norm = OD_NORM != OD_NORM_RMS && g.warp == OD_OF_PHASE && phase == OD_AT_END;
            const bool largest = of_norm || g.warp == OD_LARGEST_D || g.warp == OD_LARGEST_YD;
            real sum = memory.cells[g.warp][0][g.lane];
            for (int s = 1; s < OD_WARPS; ++s) {
                const real next = memory.cells[g.warp][s][g.lane];
                sum = largest ? od_larger(sum, next) : sum + next;
            }
            memory.cells[g.warp][0][g.lane] = sum;
        }
        OD_GROUP_BARRIER();
        orders.begin();
        // Who has no system asks for the next one.
        unsigned next = 0;
        if (decides && waits && loop.phase == OD_IDLE) {
            next = atomicAdd(task.next, 1u);
        } else {
            OD_BESIDE_ATOMIC();
        }
        if (decides) {
            if (waits && loop.phase == OD_IDLE) {
                is_more = next < task.n_systems;
                if (is_more) od_rkc_take(task, loop, next, orders);
            } else if (waits) {
#pragma unroll
                for (int k = 0; k < OD_SUMS; ++k) orders.sums[k] = memory.cells[k][0][g.lane];
                orders.in_power = loop.phase == OD_IN_POWER;
#if OD_EVENT
#pragma unroll
                for (int k = 0; k < 4; ++k) orders.passing[k] = memory.numbers[k][g.lane];
#endif
                od_rkc_turn(task, loop, orders);
                if (loop.phase == OD_IDLE) work.end_system();
            }
            memory.words[OD_TOLD_ORDER][g.lane] = orders.order;
            memory.words[OD_TOLD_MOVE][g.lane] = orders.how;
            memory.words[OD_TOLD_INDEX][g.lane] = orders.index;
            memory.words[OD_TOLD_FIRST_SAVE][g.lane] = orders.saves[0];
            memory.words[OD_TOLD_END_SAVE][g.lane] = orders.saves[1];
            memory.words[OD_TOLD_GOES_ON][g.lane] = loop.phase != OD_IDLE || is_more;
            memory.numbers[OD_TOLD_AT][g.lane] = loop.at;
            memory.numbers[OD_TOLD_SCALE][g.lane] = orders.scale;
            memory.numbers[OD_TOLD_STEP_SIZE][g.lane] = loop.step;
        }
        OD_GROUP_BARRIER();
        const unsigned order = memory.words[OD_TOLD_ORDER][g.lane], index = memory.words[OD_TOLD_INDEX][g.lane];
        const OdMove move = (OdMove)memory.words[OD_TOLD_MOVE][g.lane];
        const bool goes_on = memory.words[OD_TOLD_GOES_ON][g.lane];
        if (waits) {
            at = memory.numbers[OD_TOLD_AT][g.lane];
            const real a = memory.numbers[OD_TOLD_SCALE][g.lane];
            step = memory.numbers[OD_TOLD_STEP_SIZE][g.lane];
            if (order & OD_KEEP_DIRECTION) {
                OD_OWN(e, i) direction[e + aside] = w[i] - y[e];
            }
            if (order & OD_START) {
                OD_OWN(e, i) slope[e] = direction[e + aside] = f[e];
            }
            if (order & OD_ACCEPT) {
                OD_OWN(e, i) y[e] = w[i], slope[e] = f[e];
            }
            if (order & OD_TAKE) {
                system = index;
                p = od_params(task, system);
                OD_OWN(e, i) y[e] = __ldcs(task.states + (size_t)i * task.stride + system);
            }
#if OD_SAVES
            if (order & OD_SAVE) {
                for (unsigned k = memory.words[OD_TOLD_FIRST_SAVE][g.lane]; k < memory.words[OD_TOLD_END_SAVE][g.lane]; ++k) {
                    OD_OWN(e, i) task.saved[((size_t)k * OD_N + i) * task.stride + system] = y[e];
                }
            }
#endif
            if (order & OD_WRITE) {
                OD_OWN(e, i) __stcs(task.end_states + (size_t)i * task.stride + system, y[e]);
            }
            OD_OWN(e, i) {
                const real along = move == OD_ALONG_ALL ? direction[e + aside] : real(0);
                d[e] = od_moved(task, move, a, i, i == (int)index, d[e], y[e], slope[e], along, f[e]);
                w[i] = y[e] + d[e];
                if (order & OD_FIRST_STAGE) before[e] = real(0);
            }
        }
        if (od_count(goes_on) == 0) break;
    }
    if (decides) od_add_work(task, g, work);
}
