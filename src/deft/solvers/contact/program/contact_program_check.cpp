// Is a contact program well formed? Sizes, ranges and finite numbers, before anything is solved.

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "deft/core/index.hpp"
#include "deft/solvers/contact/program/contact_program.hpp"

namespace deft::solvers::contact {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument("contact program: " + what); }

// Σ x·0 is 0 exactly when every x is finite; independent sums keep the adds pipelined.
bool all_finite(const double* x, std::size_t n) {
  double sum[8] = {};
  std::size_t k = 0;
  for (; k + 8 <= n; k += 8) {
    for (int lane = 0; lane < 8; ++lane) sum[lane] += x[k + lane] * 0.0;
  }
  for (; k < n; ++k) sum[0] += x[k] * 0.0;
  double total = 0.0;
  for (double value : sum) total += value;
  return total == 0.0;
}

// The same for all blocks at once: their values lie one after the other. A block that is at fault is looked for later.
template <class Blocks>
bool all_finite(const Blocks& blocks, int count) {
  if (count == 0) return true;
  const double* first = blocks.block(0).data();
  const auto last = blocks.block(count - 1);
  return all_finite(first, to_size(last.data() + last.size() - first));
}

void check_rows(const RowBlocks& J, int nv, const char* name) {
  const bool finite = all_finite(J, J.size());
  for (int i = 0; i < J.size(); ++i) {
    const auto cols = J.cols(i);
    for (std::size_t k = 0; k < cols.size(); ++k) {
      if (cols[k] < 0 || cols[k] >= nv)
        fail(fmt::format("{}[{}]: column {} is outside 0 … {}", name, i, cols[k], nv - 1));
      if (k > 0 && cols[k] <= cols[k - 1]) fail(fmt::format("{}[{}]: columns must ascend", name, i));
    }
    const auto block = J.block(i);
    if (!finite && !all_finite(block.data(), block.size())) fail(fmt::format("{}[{}]: a value is not finite", name, i));
  }
}

void check_blocks(const BlockDiagonal& Q, int nv, const char* name) {
  int end = 0;
  const bool finite = all_finite(Q, Q.num_blocks());
  for (int k = 0; k < Q.num_blocks(); ++k) {
    if (Q.start(k) < end || Q.size(k) < 1 || Q.start(k) + Q.size(k) > nv) {
      fail(fmt::format("{} block {} on [{}, {}) overlaps its predecessor or leaves 0 … {}", name, k, Q.start(k),
                       Q.start(k) + Q.size(k), nv - 1));
    }
    end = Q.start(k) + Q.size(k);
    const auto block = Q.block(k);
    if (!finite && !all_finite(block.data(), block.size()))
      fail(fmt::format("{} block {}: a value is not finite", name, k));
  }
}

// Nothing to complain about, for most contacts.
bool plain(const ContactLaw& c, int rows) {
  const double finite = (c.gap + c.mu + c.compliance + c.offset[0] + c.offset[1] + c.offset[2]) * 0.0;
  return rows >= 1 && rows <= 3 && finite == 0 && c.mu >= 0 && c.compliance >= 0 && c.ellipsoid[0] == 1 &&
         c.ellipsoid[1] == 1 && c.ellipsoid[2] == 1;
}

void check_contact(const ContactProgram& p, int i) {
  const ContactLaw& c = p.contacts[i];
  const int rows = p.J.rows(i);
  if (plain(c, rows)) return;
  if (rows < 1 || rows > 4) fail(fmt::format("contact {} has {} rows, expected 1 to 4 (n, t1, t2, spin)", i, rows));
  if (!std::isfinite(c.gap)) fail(fmt::format("contact {}: the gap is not finite", i));
  if (!(c.mu >= 0) || !std::isfinite(c.mu))
    fail(fmt::format("contact {}: mu = {} must be finite and not negative", i, c.mu));
  if (!(c.compliance >= 0) || !std::isfinite(c.compliance))
    fail(fmt::format("contact {}: compliance = {} must be finite and not negative", i, c.compliance));
  for (int k = 0; k < 3; ++k) {
    if (!(c.ellipsoid[k] >= 0) || !std::isfinite(c.ellipsoid[k]))
      fail(fmt::format("contact {}: ellipsoid[{}] = {} must be finite and not negative", i, k, c.ellipsoid[k]));
    if (!std::isfinite(c.offset[k])) fail(fmt::format("contact {}: offset[{}] is not finite", i, k));
    if (!is_cone(p, i) && k < rows - 1 && c.ellipsoid[k] != 1)
      fail(fmt::format("contact {}: an ellipsoid needs the cone model", i));
  }
  if (rows == 4 && !is_cone(p, i) && !c.frictionless)
    fail(fmt::format("contact {}: a spin row needs the cone model", i));
}

}  // namespace

void check(const ContactProgram& p) {
  if (p.nv < 0) fail(fmt::format("nv = {} must not be negative", p.nv));
  if (p.b.size() != p.nv) fail(fmt::format("b has size {}, expected nv = {}", p.b.size(), p.nv));
  if (!all_finite(p.b.data(), p.b.size())) fail("b: a value is not finite");
  check_blocks(p.Q, p.nv, "Q");
  check_blocks(p.masses, p.nv, "masses");
  if (static_cast<int>(p.contacts.size()) != p.J.size()) {
    fail(fmt::format("{} contacts but {} row blocks in J", p.contacts.size(), p.J.size()));
  }
  if (!(p.kappa > 0)) fail(fmt::format("kappa = {} must be positive (infinity: exact)", p.kappa));
  if (p.model == FrictionModel::kPyramid && (p.rays < 2 || p.rays % 2 != 0))
    fail(fmt::format("rays = {} must be even and at least 2", p.rays));
  check_rows(p.J, p.nv, "J");
  check_rows(p.linear.rows, p.nv, "linear");
  check_rows(p.equality.rows, p.nv, "equality");
  for (const auto* rows : {&p.linear, &p.equality}) {
    const char* name = rows == &p.linear ? "linear" : "equality";
    if (static_cast<int>(rows->rhs.size()) != rows->rows.size())
      fail(fmt::format("{}: {} right-hand sides for {} rows", name, rows->rhs.size(), rows->rows.size()));
    for (int i = 0; i < rows->rows.size(); ++i) {
      if (rows->rows.rows(i) != 1) fail(fmt::format("{}[{}] must be one row", name, i));
      if (!std::isfinite(rows->rhs[i])) fail(fmt::format("{}[{}]: the right-hand side is not finite", name, i));
    }
  }
  for (const auto* bound : {&p.lower, &p.upper}) {
    const char* name = bound == &p.lower ? "lower" : "upper";
    if (bound->size() != 0 && bound->size() != p.nv)
      fail(fmt::format("{} has size {}, expected 0 or nv = {}", name, bound->size(), p.nv));
    for (int i = 0; i < bound->size(); ++i) {
      if (std::isnan((*bound)[i])) fail(fmt::format("{}[{}] is not a number", name, i));
    }
  }
  for (std::size_t i = 0; i < p.contacts.size(); ++i) check_contact(p, static_cast<int>(i));
}

}  // namespace deft::solvers::contact
