#pragma once
// What the tests of problem files share: a folder for files, an example of the kind `contact`, comparison of programs.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "deft/core/diagnostics.hpp"
#include "deft/io/problems/problem_file.hpp"

namespace deft::io {

namespace fs = std::filesystem;
using nlohmann::json;
using solvers::contact::ContactProgram;
using solvers::contact::FrictionModel;
inline constexpr double kInf = std::numeric_limits<double>::infinity();

class ProblemFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        fs::temp_directory_path() / ("deft_problem_" + std::string(test->name()) + "_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string save(const std::string& text, const std::string& name = "p.json") const {
    fs::remove(path(name));  // writing over a file is slow on some file systems
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  ContactProblemFile read(const json& document) const { return read_contact_problem(save(document.dump())); }
  /// The message that reading gives, without the file's name; "" if there is no error.
  std::string complaint(const std::string& text) const {
    const std::string file = save(text);
    try {
      read_contact_problem(file);
    } catch (const InputError& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.rfind(file, 0), 0u) << message;
      return message.substr(file.size());
    }
    return "";
  }
  fs::path folder_;
};

inline json row(std::vector<int> cols, std::vector<double> vals) { return {{"cols", cols}, {"vals", vals}}; }

/// A block of mass on a plane: two unknowns per direction, every optional field at hand for the tests to change.
inline json example() {
  return {
      {"format", "deft-problem"},
      {"version", 1},
      {"kind", "contact"},
      {"name", "block"},
      {"source", "by hand"},
      {"nv", 3},
      {"Q_blocks", {{{"start", 0}, {"size", 2}, {"data", {4, 1, 1, 3}}}, {{"start", 2}, {"size", 1}, {"data", {5}}}}},
      {"b", {1, 2, 3}},
      {"contacts",
       {{{"gap", 0.01},
         {"mu", 0.5},
         {"normal", row({2}, {1})},
         {"tangents", {row({0}, {1}), row({1}, {1})}},
         {"bodies", {"a", "b"}},
         {"label", "a|b"}}}},
      {"model", "pyramid"},
      {"rays", 4},
      {"kappa", nullptr},
      {"something_else", {{"deep", {1, "x"}}}}};
}
inline json cone_example() {
  json document = example();
  document["model"] = "cone";
  document.erase("rays");
  return document;
}

inline Eigen::MatrixXd dense(const BlockDiagonal& matrix, int n) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(n, n);
  for (int k = 0; k < matrix.num_blocks(); ++k)
    result.block(matrix.start(k), matrix.start(k), matrix.size(k), matrix.size(k)) = matrix.block(k);
  return result;
}
inline Eigen::MatrixXd dense(const RowBlocks& rows, int n) {
  int count = 0;
  for (int i = 0; i < rows.size(); ++i) count += rows.rows(i);
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(count, n);
  int first = 0;
  for (int i = 0; i < rows.size(); first += rows.rows(i), ++i) {
    for (std::size_t k = 0; k < rows.cols(i).size(); ++k)
      result.block(first, rows.cols(i)[k], rows.rows(i), 1) = rows.block(i).col(static_cast<int>(k));
  }
  return result;
}

inline void expect_equal(const ContactProgram& a, const ContactProgram& b) {
  ASSERT_EQ(a.nv, b.nv);
  EXPECT_EQ(dense(a.Q, a.nv), dense(b.Q, b.nv));
  EXPECT_EQ(dense(a.masses, a.nv), dense(b.masses, b.nv));
  EXPECT_EQ(a.b, b.b);
  EXPECT_EQ(dense(a.J, a.nv), dense(b.J, b.nv));
  ASSERT_EQ(a.contacts.size(), b.contacts.size());
  for (std::size_t i = 0; i < a.contacts.size(); ++i) {
    EXPECT_EQ(a.J.rows(static_cast<int>(i)), b.J.rows(static_cast<int>(i)));
    const auto &x = a.contacts[i], &y = b.contacts[i];
    EXPECT_EQ(std::tie(x.gap, x.mu, x.frictionless, x.cone, x.ellipsoid, x.offset, x.compliance),
              std::tie(y.gap, y.mu, y.frictionless, y.cone, y.ellipsoid, y.offset, y.compliance));
  }
  EXPECT_EQ(std::tie(a.model, a.rays, a.kappa, a.hard), std::tie(b.model, b.rays, b.kappa, b.hard));
  EXPECT_EQ(a.lower, b.lower);
  EXPECT_EQ(a.upper, b.upper);
  EXPECT_EQ(dense(a.linear.rows, a.nv), dense(b.linear.rows, b.nv));
  EXPECT_EQ(a.linear.rhs, b.linear.rhs);
  EXPECT_EQ(dense(a.equality.rows, a.nv), dense(b.equality.rows, b.nv));
  EXPECT_EQ(a.equality.rhs, b.equality.rhs);
}

}  // namespace deft::io
