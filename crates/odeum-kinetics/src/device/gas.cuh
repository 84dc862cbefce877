// The gas of a reactor at one state, and how threads reach tables and shared memory.
//
// y = (T [K], Y_1 ... Y_N, m [kmol/kg]); the parameter is the pressure [Pa], or the density [kg/m^3] at
// constant volume. Arrays of species have two more: number OD_GAS_SPECIES is none, whose C and e are one, and
// number OD_GAS_NEVER never is there: its C is zero.
#define OD_GAS_NEVER (OD_GAS_SPECIES + 1u)

// From a number in an array to the next, as tables of reactions count places.
#ifdef OD_INTERLEAVED
#define OD_GAS_PLACE (OD_INTERLEAVED * (unsigned)sizeof(real))
#else
#define OD_GAS_PLACE 1u
#endif

// Whether words of tables are read long before they are wanted. Kernels of explicit methods, which call f out of line, have no
// registers for that: RKC with ethanol took 1.3 times the time.
#define OD_GAS_READS_AHEAD OD_GAS_LINEARISES

// A value of a section of the tables.
template <typename T> OD_FN T od_gas_table(const OdGroup &g, unsigned section, unsigned i) {
    const T *const at = reinterpret_cast<const T *>(g.tables + section) + i;
#ifdef OD_SHARED_TABLES
    return *at;
#else
    return __ldg(at);
#endif
}
OD_FN real od_gas_number(const OdGroup &g, unsigned section, unsigned i) {
    return (real)od_gas_table<double>(g, section, i);
}
OD_FN unsigned od_gas_short(const OdGroup &g, unsigned section, unsigned i) {
    return od_gas_table<unsigned short>(g, section, i);
}
// Two numbers that are read together.
struct OdGasPair {
    real first, second;
};
OD_FN OdGasPair od_gas_pair(const OdGroup &g, unsigned section, unsigned i) {
    const double2 pair = od_gas_table<double2>(g, section, i);
    return OdGasPair{(real)pair.x, (real)pair.y};
}
// The two halves of a word.
OD_FN unsigned od_gas_low(unsigned word) { return word & 0xffffu; }
OD_FN unsigned od_gas_high(unsigned word) { return word >> 16; }

// Of a reaction, or of a sum over some: q, and what dq/dT and dq/dm follow from. As tables count it, a
// record takes OD_GAS_WORDS entries of the matrix for q, and one for each of a and b.
struct alignas(OD_GAS_WORDS == 2u ? 16 : sizeof(real)) OdGasRecord {
    real q;
    alignas(OD_GAS_WORDS * sizeof(od_entry)) od_entry a;
    od_entry b;
};

// A record of shared memory: one access where it has 16 bytes.
#if OD_GAS_WORDS == 2
static_assert(sizeof(OdGasRecord) == 16, "a record is one access");
OD_FN OdGasRecord od_gas_load(const OdGasRecord &from) {
    const uint4 words = reinterpret_cast<const uint4 &>(from);
    OdGasRecord record;
    memcpy(&record, &words, sizeof(record));
    return record;
}
OD_FN void od_gas_store(OdGasRecord &to, const OdGasRecord &record) {
    uint4 words;
    memcpy(&words, &record, sizeof(record));
    reinterpret_cast<uint4 &>(to) = words;
}
#else
OD_FN OdGasRecord od_gas_load(const OdGasRecord &from) { return from; }
OD_FN void od_gas_store(OdGasRecord &to, const OdGasRecord &record) { to = record; }
#endif

// Which of the species and of the sets a thread takes, and of the species how many side by side.
#ifdef OD_INTERLEAVED
#define OD_GAS_TOGETHER 2u
#define OD_GAS_FIRST(g) (g).warp
#define OD_GAS_SHARES OD_WARPS
#else
#define OD_GAS_TOGETHER 1u
#define OD_GAS_FIRST(g) (g).slot
#define OD_GAS_SHARES OD_WIDTH
#endif

// An array in the memory of a group. Numbers may lie apart there, and are reached by [].
template <typename T> struct OdGasArray {
    typedef T *Type;
    static OD_FN_MEMBER T *of(real *memory, unsigned part) {
        return reinterpret_cast<T *>(reinterpret_cast<unsigned char *>(memory) + part);
    }
};
template <> struct OdGasArray<real> {
    typedef decltype(OdGroup::memory) Type;
    static OD_FN_MEMBER Type of(const Type &memory, unsigned part) {
        return memory + part / (unsigned)sizeof(real);
    }
};

struct OdGas {
    const OdGroup &g;
    real t, recip_t, log2_t;
    real recip_m;
    real density, recip_density;    // rho [kg/m^3]
    real total;                     // M [kmol/m^3]
    real log2_p;                    // of the pressure [Pa]; where a rate depends on it

    // Parts of the shared memory, which begin at so many bytes: of numbers, records, or entries of the matrix.
    template <typename T> OD_FN_MEMBER typename OdGasArray<T>::Type array_of(unsigned part) const {
        return OdGasArray<T>::of(g.memory, part);
    }
    OD_FN_MEMBER OdGasArray<real>::Type array(unsigned part) const { return array_of<real>(part); }
    // The number at a place of a part, as tables of reactions have it: of interleaved systems in bytes.
#ifdef OD_INTERLEAVED
    OD_FN_MEMBER real at(unsigned part, unsigned place) const { return array(part).at(place); }
#else
    OD_FN_MEMBER real at(unsigned part, unsigned place) const { return array(part)[place]; }
#endif
    OD_FN_MEMBER real cp(unsigned k) const { return array_of<od_entry>(OD_GAS_CP)[k]; }
    // h/RT, or u/RT at constant volume: where heat is counted.
    OD_FN_MEMBER real energy(unsigned k) const {
        return OD_GAS_AT_VOLUME ? array(OD_GAS_U)[k] : array(OD_GAS_U)[k] + (real)1;
    }
};

// cp/R less this is what stands in the heat capacity.
#define OD_GAS_EXPANSION ((real)OD_GAS_AT_VOLUME)

template <class OdY> OD_FN OdGas od_gas(const OdGroup &g, OdY y, const OdParams &p) {
    const real t = y[0], m = y[OD_GAS_SPECIES + 1u];
    const real recip_t = od_recip(t), recip_m = od_recip(m);
#if OD_GAS_AT_VOLUME
    const real density = p[0], total = density * m;
    const real pressure = total * OD_GAS_CONSTANT * t;
#else
    const real pressure = p[0], total = pressure * OD_GAS_RECIP_CONSTANT * recip_t;
    const real density = total * recip_m;
#endif
    const real log2_p = OD_GAS_TABULATED ? od_gas_log2(pressure) : pressure;
    return OdGas{g,       t,     recip_t, od_gas_log2(t), recip_m, density, od_recip(density),
                 total,   log2_p};
}

// Rounds of reactions whose results are in the buffer at once.
struct OdGasChunk {
    unsigned first, end;
    // Records of the buffer.
    OD_FN_MEMBER unsigned records() const { return (end - first) * OD_WIDTH + 2u; }
    // Number of the record that is zero.
    OD_FN_MEMBER unsigned zero() const { return (end - first) * OD_WIDTH; }
};

// Rounds of a class, and where they begin among those of its law and of its shape.
struct OdGasRounds {
    unsigned first, end, in_law, in_shape;
};

// k, and where derivatives are asked for d ln k/dT, dk/dX and d ln k/d ln p.
struct OdGasRate {
    real k, dlnk, dk_dx, dlnk_dlnp;
};

// X of the colliders of a reaction; chemically activated.
struct OdColliders {
    unsigned set, activated;
};
