#include "deft/io/problems/delassus_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/io/text/json_matrix.hpp"

namespace deft::io {
namespace {

constexpr int kMaxContacts = 1 << 20;
constexpr double kRounding = 1e-9, kTolerated = 1e-2;  // asymmetry of W, of its largest entry
constexpr double kNegativeDiagonal = 1e-6;  // diagonal entries below −this of the largest entry are no rounding

}  // namespace

solvers::force_space::DelassusProgram read_delassus(const JsonField& root, std::vector<std::string>& notes) {
  solvers::force_space::DelassusProgram program;
  program.dim = root.at("dim").integer(2, 3);
  const JsonField mu = root.at("mu");
  const std::size_t contacts = mu.list_size();
  if (contacts > to_size(kMaxContacts))
    mu.fail(fmt::format("has {} contacts, at most {} are possible", contacts, kMaxContacts));
  program.mu = mu.numbers(contacts, "mu");
  for (std::size_t i = 0; i < contacts; ++i) {
    if (program.mu[i] < 0) mu.element(i).fail(fmt::format("is {}, needs a number ≥ 0", program.mu[i]));
  }
  const std::size_t size = to_size(program.dim) * contacts;
  const auto n = static_cast<Eigen::Index>(size);
  program.q = read_vector(root.at("q"), n, "dim × contacts");

  const JsonField field = root.at("W");
  const SparseMatrix given = read_matrix(field, static_cast<int>(size), static_cast<int>(size));
  if (given.rows != static_cast<int>(size))
    field.fail(fmt::format("has {} rows, needs {} (dim × contacts)", given.rows, size));
  std::vector<Eigen::Triplet<double>> entries;
  double largest = 0;
  for (const MatrixEntry& entry : given.entries) {
    largest = std::max(largest, std::abs(entry.value));
    entries.emplace_back(entry.row, entry.col, 0.5 * entry.value);
    entries.emplace_back(entry.col, entry.row, 0.5 * entry.value);
  }
  program.W.resize(n, n);
  program.W.setFromTriplets(entries.begin(), entries.end());
  double asymmetry = 0;
  for (const MatrixEntry& entry : given.entries)
    asymmetry = std::max(asymmetry, 2 * std::abs(entry.value - program.W.coeff(entry.row, entry.col)));
  if (asymmetry > kTolerated * largest)
    field.fail(
        fmt::format("is not symmetric: entries differ by up to {:.3g} from their mirror images, {:.1e} of the largest",
                    asymmetry, asymmetry / largest));
  if (asymmetry > kRounding * largest)
    notes.push_back(
        fmt::format("field 'W': made symmetric; entries differed by up to {:.3g} from their mirror images", asymmetry));
  for (Eigen::Index k = 0; k < n; ++k) {
    if (program.W.coeff(k, k) < -kNegativeDiagonal * largest)
      field.fail(
          fmt::format("is not positive semidefinite: its diagonal entry {} is {:.3g}", k, program.W.coeff(k, k)));
  }

  const JsonField law = root.at("law");
  const std::string word = law.text();
  if (word != "associated" && word != "coulomb")
    law.fail(fmt::format("unknown law '{}'; valid: associated, coulomb", word));
  program.law =
      word == "coulomb" ? solvers::force_space::SlidingLaw::kCoulomb : solvers::force_space::SlidingLaw::kAssociated;
  return program;
}

}  // namespace deft::io
