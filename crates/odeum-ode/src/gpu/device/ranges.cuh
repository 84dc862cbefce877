// Watches whether states stay where the model holds: the rules of cpu/ranges.rs, component by component.
//
// Generated before this file: the bounds od_data_lower(i), od_data_upper(i), od_physical_lower(i) and
// od_physical_upper(i) of the components before OD_DATA_END and OD_PHYSICAL_END.

// Whether component i lies outside the data of the model.
OD_FN bool od_outside(int i, real y) {
    return i < OD_DATA_END && (y < od_data_lower(i) || y > od_data_upper(i));
}

// Whether component i lies where there is no state, by far more than its tolerance.
OD_FN bool od_impossible(const OdTask &task, int i, real y) {
    if (i >= OD_PHYSICAL_END) return false;
    const real margin = OD_RANGE_MARGIN * od_atol(task, i);
    return y < od_physical_lower(i) - margin || y > od_physical_upper(i) + margin;
}

// Whether a system that ends so has come to its end, where the state must be possible.
OD_FN bool od_reaches_end(int status) {
    return status == OD_SUCCESS || status == OD_TERMINAL_EVENT;
}
