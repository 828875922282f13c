// SPDX-License-Identifier: BSL-1.0
// A Halide runtime that several libraries share: what it lets them replace, and a use of it all.
#include <HalideRuntime.h>

#include <cstdlib>
#include <utility>

namespace {

int reached = 0;  // how many of the handlers below were called

void error(void *, const char *) { ++reached; }
void *allocate(void *, std::size_t bytes) {
  ++reached;
  return std::malloc(bytes);
}
void release(void *, void *memory) {
  ++reached;
  std::free(memory);
}
int par_for(void *, halide_task_t, int, int, std::uint8_t *) {
  ++reached;
  return 0;
}

halide_error_handler_t the_error = error;
halide_malloc_t the_malloc = allocate;
halide_free_t the_free = release;
halide_do_par_for_t the_par_for = par_for;

}  // namespace

halide_error_handler_t halide_set_error_handler(halide_error_handler_t f) {
  return std::exchange(the_error, f);
}
halide_malloc_t halide_set_custom_malloc(halide_malloc_t f) { return std::exchange(the_malloc, f); }
halide_free_t halide_set_custom_free(halide_free_t f) { return std::exchange(the_free, f); }
halide_do_par_for_t halide_set_custom_do_par_for(halide_do_par_for_t f) {
  return std::exchange(the_par_for, f);
}

// As Halide code of the program uses it. Returns how many of the four handlers above were reached.
extern "C" int fake_halide_use() {
  reached = 0;
  the_error(nullptr, "");
  the_free(nullptr, the_malloc(nullptr, 8));
  (void)the_par_for(nullptr, nullptr, 0, 0, nullptr);
  return reached;
}

// True if all four handlers are the runtime's own.
extern "C" bool fake_halide_is_untouched() {
  return the_error == error && the_malloc == allocate && the_free == release &&
         the_par_for == par_for;
}
