// How planes come from memory: as boxes, and after that ghosts, four cells at a time. Beyond boundaries
// along z are planes of their mirror images.

// The cell whose value stands at i: mirrored, or at the other end.
OD_FN int od_image(int i, int n, bool wraps) {
    if (wraps) return od_modulo(i, n);
    const int image = i < 0 ? -1 - i : (i >= n ? 2 * n - 1 - i : i);
    return od_source(image, n, false);
}

// Has the planes of turn n copied, of far species or of near ones, by one thread.
template <bool IS_FAR> OD_FN void od_bring(const OdBlock &block, const OdMap &map, int n) {
    using C = OdPipeline;
    const unsigned barrier = IS_FAR ? od_four(block, C::B_FAR, n) : od_two(block, C::B_NEAR, n);
    od_announce(barrier, (IS_FAR ? OD_FAR : OD_NEAR) * C::ROWS * C::P * 4);
    const int z = od_image(block.first + n, OD_NZ, OD_WRAP_Z);
    OD_EACH(s, OD_S) {
        if (od_feeds(s) != IS_FAR) continue;
        const int to = IS_FAR ? od_far_at(n, od_fars(s)) : od_boundary_cells_at(n, s - od_fars(s));
        od_copy_box(
            od_at(block, to), map, block.x0 - 4, block.y0 - 4, s * OD_NZ + z, barrier);
    }
}

// Threads that put ghosts in their places: so many those of far species, as many those of near
// ones.
#define OD_MENDERS 64
#define OD_REVERSED (1 << 30)
#define OD_AWAY (1 << 29)

// Lists where a thread puts ghosts, and where their values are: elsewhere in the plane in shared
// memory, in reverse beyond a boundary along x, or away in the plane in memory. First those of a column
// of all rows, then those of rows.
OD_FN void od_list_ghosts(const OdBlock &block, unsigned list, int thread) {
    using C = OdPipeline;
    constexpr int FOURS = C::W / 4 + 2;
    static_assert(C::ROWS + 4 * FOURS <= C::GHOSTS * OD_MENDERS, "a thread for each");
    const bool ends_x = block.x0 == 0 || block.x0 + C::W == OD_NX;
    // Rows beyond the high end, if they are not those beyond the low one.
    const int over = block.y0 == 0 ? 4 : block.y0 + C::T + 4 - OD_NY;
    const int beside = ends_x ? C::ROWS : 0;
    OD_EACH(turn, C::GHOSTS) {
        const int k = turn * OD_MENDERS + thread, n = k - beside;
        int row = k, four = block.x0 == 0 ? 0 : FOURS - 1;
        if (n >= 0) {
            row = n / FOURS + (block.y0 == 0 ? 0 : C::ROWS - over);
            four = n % FOURS;
        }
        const bool is = n < 0 || n < over * FOURS;
        const int x = block.x0 - 4 + 4 * four, y = block.y0 - 4 + row;
        const bool beyond_x = x < 0 || x >= OD_NX, beyond_y = y < 0 || y >= OD_NY;
        const bool away = (OD_WRAP_X && beyond_x) || (OD_WRAP_Y && beyond_y);
        const int mirrored = x < 0 ? 0 : (x >= OD_NX ? OD_NX - 4 : x);
        const int of_x = OD_WRAP_X ? od_modulo(x, OD_NX) : mirrored;
        const int of_y = od_image(y, OD_NY, OD_WRAP_Y);
        const int within = (of_y - block.y0 + 4) * C::P + of_x - block.x0 + 4;
        int to = 4 * (row * C::P + 4 * four);
        if (!OD_WRAP_X && beyond_x) to |= OD_REVERSED;
        if (away) to |= OD_AWAY;
        od_put_ints(list + 8 * turn, is ? to : -1, away ? of_y * OD_ROW + of_x : 4 * within);
    }
}

// Puts four ghosts of species s in their places.
OD_FN void od_mend_four(
    const OdBlock &block, int s, int to, int from, unsigned plane, const real *memory,
    const OdStep &step) {
    const bool reversed = to & OD_REVERSED;
    const unsigned at = plane + (to & 0xffffff);
    if ((OD_WRAP_X || OD_WRAP_Y) && (to & OD_AWAY)) {
        if (reversed) {
            OD_EACH(k, 4) od_copy_one(at + 4 * k, memory + from + 3 - k);
        } else {
            od_copy_four(at, memory + from);
        }
        return;
    }
    float2 a = od_get_two(plane + from), b = od_get_two(plane + from + 8);
    if (reversed) {
        const auto ghost = [&](real v) {
            return block.low ? od_ghost(s, 0, v, step) : od_ghost(s, 1, v, step);
        };
        const float2 c = a;
        a = {ghost(b.y), ghost(b.x)};
        b = {ghost(c.y), ghost(c.x)};
    }
    od_put_two(at, a.x, a.y);
    od_put_two(at + 8, b.x, b.y);
}

// The same for all planes that came in turn n, of far or of near species, by one of the threads.
template <bool IS_FAR>
OD_FN void od_mend(
    const OdBlock &block, unsigned list, int n, const real *in, const OdStep &step) {
    using C = OdPipeline;
    if (IS_FAR) {
        od_wait(od_four(block, C::B_FAR, n), n >> 2 & 1);
    } else {
        od_wait_two(block, C::B_NEAR, n);
    }
    const int z = od_image(block.first + n, OD_NZ, OD_WRAP_Z);
    const real *memory = in + (long long)z * OD_PLANE;
    // Loops, so that what computes stays in the instruction cache.
#pragma unroll 1
    for (int turn = 0; turn < C::GHOSTS; ++turn) {
        int to, from;
        od_get_ints(list + 8 * turn, to, from);
        if (to == -1) continue;
        OD_EACH(s, OD_S) {
            if (od_feeds(s) != IS_FAR) continue;
            const int plane = IS_FAR ? od_far_at(n, od_fars(s)) : od_boundary_cells_at(n, s - od_fars(s));
            od_mend_four(block, s, to, from, od_at(block, plane), memory + s * OD_VOLUME, step);
        }
    }
    const unsigned barrier = od_two(block, IS_FAR ? C::B_FAR_GHOSTS : C::B_NEAR_GHOSTS, n);
    if (OD_WRAP_X || OD_WRAP_Y) od_arrive_copied(barrier);
    od_arrive(barrier);
}

// Writes two cells of species s after the first step, of a thread with this column of pairs. Beyond
// a boundary whose ghosts shift, what comes out of the step is no ghost: there the thread of the last
// two cells before the boundary writes one, and of far species both.
OD_FN void od_put_first(
    const OdBlock &block, bool is, int column, unsigned at, int s, const real (&v)[2],
    const OdStep &step) {
    // Columns begin two cells before the tile.
    constexpr int FIRST = 1, LAST = OdPipeline::CW;
    const bool low = od_shifts(0) && block.low, high = od_shifts(1) && block.high;
    od_put_two_if(
        is && !(low && column == FIRST - 1) && !(high && column == LAST + 1), at, v[0], v[1]);
    if (od_shifts(0)) {
        const bool there = is && low && column == FIRST;
        od_put_if(there, at - 4, od_ghost(s, 0, v[0], step));
        if (od_feeds(s)) od_put_if(there, at - 8, od_ghost(s, 0, v[1], step));
    }
    if (od_shifts(1)) {
        const bool there = is && high && column == LAST;
        od_put_if(there, at + 8, od_ghost(s, 1, v[1], step));
        if (od_feeds(s)) od_put_if(there, at + 12, od_ghost(s, 1, v[0], step));
    }
}
