// Packs of OD_VEC neighbours along x: 16 bytes, or 8.

struct OdPack {
    real v[OD_VEC];
};

#ifdef __CUDA_ARCH__
#if OD_FLOAT && OD_VEC == 4
typedef float4 OdWords;
#elif OD_FLOAT && OD_VEC == 2
typedef float2 OdWords;
#elif OD_FLOAT
typedef float OdWords;
#elif OD_VEC == 2
typedef double2 OdWords;
#else
typedef double OdWords;
#endif
static_assert(sizeof(OdWords) == sizeof(OdPack), "a pack is one access");

OD_FN OdPack od_load(const real *from) {
    const OdWords words = __ldg(reinterpret_cast<const OdWords *>(from));
    OdPack pack;
    memcpy(&pack, &words, sizeof(pack));
    return pack;
}
// From memory that the kernel writes, each thread its own place.
OD_FN OdPack od_reload(const real *from) {
    const OdWords words = *reinterpret_cast<const OdWords *>(from);
    OdPack pack;
    memcpy(&pack, &words, sizeof(pack));
    return pack;
}
// Has a line brought into the second-level cache.
OD_FN void od_prefetch(const real *from) { asm volatile("prefetch.global.L2 [%0];" ::"l"(from)); }
// To where it is soon read again.
OD_FN void od_put(real *to, const OdPack &pack) {
    OdWords words;
    memcpy(&words, &pack, sizeof(pack));
    *reinterpret_cast<OdWords *>(to) = words;
}
OD_FN void od_store(real *to, const OdPack &pack) {
#if OD_STREAMS
    // The field is read again after all of it has been written: it is not in the cache by then.
    OdWords words;
    memcpy(&words, &pack, sizeof(pack));
    __stcs(reinterpret_cast<OdWords *>(to), words);
#else
    od_put(to, pack);
#endif
}
#else
OD_FN OdPack od_load(const real *from) {
    OdPack pack;
    memcpy(&pack, from, sizeof(pack));
    return pack;
}
OD_FN OdPack od_reload(const real *from) { return od_load(from); }
OD_FN void od_prefetch(const real *) {}
OD_FN void od_put(real *to, const OdPack &pack) { memcpy(to, &pack, sizeof(pack)); }
OD_FN void od_store(real *to, const OdPack &pack) { od_put(to, pack); }
#endif
