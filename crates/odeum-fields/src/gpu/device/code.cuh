// What a cell that solid ones are near exchanges with those around it, in 32 bits: of each face three
// bits for its weight, of each edge one, and the highest bit for a cell of the domain at all. Faces
// go x low, x high, y low, …
//
// The weight of an open face is 2 beside edges of weight 1, else 1, and one more for each edge whose
// other side a cell beyond this face mirrors: at most 6. That of a closed face is 0.
#define OD_IN_DOMAIN (1u << 31)
#define OD_FIRST_EDGE 18

OD_FN unsigned od_face_weight(unsigned code, int f) { return code >> 3 * f & 7u; }
OD_FN bool od_edge_open(unsigned code, int n) { return code >> (OD_FIRST_EDGE + n) & 1u; }

// The two faces at which edge n of 12 lies, first that across the earlier axis.
OD_FN int od_edge_first(int n) { return n < 8 ? n / 4 : 2 + (n - 8) / 2; }
OD_FN int od_edge_second(int n) { return n < 8 ? 2 + n % 4 : 4 + n % 2; }

// How far the cell beyond face f lies along an axis.
OD_FN int od_by(int f, int axis) { return f / 2 != axis ? 0 : (f % 2 == 0 ? -1 : 1); }

// The cell of a thread: a warp takes a word of the mask. What it holds of a row longer than the box
// lies beyond it.
struct OdCell {
    int x, y, z;
};

OD_FN OdCell od_word_cell(int word) {
    const int row = word / OD_MASK_WORDS;
    return OdCell{
        (word % OD_MASK_WORDS) * 32 + (int)threadIdx.x, row % OD_NY, row / OD_NY};
}
