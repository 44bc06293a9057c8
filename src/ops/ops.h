// The catalogue: one file per family fills in OpDefs. Nothing else defines an operator.
#pragma once

namespace stax::ops {

// Registers every operator once; later calls do nothing. Thread-safe.
void register_all();

void register_arithmetic();
void register_functions();
void register_comparisons();
void register_activations();
void register_casts();
void register_views();
void register_reshape();
void register_creation();
void register_joining();
void register_reductions();
void register_statistics();
void register_normalization();
void register_scans();
void register_matmul();
void register_indexing();
void register_writes();

}  // namespace stax::ops
