// Exports kernels that the host shim made plain C++: they are run by a list of addresses of their
// arguments, as by a driver. Stands after their text.
template <class A>
static A &od_host_next(void **&arguments) {
    return *(A *)*arguments++;
}
template <class... A>
struct OdHostCall {
    OdHostCall(void (*kernel)(A...), A... a) { kernel(a...); }
};
template <class... A>
static void od_host_call(void (*kernel)(A...), void **arguments) {
    // Braces, as what stands in them is evaluated in order.
    OdHostCall<A...>{kernel, od_host_next<A>(arguments)...};
}

// Bytes of the arguments of a kernel, and how many these are.
template <class... A>
static unsigned long od_host_sizes(void (*)(A...), unsigned long *to) {
    const unsigned long sizes[] = {sizeof(A)...};
    for (size_t n = 0; n < sizeof...(A); ++n) to[n] = sizes[n];
    return sizeof...(A);
}

#define OD_HOST_KERNEL(name) \
    extern "C" unsigned long od_host_sizes_##name(unsigned long *to) { \
        return od_host_sizes(name, to); \
    } \
    static void od_host_body_##name(void **arguments) { od_host_call(name, arguments); } \
    extern "C" bool od_host_run_##name( \
        void **arguments, const unsigned long *blocks, const unsigned long *block, \
        const unsigned long *range) { \
        return od_host_launch(od_host_body_##name, arguments, blocks, block, range); \
    }
