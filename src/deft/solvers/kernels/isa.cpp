#include "deft/solvers/kernels/isa.hpp"

#include <array>
#include <cstdlib>
#include <string>

#include "deft/core/diagnostics.hpp"

namespace deft::solvers::kernels {

extern const DenseKernels kDenseKernelsBaseline;
extern const DenseKernels kDenseKernelsAvx2;
extern const DenseKernels kDenseKernelsAvx512;
extern const EllipsoidKernels kEllipsoidKernelsBaseline;
extern const EllipsoidKernels kEllipsoidKernelsAvx2;
extern const EllipsoidKernels kEllipsoidKernelsAvx512;

namespace {

struct Isa {
  std::string_view name;
  const DenseKernels* kernels;
  const EllipsoidKernels* ellipsoids;
  bool available;
};

const Isa& choose() {
  static const std::array<Isa, 3> choices{{
      {"avx512", &kDenseKernelsAvx512, &kEllipsoidKernelsAvx512,
       __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")},
      {"avx2", &kDenseKernelsAvx2, &kEllipsoidKernelsAvx2,
       __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")},
      {"baseline", &kDenseKernelsBaseline, &kEllipsoidKernelsBaseline, true},
  }};
  const char* stated = std::getenv("DEFT_ISA");
  const std::string_view requested = stated != nullptr ? stated : "";
  if (requested.empty()) {
    for (const Isa& isa : choices) {
      if (isa.available) return isa;
    }
  }
  std::string valid;
  for (const Isa& isa : choices) {
    if (!isa.available) continue;
    if (requested == isa.name) return isa;
    valid += (valid.empty() ? "" : ", ") + std::string(isa.name);
  }
  throw InputError({}, "the environment variable DEFT_ISA is '" + std::string(requested) +
                           "', which is none of this processor's instruction sets: " + valid);
}

const Isa& active() {
  static const Isa& isa = choose();
  return isa;
}

}  // namespace

std::string_view active_isa() { return active().name; }
const DenseKernels& dense_kernels() { return *active().kernels; }
const EllipsoidKernels& ellipsoid_kernels() { return *active().ellipsoids; }

}  // namespace deft::solvers::kernels
