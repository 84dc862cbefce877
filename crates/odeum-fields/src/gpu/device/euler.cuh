// A step of forward Euler: every cell is read once from memory and written once. Threads wait for
// nobody: what they need of their neighbours they read themselves.

// Has plane z brought into the second-level cache.
OD_FN void od_ask_for(const real *in, int z, const OdPlace &place) {
    const real *plane = od_plane(in, OdLevel<false>{z});
    OD_EACH(s, OD_S) {
        OD_EACH(j, OD_ROWS) od_prefetch(od_row(plane + s * OD_VOLUME, place, 1 + j));
    }
}

// Planes from `begin` to before `end` of the cells of a thread.
struct OdColumn {
    OdPlace place;
    int begin, end;
    OdFlow<> flow[OD_S];
};

template <bool INNER> OD_FN void od_up(
    OdColumn &column, OdLevel<INNER> level, const real *in, real *out, const OdStep &step) {
    const OdPlace &place = column.place;
    const bool boundaries = !OD_WRAP_Z && !INNER;
    OdPatch<1> u[OD_S];
    const real *plane = od_plane(in, level);
    OD_EACH(s, OD_S) od_read(u[s], plane + s * OD_VOLUME, place);
    if (OD_AHEAD > 0) od_ask_for(in, level.z + OD_AHEAD, place);
    // Below the box nothing has begun.
    if (boundaries && level.z < 0) return;
    OdPatch<0> result[OD_S];
    if (!boundaries || level.z < OD_NZ) {
        OD_EACH(s, OD_S) od_mend(u[s], s, place, step);
    }
    od_stage(column.flow, u, level, place, step, result);
    if (level.z > column.begin) od_write(result, out, level.z - 1, place);
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
    OD_EACH(s, OD_S) od_rest(column.flow[s]);
    const OdStep &step = steps.at[0];
#if OD_PLANES > 0
    // So few planes that all of them are asked for at once.
    const int start = column.begin - 1;
    OD_EACH(n, OD_PLANES + 2) od_up(column, OdLevel<false>{start + n}, in, out, step);
#else
    od_climb<1, 1>(column, in, out, step);
#endif
}
