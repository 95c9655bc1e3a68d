#include "deft/io/problems/problem_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "deft/core/diagnostics.hpp"
#include "deft/core/hash.hpp"
#include "deft/core/index.hpp"
#include "deft/io/problems/complementarity_file.hpp"
#include "deft/io/problems/delassus_file.hpp"
#include "deft/io/problems/lcs_file.hpp"
#include "deft/io/problems/patch_file.hpp"
#include "deft/io/text/json_field.hpp"
#include "deft/io/text/json_matrix.hpp"
#include "deft/io/text/json_text.hpp"

namespace deft::io {
namespace {

using solvers::contact::ContactLaw;
using solvers::contact::ContactProgram;
using solvers::contact::FrictionModel;

constexpr int kMaxIndex = 1 << 30;
constexpr int kMaxRays = 4096;
const std::vector<std::string> kFileKinds{"contact", "delassus", "lcp", "mcp", "lcs_mpc", "ecp"};

/// "000.json.gz" → "000".
std::string stem(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  for (const std::string_view ending : {".gz", ".json"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  return name;
}

/// The kind of a file whose format and version are right.
std::string checked_kind(const JsonField& root) {
  const JsonField format = root.at("format");
  if (format.text() != "deft-problem") format.fail(fmt::format("is '{}', needs 'deft-problem'", format.text()));
  root.at("version").integer(1, 1);
  const JsonField kind = root.at("kind");
  const std::string word = kind.text();
  if (std::find(kFileKinds.begin(), kFileKinds.end(), word) == kFileKinds.end())
    kind.fail(fmt::format("unknown kind '{}'{}", word, did_you_mean(word, kFileKinds)));
  return word;
}

/// How often each label came before: contacts with the same label are distinguished by their order.
using LabelCounts = std::map<std::string, int>;

/// The force law and the rows n, t₁, t₂, spin of one contact.
void read_contact(const JsonField& field, LabelCounts& seen, ContactProgram& program) {
  ContactLaw law;
  const std::optional<JsonField> cone = field.find("cone");
  law.cone = cone && cone->boolean();
  const FrictionModel model = law.cone ? FrictionModel::kCone : program.model;
  law.gap = field.at("gap").number();
  const std::optional<JsonField> frictionless = field.find("frictionless");
  law.frictionless = frictionless && frictionless->boolean();
  const std::optional<JsonField> mu = law.frictionless ? field.find("mu") : field.at("mu");
  law.mu = mu ? mu->number() : 0;
  if (law.mu < 0) mu->fail(fmt::format("must not be negative, found {}", law.mu));
  if (const auto label = field.find("label")) {
    const std::string text = label->text();
    law.id = fnv1a(fmt::format("{}#{}", text, seen[text]++));
  }
  if (const auto compliance = field.find("compliance")) {
    law.compliance = compliance->number();
    if (law.compliance < 0) compliance->fail(fmt::format("must not be negative, found {}", law.compliance));
  }

  // A frictionless contact has one row; its other rows are checked and left out.
  std::vector<SparseRow> rows{read_row(field.at("normal"), program.nv)};
  const std::optional<JsonField> tangents = law.frictionless ? field.find("tangents") : field.at("tangents");
  const std::size_t num_tangents = tangents ? tangents->list_size() : 0;
  if (tangents && !law.frictionless && (num_tangents < 1 || num_tangents > 2)) {
    tangents->fail(fmt::format("has {} rows, needs two (one in the plane)", num_tangents));
  }
  for (std::size_t k = 0; k < num_tangents; ++k) rows.push_back(read_row(tangents->element(k), program.nv));
  const std::optional<JsonField> spin = field.find("spin");
  if (spin && model == FrictionModel::kPyramid)
    spin->fail("is for the model 'cone', or a contact with 'cone': true, only");
  if (spin) rows.push_back(read_row(*spin, program.nv));
  if (law.frictionless) rows.resize(1);

  // The scales belong to the rows in their order, so that one tangent and spin use the first two places of the law.
  const std::size_t tangential = rows.size() - 1;
  if (const auto ellipsoid = field.find("ellipsoid")) {
    if (model == FrictionModel::kPyramid)
      ellipsoid->fail("is for the model 'cone', or a contact with 'cone': true, only");
    const std::vector<double> e = ellipsoid->numbers();
    if (e.size() > 3 || e.size() < tangential) {
      ellipsoid->fail(
          fmt::format("has {} numbers, needs three: [e_t, e_o, e_r] (two without 'spin', one in the plane)", e.size()));
    }
    for (std::size_t k = 0; k < e.size(); ++k) {
      if (e[k] <= 0) ellipsoid->element(k).fail(fmt::format("must be positive, found {}", e[k]));
    }
    for (std::size_t k = 0; k < tangential; ++k) law.ellipsoid[k] = e[k];
    if (spin && num_tangents == 1 && e.size() == 3) law.ellipsoid[1] = e[2];
  }
  if (const auto offset = field.find("offset"); offset && !law.frictionless) {
    const std::vector<double> o = offset->numbers(tangential, "one per tangential row");
    std::copy(o.begin(), o.end(), law.offset.begin());
  }
  append_rows(rows, program.J);
  program.contacts.push_back(law);
}

/// `model`, `kappa`, `hard`.
void read_model(const JsonField& root, ContactProgram& program) {
  const JsonField model = root.at("model");
  const std::string word = model.text();
  if (word != "pyramid" && word != "cone") model.fail(fmt::format("unknown model '{}'; valid: pyramid, cone", word));
  program.model = word == "cone" ? FrictionModel::kCone : FrictionModel::kPyramid;
  if (const auto kappa = root.find("kappa")) {
    program.kappa = kappa->number();
    if (program.kappa <= 0) kappa->fail(fmt::format("must be positive (null: exact), found {}", program.kappa));
  }
  if (const auto hard = root.find("hard")) program.hard = hard->boolean();
}

/// Checked after the contacts: one tangent means two rays whatever the file says.
void read_rays(const JsonField& root, ContactProgram& program, std::vector<std::string>& notes) {
  if (program.model == FrictionModel::kCone) return;
  bool planar = !program.contacts.empty();
  for (int i = 0; i < program.J.size(); ++i) planar = planar && program.J.rows(i) <= 2;
  program.rays = planar ? 2 : 4;
  if (const auto rays = root.find("rays")) {
    const int count = rays->integer(2, kMaxRays);
    if (count % 2 != 0) rays->fail(fmt::format("must be even, found {}", count));
    if (!planar) program.rays = count;
  } else if (!program.contacts.empty()) {
    notes.push_back(fmt::format("rays is missing: {} assumed", program.rays));
  }
}

/// `bounds`: of the motion δ.
void read_motion_bounds(const JsonField& field, ContactProgram& program) {
  const auto side = [&](const char* key, double none) {
    Eigen::VectorXd values = Eigen::VectorXd::Constant(program.nv, none);
    if (const auto list = field.find(key)) {
      const std::vector<double> numbers = list->bounds(to_size(program.nv));
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (numbers[i] == -none)
          list->element(i).fail(fmt::format("the {} bound cannot be {}inf", key, none > 0 ? "-" : ""));
        values[static_cast<Eigen::Index>(i)] = numbers[i];
      }
    }
    return values;
  };
  program.lower = side("lower", -std::numeric_limits<double>::infinity());
  program.upper = side("upper", std::numeric_limits<double>::infinity());
}

/// Linear constraints: a matrix [m × nv] and m right-hand sides.
void read_linear(const JsonField& field, const char* matrix_key, const char* rhs_key, int nv,
                 solvers::contact::LinearRows& linear) {
  const SparseMatrix matrix = read_matrix(field.at(matrix_key), kMaxIndex, nv);
  linear.rhs = field.at(rhs_key).numbers(to_size(matrix.rows), fmt::format("the rows of {}", matrix_key));
  auto entry = matrix.entries.begin();
  for (int row = 0; row < matrix.rows; ++row) {
    SparseRow sparse;
    for (; entry != matrix.entries.end() && entry->row == row; ++entry) {
      sparse.cols.push_back(entry->col);
      sparse.vals.push_back(entry->value);
    }
    append_rows({sparse}, linear.rows);
  }
}

/// An empty file with its name and source.
template <class File>
File named(const JsonField& root, const std::string& path) {
  File file;
  const auto name = root.find("name");
  file.name = name ? name->text() : stem(path);
  const auto source = root.find("source");
  if (source) file.source = source->text();
  return file;
}

ContactProblemFile read_contact_file(const JsonField& root, const std::string& path) {
  auto file = named<ContactProblemFile>(root, path);
  ContactProgram& program = file.program;
  program.nv = root.at("nv").integer(0, kMaxIndex);
  program.b = read_vector(root.at("b"), program.nv, "nv");
  program.Q = read_symmetric(root, "Q", program.nv, file.notes);
  if (root.find("masses_blocks")) program.masses = read_symmetric(root, "masses", program.nv, file.notes);

  read_model(root, program);
  const JsonField contacts = root.at("contacts");
  if (program.nv == 0 && contacts.list_size() > 0) contacts.fail("has contacts, but nv is 0: there is nothing to move");
  LabelCounts seen;
  for (std::size_t i = 0; i < contacts.list_size(); ++i) read_contact(contacts.element(i), seen, program);
  read_rays(root, program, file.notes);
  if (const auto bounds = root.find("bounds")) read_motion_bounds(*bounds, program);
  if (const auto linear = root.find("linear")) read_linear(*linear, "G", "g", program.nv, program.linear);
  if (const auto equality = root.find("equality")) read_linear(*equality, "A", "a", program.nv, program.equality);
  return file;
}

}  // namespace

ProblemFile read_problem(const std::string& path) { return parse_problem(read_text(path), path); }

ProblemFile parse_problem(const std::string& text, const std::string& path) {
  const nlohmann::json document = parse_json(path, text);
  const JsonField root(document, path);
  const std::string kind = checked_kind(root);
  if (kind == "contact") return read_contact_file(root, path);
  if (kind == "lcp" || kind == "mcp") {
    auto file = named<ComplementarityProblemFile>(root, path);
    file.kind = kind;
    file.program = read_complementarity(root, kind == "mcp");
    return file;
  }
  if (kind == "lcs_mpc") {
    auto file = named<LcsProblemFile>(root, path);
    file.program = read_lcs_mpc(root, file.notes);
    return file;
  }
  if (kind == "ecp") {
    auto file = named<PatchProblemFile>(root, path);
    file.problem = read_patch_problem(root, file.notes);
    return file;
  }
  auto file = named<DelassusProblemFile>(root, path);
  file.program = read_delassus(root, file.notes);
  return file;
}

ContactProblemFile read_contact_problem(const std::string& path) {
  const nlohmann::json document = parse_json(path, read_text(path));
  const JsonField root(document, path);
  const std::string kind = checked_kind(root);
  if (kind != "contact") root.at("kind").fail(fmt::format("is '{}', needs 'contact'", kind));
  return read_contact_file(root, path);
}

}  // namespace deft::io
