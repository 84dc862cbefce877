// Planes that a launch goes through: block n along z takes `planes` of them from first + n stride
// on, and none from `last` on. Of a whole box they begin with plane 0 and end with the last, one
// block's after the other's, which the compiler had better know.
struct OdSpan {
    int first, last, planes, stride;
};

OD_FN int od_span_begin(const OdSpan &span) {
    return OD_SLAB ? span.first + (int)blockIdx.z * span.stride : blockIdx.z * span.planes;
}

OD_FN int od_span_end(const OdSpan &span) {
    const int end = od_span_begin(span) + span.planes, last = OD_SLAB ? span.last : OD_NZ;
    return end < last ? end : last;
}
