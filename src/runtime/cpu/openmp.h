// The functions of OpenMP that Stax calls. Declared here since not every clang comes with omp.h.
#pragma once

extern "C" {
int omp_get_num_threads() noexcept;
int omp_get_thread_num() noexcept;
int omp_get_max_threads() noexcept;
void omp_set_num_threads(int) noexcept;
}
