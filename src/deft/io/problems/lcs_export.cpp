#include "deft/io/problems/lcs_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/core/infinity.hpp"
#include "deft/io/text/json_text.hpp"

namespace deft::io {
namespace {

using Eigen::Index;
using solvers::lcs::LcsMpcProgram;

/// A variable.
struct Column {
  std::string name;
  double lower = 0, upper = kInfinity, cost = 0;
  bool binary = false;
};

/// A linear constraint.
struct Row {
  std::string name;
  char sense = 'E';  // E, L, G
  std::vector<std::pair<int, double>> terms;
  double rhs = 0;
};

/// `binary` = value → `column` ≤ 0.
struct Indicator {
  int binary, value, column;
  int step, pair;
};

/// A factor of the product of two columns in the cost, first ≤ second.
struct Product {
  int first, second;
  double factor;
};

/// A mixed-integer quadratic program.
struct Model {
  std::string name;
  std::vector<Column> columns;
  std::vector<Row> rows;
  std::vector<Product> products;
  std::vector<Indicator> indicators;
  double largest_m = 0;
};

/// The program of a control problem, stage by stage.
class ModelBuilder {
 public:
  ModelBuilder(const LcsMpcProgram& program, const LcsPairBounds& bounds)
      : p_(program), s_(program.system), bounds_(bounds) {}

  Model build(const std::string& name) {
    model_.name = name;
    for (int k = 0; k < p_.N; ++k) add_columns(k);
    for (int k = 0; k < p_.N; ++k) {
      add_dynamics(k);
      add_slacks(k);
      add_pairs(k);
      add_soft_bounds(k);
    }
    add_costs();
    return std::move(model_);
  }

 private:
  // Columns of one step stand together: x_{k+1}, u_k, γ_{k+1}, s_{k+1}.
  int stride() const { return s_.nx() + s_.nu() + 2 * s_.pairs(); }
  int x(int k, int i) const { return (k - 1) * stride() + i; }  // k ≥ 1
  int u(int k, int i) const { return k * stride() + s_.nx() + i; }
  int gamma(int k, int i) const { return u(k, 0) + s_.nu() + i; }
  int slack(int k, int i) const { return gamma(k, 0) + s_.pairs() + i; }

  bool soft(int i) const { return p_.x_price.size() > 0 && std::isfinite(p_.x_price[i]); }

  void add_columns(int k) {
    const auto bound = [](const auto& bounds, Index i, Index col, double none) {
      return bounds.size() > 0 ? bounds(i, col) : none;
    };
    for (int i = 0; i < s_.nx(); ++i) {
      model_.columns.push_back({.name = fmt::format("x_{}_{}", k + 1, i),
                                .lower = soft(i) ? -kInfinity : bound(p_.x_min, i, 0, -kInfinity),
                                .upper = soft(i) ? kInfinity : bound(p_.x_max, i, 0, kInfinity)});
    }
    for (int i = 0; i < s_.nu(); ++i)
      model_.columns.push_back({.name = fmt::format("u_{}_{}", k, i),
                                .lower = bound(p_.u_min, i, k, -kInfinity),
                                .upper = bound(p_.u_max, i, k, kInfinity)});
    for (int i = 0; i < s_.pairs(); ++i)
      model_.columns.push_back(
          {.name = fmt::format("gamma_{}_{}", k + 1, i), .upper = bound(p_.gamma_max, i, 0, kInfinity)});
    for (int i = 0; i < s_.pairs(); ++i) model_.columns.push_back({.name = fmt::format("s_{}_{}", k + 1, i)});
  }

  /// −factors · x_k; x_0 goes to the other side.
  void subtract_state(Row& row, int k, const Eigen::RowVectorXd& factors) const {
    if (k == 0)
      row.rhs += factors.dot(p_.x0);
    else
      subtract(row, x(k, 0), factors);
  }
  static void subtract(Row& row, int start, const Eigen::RowVectorXd& factors) {
    for (Index j = 0; j < factors.size(); ++j) {
      if (factors[j] != 0) row.terms.emplace_back(start + static_cast<int>(j), -factors[j]);
    }
  }

  /// x_{k+1} = A x_k + B u_k + C γ_{k+1} + F.
  void add_dynamics(int k) {
    for (int i = 0; i < s_.nx(); ++i) {
      Row row{.name = fmt::format("dynamics_{}_{}", k + 1, i), .terms = {{x(k + 1, i), 1}}, .rhs = s_.F[i]};
      subtract_state(row, k, s_.A.row(i));
      subtract(row, u(k, 0), s_.B.row(i));
      subtract(row, gamma(k, 0), s_.C.row(i));
      model_.rows.push_back(std::move(row));
    }
  }

  /// s_{k+1} = D0 x_k + D x_{k+1} + H u_k + E γ_{k+1} + α.
  void add_slacks(int k) {
    for (int i = 0; i < s_.pairs(); ++i) {
      Row row{.name = fmt::format("slack_{}_{}", k + 1, i), .terms = {{slack(k, i), 1}}, .rhs = s_.alpha[i]};
      subtract_state(row, k, s_.D0.row(i));
      subtract(row, x(k + 1, 0), s_.D.row(i));
      subtract(row, u(k, 0), s_.H.row(i));
      subtract(row, gamma(k, 0), s_.E.row(i));
      model_.rows.push_back(std::move(row));
    }
  }

  /// γ_{k+1} ≤ Γ b and s_{k+1} ≤ S (1 − b), by rows or indicators; pairs that the bounds decide are fixed.
  void add_pairs(int k) {
    for (int i = 0; i < s_.pairs(); ++i) {
      const double gamma_max = bounds_.gamma(i, k), slack_max = bounds_.slack(i, k);
      if (gamma_max <= 0) {
        at(gamma(k, i)).upper = 0;
        continue;
      }
      if (slack_max <= 0) {
        at(slack(k, i)).upper = 0;
        continue;
      }
      const int b = static_cast<int>(model_.columns.size());
      model_.columns.push_back({.name = fmt::format("b_{}_{}", k + 1, i), .upper = 1, .binary = true});
      const auto side = [&](int column, double m, double factor, int value, const char* name) {
        if (!std::isfinite(m)) {
          model_.indicators.push_back({b, value, column, k + 1, i});
          return;
        }
        model_.largest_m = std::max(model_.largest_m, m);
        model_.rows.push_back({.name = fmt::format("{}_{}_{}", name, k + 1, i),
                               .sense = 'L',
                               .terms = {{column, 1}, {b, factor * m}},
                               .rhs = value * m});
      };
      side(gamma(k, i), gamma_max, -1, 0, "if_zero");
      side(slack(k, i), slack_max, 1, 1, "if_one");
    }
  }

  /// A violation of each soft bound, of both sides one.
  void add_soft_bounds(int k) {
    for (int i = 0; i < s_.nx(); ++i) {
      if (!soft(i)) continue;
      const double low = p_.x_min.size() > 0 ? p_.x_min[i] : -kInfinity,
                   high = p_.x_max.size() > 0 ? p_.x_max[i] : kInfinity;
      if (low == -kInfinity && high == kInfinity) continue;
      const int e = static_cast<int>(model_.columns.size());
      model_.columns.push_back({.name = fmt::format("soft_{}_{}", k + 1, i), .cost = p_.x_price[i]});
      if (std::isfinite(high))
        model_.rows.push_back({.name = fmt::format("high_{}_{}", k + 1, i),
                               .sense = 'L',
                               .terms = {{x(k + 1, i), 1}, {e, -1}},
                               .rhs = high});
      if (std::isfinite(low))
        model_.rows.push_back({.name = fmt::format("low_{}_{}", k + 1, i),
                               .sense = 'G',
                               .terms = {{x(k + 1, i), 1}, {e, 1}},
                               .rhs = low});
    }
  }

  /// (x − g)ᵀ W (x − g) for columns from `start`.
  void add_cost(int start, const Eigen::MatrixXd& W, const Eigen::VectorXd& g) {
    const Eigen::VectorXd linear = -2 * W * g;
    for (Index i = 0; i < W.rows(); ++i) {
      at(start + static_cast<int>(i)).cost += linear[i];
      for (Index j = i; j < W.cols(); ++j) {
        const double factor = i == j ? W(i, i) : W(i, j) + W(j, i);
        if (factor != 0) model_.products.push_back({start + static_cast<int>(i), start + static_cast<int>(j), factor});
      }
    }
    constant_ += g.dot(W * g);
  }

  void add_costs() {
    const Eigen::VectorXd e = p_.x0 - p_.x_goal.col(0);
    constant_ = e.dot(p_.Q * e);
    for (int k = 0; k < p_.N; ++k) {
      add_cost(x(k + 1, 0), k + 1 < p_.N ? p_.Q : p_.Qf, p_.x_goal.col(k + 1));
      add_cost(u(k, 0), p_.R, Eigen::VectorXd::Zero(s_.nu()));
    }
    model_.columns.push_back({.name = "constant", .lower = 1, .upper = 1, .cost = constant_});
  }

  Column& at(int column) { return model_.columns[column]; }

  const LcsMpcProgram& p_;
  const solvers::lcs::LinearComplementaritySystem& s_;
  const LcsPairBounds& bounds_;
  Model model_;
  double constant_ = 0;
};

constexpr std::size_t kTermsPerLine = 6;  // lines of LP files may not be long

void write_terms(std::string& text, const Model& model, const std::vector<std::pair<int, double>>& terms) {
  for (std::size_t j = 0; j < terms.size(); ++j) {
    if (j > 0 && j % kTermsPerLine == 0) text += "\n   ";
    fmt::format_to(std::back_inserter(text), " {} {} {}", terms[j].second < 0 ? '-' : '+', std::abs(terms[j].second),
                   model.columns[terms[j].first].name);
  }
}

std::string limit(double value) { return std::isinf(value) ? (value > 0 ? "+inf" : "-inf") : fmt::format("{}", value); }

std::string lp_text(const Model& model) {
  std::string text = fmt::format("\\ {}\nMinimize\n obj:", model.name);
  std::vector<std::pair<int, double>> costs;
  for (std::size_t j = 0; j < model.columns.size(); ++j) {
    if (model.columns[j].cost != 0 || j + 1 == model.columns.size())
      costs.emplace_back(static_cast<int>(j), model.columns[j].cost);
  }
  write_terms(text, model, costs);
  if (!model.products.empty()) {
    text += "\n    + [";
    std::size_t count = 0;  // some readers take no sign after the bracket
    for (const Product& product : model.products) {
      if (count++ % kTermsPerLine == 0 && count > 1) text += "\n   ";
      const std::string &a = model.columns[product.first].name, &b = model.columns[product.second].name;
      fmt::format_to(std::back_inserter(text), "{} {} {}{}",
                     product.factor < 0 ? " -"
                     : count > 1        ? " +"
                                        : "",
                     2 * std::abs(product.factor), a, product.first == product.second ? std::string(" ^2") : " * " + b);
    }
    text += " ] / 2";
  }
  text += "\nSubject To\n";
  for (const Row& row : model.rows) {
    text += fmt::format(" {}:", row.name);
    write_terms(text, model, row.terms);
    text += fmt::format(" {} {}\n", row.sense == 'E' ? "=" : row.sense == 'L' ? "<=" : ">=", row.rhs + 0.0);
  }
  for (const Indicator& one : model.indicators) {
    const std::string& column = model.columns[one.column].name;
    text += fmt::format(" when_{}_{}_{}: {} = {} -> {} <= 0\n", one.value == 0 ? "zero" : "one", one.step, one.pair,
                        model.columns[one.binary].name, one.value, column);
  }
  text += "Bounds\n";
  for (const Column& column : model.columns) {
    if (column.binary) continue;
    if (std::isinf(column.lower) && std::isinf(column.upper))
      text += fmt::format(" {} free\n", column.name);
    else
      text += fmt::format(" {} <= {} <= {}\n", limit(column.lower), column.name, limit(column.upper));
  }
  text += "Binaries\n";
  for (const Column& column : model.columns) {
    if (column.binary) text += fmt::format(" {}\n", column.name);
  }
  return text + "End\n";
}

std::string mps_text(const Model& model) {
  std::string text = "NAME deft\nROWS\n N obj\n";
  std::vector<std::vector<std::pair<std::size_t, double>>> entries(model.columns.size());
  for (std::size_t i = 0; i < model.rows.size(); ++i) {
    text += fmt::format(" {} {}\n", model.rows[i].sense, model.rows[i].name);
    for (const auto& [column, factor] : model.rows[i].terms) entries[column].emplace_back(i, factor);
  }
  text += "COLUMNS\n";
  bool integer = false;
  const auto mark = [&](bool wanted) {
    if (integer != wanted) text += fmt::format(" MARKER 'MARKER' '{}'\n", wanted ? "INTORG" : "INTEND");
    integer = wanted;
  };
  for (std::size_t j = 0; j < model.columns.size(); ++j) {
    const Column& column = model.columns[j];
    mark(column.binary);
    if (column.cost != 0 || entries[j].empty()) text += fmt::format(" {} obj {}\n", column.name, column.cost);
    for (const auto& [row, factor] : entries[j])
      text += fmt::format(" {} {} {}\n", column.name, model.rows[row].name, factor);
  }
  mark(false);
  text += "RHS\n";
  for (const Row& row : model.rows) {
    if (row.rhs != 0) text += fmt::format(" rhs {} {}\n", row.name, row.rhs);
  }
  text += "BOUNDS\n";
  for (const Column& column : model.columns) {
    if (column.binary) {
      text += fmt::format(" BV bound {}\n", column.name);
    } else if (std::isinf(column.lower) && std::isinf(column.upper)) {
      text += fmt::format(" FR bound {}\n", column.name);
    } else if (column.lower == column.upper) {
      text += fmt::format(" FX bound {} {}\n", column.name, column.lower);
    } else {
      text += std::isinf(column.lower) ? fmt::format(" MI bound {}\n", column.name)
                                       : fmt::format(" LO bound {} {}\n", column.name, column.lower);
      if (std::isfinite(column.upper)) text += fmt::format(" UP bound {} {}\n", column.name, column.upper);
    }
  }
  if (!model.products.empty()) text += "QUADOBJ\n";  // of ½ zᵀQz one triangle
  for (const Product& product : model.products) {
    text += fmt::format(" {} {} {}\n", model.columns[product.first].name, model.columns[product.second].name,
                        product.first == product.second ? 2 * product.factor : product.factor);
  }
  return text + "ENDATA\n";
}

/// MPS files know no indicators that every reader takes.
void refuse_indicators(const std::string& path, const Model& model) {
  if (model.indicators.empty()) return;
  const Indicator& first = model.indicators.front();
  const bool force = first.value == 0;
  throw InputError(
      {path, 0, 0},
      fmt::format("{} has no bound that could be proved ({} such sides of pairs), and .mps files need one; give {}, or "
                  "export as .lp, "
                  "which has indicator constraints",
                  model.columns[first.column].name, model.indicators.size(),
                  force ? fmt::format("gamma_max (pair {}), or narrower bounds of states and inputs", first.pair)
                        : fmt::format("bounds of the states and inputs that enter slack {}", first.pair)));
}

}  // namespace

LcsExport export_lcs_problem(const std::string& path, const std::string& name, const LcsMpcProgram& program,
                             const LcsPairBounds& bounds) {
  check(program);
  for (const Eigen::MatrixXd* side : {&bounds.gamma, &bounds.slack}) {
    if (side->rows() != program.system.pairs() || side->cols() != program.N)
      throw std::invalid_argument(fmt::format("export_lcs_problem: bounds are {} × {}, need {} × {}", side->rows(),
                                              side->cols(), program.system.pairs(), program.N));
  }
  std::string plain = path;
  if (plain.ends_with(".gz")) plain.resize(plain.size() - 3);
  const bool mps = plain.ends_with(".mps");
  if (!mps && !plain.ends_with(".lp"))
    throw InputError({path, 0, 0}, "the name of an exported file must end in .lp or .mps (or that and .gz)");
  std::string label = name;
  std::replace(label.begin(), label.end(), '\n', ' ');
  const Model model = ModelBuilder(program, bounds).build(label);
  if (mps) refuse_indicators(path, model);
  try {
    write_text(path, mps ? mps_text(model) : lp_text(model));
  } catch (const std::runtime_error& error) {
    throw InputError({path, 0, 0}, error.what());
  }
  LcsExport out{.columns = static_cast<int>(model.columns.size()),
                .rows = static_cast<int>(model.rows.size() + model.indicators.size())};
  out.binaries = static_cast<int>(
      std::count_if(model.columns.begin(), model.columns.end(), [](const Column& c) { return c.binary; }));
  out.indicators = static_cast<int>(model.indicators.size());
  out.largest_m = model.largest_m;
  return out;
}

}  // namespace deft::io
