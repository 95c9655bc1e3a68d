#include "deft/solvers/lcs/rows.hpp"

#include <cmath>

namespace deft::solvers::lcs {
namespace {

void add_terms(const Eigen::MatrixXd& matrix, int row, LcsQuantity of, int first, std::vector<LcsTerm>& terms) {
  for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
    if (matrix(row, j) != 0) terms.push_back({of, first + static_cast<int>(j), matrix(row, j)});
  }
}

}  // namespace

LcsRows::LcsRows(const LcsMpcProgram& program)
    : nx_(program.system.nx()), nu_(program.system.nu()), ng_(program.system.pairs()) {
  const LinearComplementaritySystem& system = program.system;
  for (int i = 0; i < nx_; ++i) {
    const bool bounded = (program.x_min.size() > 0 && std::isfinite(program.x_min(i))) ||
                         (program.x_max.size() > 0 && std::isfinite(program.x_max(i)));
    if (bounded && program.x_price.size() > 0 && std::isfinite(program.x_price(i))) soft_.push_back(i);
  }
  const auto single = [&](LcsQuantity of, int index) {
    terms_.push_back({of, index, 1.0});
    close_row();
  };
  for (int i = 0; i < ng_; ++i) single(LcsQuantity::kVariable, nu_ + i);
  for (int i = 0; i < ng_; ++i) {
    add_terms(system.D0, i, LcsQuantity::kState, 0, terms_);
    add_terms(system.D, i, LcsQuantity::kNext, 0, terms_);
    add_terms(system.H, i, LcsQuantity::kVariable, 0, terms_);
    add_terms(system.E, i, LcsQuantity::kVariable, nu_, terms_);
    close_row(system.alpha(i));
  }
  for (int j = 0; j < nu_; ++j) single(LcsQuantity::kVariable, j);
  for (int i = 0; i < nx_; ++i) single(LcsQuantity::kNext, i);
  for (std::size_t i = 0; i < soft_.size(); ++i) {
    const int e = nu_ + ng_ + static_cast<int>(i);
    for (const double sign : {-1.0, 1.0}) {
      terms_.push_back({LcsQuantity::kNext, soft_[i], 1.0});
      terms_.push_back({LcsQuantity::kVariable, e, sign});
      close_row();
    }
    single(LcsQuantity::kVariable, e);
  }
}

void LcsRows::close_row(double constant) {
  first_.push_back(static_cast<int>(terms_.size()));
  constant_.push_back(constant);
}

}  // namespace deft::solvers::lcs
