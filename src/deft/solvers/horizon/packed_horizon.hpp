#pragma once
// A horizon program as flat arrays for the kernels: variables ζ_t = (u_t, x_t, p_t) per stage, p_t = u_{t−1} only where
// the stage depends on it, rows padded to whole lanes; and its inequalities as one list of those that have a bound.

#include <vector>

#include "deft/solvers/horizon/horizon_program.hpp"

namespace deft::solvers::horizon {

/// Constants of a solve. Vectors over the horizon ("stage vectors") have size() entries, stage t from stage(t).at on. A
/// form is a linear function f(ζ_t) of a stage that inequalities bound from one side or both.
class PackedHorizon {
 public:
  /// One stage. The last one has no u.
  struct Stage {
    int nu, nx, np;                     // np: nu or 0
    int n, ld;                          // nu + nx + np, padded
    int at;                             // first entry in stage vectors
    int form, general;                  // first form (u_i, then u_i − p_i if np), first general form
    int form_end;                       // one past the last
    std::vector<double> M;              // x⁺ = M ζ + c: [B A 0], nx × ld
    std::vector<double> Q;              // [0 Q 0], nx × ld
    std::vector<double> q, S, s, R, c;  // as in HorizonStage, zeros where empty there; of the last stage q only
  };
  /// A general form f(ζ): entries from first to last of index / value; or all of a row of J, ld wide.
  struct General {
    int first, last;  // of index / value, `last` one past the end
    int dense;        // where its row of J begins, or −1
  };

  /// Copies `qp`, which must have passed `check` and outlive the solve: its start is kept by pointer. No allocation
  /// when sizes repeat.
  void assign(const HorizonQp& qp);

  /// T, one less than the stages.
  int steps() const { return static_cast<int>(stages_.size()) - 1; }
  /// Entries of a stage vector.
  int size() const { return size_; }
  /// Stage t = 0 … T.
  const Stage& stage(int t) const { return stages_[t]; }
  /// x_0 of the program, size nx.
  const Eigen::VectorXd& x_start() const { return *x_start_; }
  /// u_{−1} of the program, size nu.
  const Eigen::VectorXd& u_before() const { return *u_before_; }

  // The inequalities: sign · form ≤ d (+ e where soft), the `hard()` hard ones first.
  int hard() const { return hard_; }                         // number of hard inequalities
  int count() const { return static_cast<int>(d_.size()); }  // number of all inequalities
  int forms() const { return forms_; }                       // number of forms over all stages
  const std::vector<double>& d() const { return d_; }        // bound of each inequality
  const std::vector<double>& rho() const { return rho_; }    // price of each; infinite for hard ones
  /// Weight that makes the penalty of a row as stiff as the cost.
  const std::vector<double>& stiffness() const { return stiffness_; }
  int stage_of(int i) const { return source_[i].stage; }  // stage of inequality i
  int place_of(int i) const { return source_[i].place; }  // where its multiplier stands in that stage of the solution

  /// y = G z per inequality, size count().
  void apply(const std::vector<double>& z, std::vector<double>& y);
  /// g += Gᵀ y, g a stage vector.
  void add_transposed(const std::vector<double>& y, std::vector<double>& g);
  /// Weights of forms from weights of inequalities: Σ of both sides.
  void form_weights(const std::vector<double>& w, std::vector<double>& weight) const;
  /// H += Σ weight f fᵀ over the forms of stage t, upper triangle.
  void add_forms(int t, const std::vector<double>& weight, double* H);

  /// A row that no input moves, which is therefore not among the inequalities.
  struct Constant {
    int stage, place;  // of its multiplier
    double excess;     // value − d
    double size;       // |d| and the terms of the value
    double rho;        // price; infinite for a hard row
  };
  /// All such rows.
  const std::vector<Constant>& constants() const { return constant_; }

  /// g = ∇ of the cost at z.
  void gradient(const std::vector<double>& z, std::vector<double>& g) const;
  /// The largest |entry| of the reduced gradient of a gradient g: by the inputs alone, the states following them. All
  /// of its entries go into `inputs`, a stage vector, if given. Infinity if an entry is not finite.
  double reduced(const std::vector<double>& g, std::vector<double>* inputs = nullptr);

 private:
  struct Source {
    int stage, place, form;
    double sign;
  };
  /// The sizes of a stage, its cost and its dynamics.
  static void pack_stage(const HorizonStage& from, bool last, int nu, Stage& to);
  void add_inequalities(const HorizonQp& qp, bool soft);
  void add(int t, int place, int form, double sign, double d, double rho);
  void pack_general(const HorizonStage& from, Stage& to);
  void scale_rows(const HorizonQp& qp);

  std::vector<Stage> stages_;
  const Eigen::VectorXd *x_start_ = nullptr, *u_before_ = nullptr;
  int size_ = 0, hard_ = 0, forms_ = 0;
  std::vector<General> general_;  // by form; those of inputs unused
  std::vector<int> index_;
  std::vector<double> value_, J_;
  std::vector<Source> source_;
  std::vector<Constant> constant_;
  std::vector<double> d_, rho_, stiffness_, form_value_, norm_;
  std::vector<double> active_J_, active_T_, v_, h_;
  std::vector<int> iota_;
};

}  // namespace deft::solvers::horizon
