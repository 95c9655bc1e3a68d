#include <iterator>

#include "rivals/rival.hpp"

namespace deft::benchmarks {

Rivals make_rivals() {
  Rivals all;
  for (const auto make : {
           make_daqp,
           make_osqp,
           make_piqp,
           make_hpipm,
           make_proxqp,
#ifdef DEFT_WITH_CLARABEL
           make_clarabel,
#endif
       }) {
    Rivals made = make();
    std::move(made.begin(), made.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace deft::benchmarks
