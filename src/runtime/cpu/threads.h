// How many threads CPU kernels and oneDNN use: one OpenMP pool (libgomp) for both.
#pragma once

namespace stax::runtime {

// What set_num_threads set, else STAX_THREADS, else OMP_NUM_THREADS, else the physical cores of the affinity mask.
int num_threads();
// For the whole process from the next kernel on. UserError unless 1 <= threads <= 4096.
void set_num_threads(int threads);
// Physical cores that the affinity mask reaches.
int physical_cores();
// Makes num_threads() the default team size of the calling thread (oneDNN asks OpenMP for it); returns it.
int apply_num_threads();

}  // namespace stax::runtime
