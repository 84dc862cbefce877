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

template <int N> OD_FN void od_run(
    OdPipe<N> &pipe, OdPatch<N + 1> (&u)[OD_S], int z, int begin, const OdPlace &place,
    const OdSteps &steps, real *out) {
    const OdStep &step = steps.at[OD_DEPTH - 1 - N];
    // Below the box nothing has begun, above it everything has ended.
    if (!OD_WRAP_Z && z < 0) return;
    OdPatch<N> result[OD_S];
    if (OD_WRAP_Z || z <= OD_NZ) {
        if (OD_WRAP_Z || z < OD_NZ) {
            OD_EACH(s, OD_S) od_mend<N + 1>(u[s], s, place, step);
        }
        od_stage<N>(pipe.flow, u, z, place, step, result);
    }
    if constexpr (N > 0) {
        od_run<N - 1>(pipe.next, result, z - 1, begin, place, steps, out);
    } else if (z > begin) {
        od_write(result, out, z - 1, place);
    }
}

extern "C" __global__ void __launch_bounds__(OD_BX * OD_BY, OD_BLOCKS_PER_SM) od_euler(
    const real *__restrict__ in, real *__restrict__ out, const OdSteps steps, const OdSpan span) {
    const int x = (blockIdx.x * OD_BX + threadIdx.x) * OD_VEC;
    const int y = (blockIdx.y * OD_BY + threadIdx.y) * OD_ROWS;
    if (x >= OD_NX || y >= OD_NY) return;
    const int begin = od_span_begin(span), end = od_span_end(span);
    const OdPlace place = od_place(x, y);
    OdPipe<OD_DEPTH - 1> pipe;
    od_rest(pipe);
    OdTouch touch = od_touch();
    const int start = begin < OD_DEPTH && !OD_WRAP_Z ? 0 : begin - OD_DEPTH;
    for (int i = start; i < end + OD_DEPTH; ++i) {
        OdPatch<OD_DEPTH> u[OD_S];
        const real *plane = od_plane(in, i);
        OD_EACH(s, OD_S) od_read<OD_DEPTH>(u[s], plane + s * OD_VOLUME, place);
        if (OD_TOUCHES) {
            od_touch_plane(touch, in, i + 1, place);
            od_ask_for(in, i + 1 + OD_AHEAD, place);
        }
        od_run<OD_DEPTH - 1>(pipe, u, i, begin, place, steps, out);
    }
    // Never so, which the compiler cannot know.
    if (OD_TOUCHES && touch.all == 0x7fdeadedu && span.planes < 0) od_store(out, OdPack{});
}
