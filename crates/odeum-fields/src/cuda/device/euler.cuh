// OD_DEPTH steps of forward Euler at once: every cell is read once from memory and written once
// for all of them.
//
// Stage d takes in plane i − d of the field after d steps, on its own cells and
// OD_DEPTH − d around them, and gives plane i − d − 1 of the field after d + 1: cells around its
// own a thread computes once more instead of waiting for the neighbour that owns them.

// The stages whose results are N and fewer around.
template <int N> struct OdPipe {
    OdFlow<N> flow[OD_S];
    OdPipe<N - 1> next;
};
template <> struct OdPipe<-1> {};

template <int N> OD_FN void od_rest(OdPipe<N> &pipe) {
    OD_EACH(s, OD_S) od_rest(pipe.flow[s]);
    if constexpr (N > 0) od_rest(pipe.next);
}

template <int N, bool INNER> OD_FN void od_run(
    OdPipe<N> &pipe, OdPatch<N + 1> (&u)[OD_S], OdLevel<INNER> z, int begin,
    const OdPlace &place, const OdSteps &steps, real *out) {
    const OdStep &step = steps.at[OD_DEPTH - 1 - N];
    const bool walls = !OD_WRAP_Z && !INNER;
    // Below the box nothing has begun, above it everything has ended.
    if (walls && z.z < 0) return;
    OdPatch<N> result[OD_S];
    if (!walls || z.z <= OD_NZ) {
        if (!walls || z.z < OD_NZ) {
            OD_EACH(s, OD_S) od_mend<N + 1>(u[s], s, place, step);
        }
        od_stage<N>(pipe.flow, u, z, place, step, result);
    }
    if constexpr (N > 0) {
        od_run<N - 1>(pipe.next, result, OdLevel<INNER>{z.z - 1}, begin, place, steps, out);
    } else if (z.z > begin) {
        od_write(result, out, z.z - 1, place);
    }
}

// Planes from `begin` to before `end` of a column of cells.
struct OdColumn {
    OdPlace place;
    int begin, end;
    OdPipe<OD_DEPTH - 1> pipe;
    OdTouch touch;
};

template <bool INNER> OD_FN void od_up(
    OdColumn &column, OdLevel<INNER> level, const real *in, real *out, const OdSteps &steps) {
    const OdPlace &place = column.place;
    OdPatch<OD_DEPTH> u[OD_S];
    const real *plane = od_plane(in, level);
    OD_EACH(s, OD_S) od_read<OD_DEPTH>(u[s], plane + s * OD_VOLUME, place);
    if (OD_TOUCHES) od_touch_plane(column.touch, in, level.z + 1, place);
    if (OD_AHEAD > 0) od_ask_for(in, level.z + OD_TOUCHES + OD_AHEAD, place);
    od_run<OD_DEPTH - 1>(column.pipe, u, level, column.begin, place, steps, out);
}

extern "C" __global__ void __launch_bounds__(OD_BX * OD_BY, OD_BLOCKS_PER_SM) od_euler(
    const real *__restrict__ in, real *__restrict__ out, const OdSteps steps, const OdSpan span) {
    const int x = (blockIdx.x * OD_BX + threadIdx.x) * OD_VEC;
    const int y = (blockIdx.y * OD_BY + threadIdx.y) * OD_ROWS;
    if (x >= OD_NX || y >= OD_NY) return;
    OdColumn column;
    column.place = od_place(x, y);
    column.begin = od_span_begin(span);
    column.end = od_span_end(span);
    od_rest(column.pipe);
    column.touch = od_touch();
#if OD_PLANES > 0
    // So few planes that all of them are asked for at once.
    const int start = column.begin - OD_DEPTH;
    OD_EACH(n, OD_PLANES + 2 * OD_DEPTH) {
        od_up(column, OdLevel<false>{start + n}, in, out, steps);
    }
#else
    od_climb<OD_DEPTH, OD_DEPTH>(column, in, out, steps);
#endif
    // Never so, which the compiler cannot know.
    if (OD_TOUCHES && column.touch.all == 0x7fdeadedu && span.planes < 0) od_store(out, OdPack{});
}
