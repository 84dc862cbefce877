// Planes brought nearer before they are needed.
//
// OD_AHEAD planes ahead memory is asked to bring lines into the second-level cache. Of kernels that
// compute much between two planes touches do more: loads whose values nobody wants bring the next
// plane from there into the first-level cache, without registers for it. A warp is one row of
// threads.

#define OD_TOUCHES (OD_AHEAD > 0 && OD_DEPTH > 1 && OD_BX % 32 == 0)

struct OdTouch {
    // Ends of the rows beside the cells of the warp: one of each lane, from its own first cell.
    int side;
    bool has_side;
    unsigned words[OD_S * (OD_ROWS + 3)];
    unsigned all;
};

OD_FN OdTouch od_touch() {
    OdTouch touch = {};
    const int lane = threadIdx.x % 32, row = lane / 2 - OD_REACH;
    const int column = lane % 2 == 0 ? -1 : 32 * OD_VEC;
    touch.side = row * OD_ROW + column - lane * OD_VEC;
    touch.has_side = row < OD_ROWS + OD_REACH;
    return touch;
}

OD_FN unsigned od_word(const real *from) {
    return __ldg(reinterpret_cast<const unsigned *>(from));
}

// Touches plane z, after those that were touched before have come.
OD_FN void od_touch_plane(OdTouch &touch, const real *in, int z, const OdPlace &place) {
    OD_EACH(n, OD_S * (OD_ROWS + 3)) touch.all ^= touch.words[n];
    OD_EACH(s, OD_S) {
        const real *plane = od_plane(in, OdLevel<false>{z}) + s * OD_VOLUME;
        unsigned *words = touch.words + s * (OD_ROWS + 3);
        OD_EACH(j, OD_ROWS) words[j] = od_word(od_row<0>(plane, place, j));
        if (touch.has_side) words[OD_ROWS] = od_word(plane + place.at + touch.side);
        if (threadIdx.y == 0 || threadIdx.y == OD_BY - 1) {
            const int first = threadIdx.y == 0 ? 0 : OD_ROWS + OD_REACH;
            words[OD_ROWS + 1] = od_word(od_row<OD_REACH>(plane, place, first));
            words[OD_ROWS + 2] = od_word(od_row<OD_REACH>(plane, place, first + OD_REACH - 1));
        }
    }
}

// Has plane z brought into the second-level cache.
OD_FN void od_ask_for(const real *in, int z, const OdPlace &place) {
    const real *plane = od_plane(in, OdLevel<false>{z});
    OD_EACH(s, OD_S) {
        OD_EACH(j, OD_ROWS) od_prefetch(od_row<0>(plane + s * OD_VOLUME, place, j));
    }
}
