#include "deft/solvers/linear/block_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/complementarity_problems.hpp"

namespace deft::solvers::linear {
namespace block_exchange_test {

using deft::testing::ComplementarityProblems;

PivotTable random_table(ComplementarityProblems& random, int n) {
  PivotTable table;
  table.resize(n, n + 1, 2 * n + 1);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n + 2; ++j) table.row(i)[j] = random.normal();
    table.row(i)[i] += 4;
    table.set_row_variable(i, 2 * i + 1);
    table.set_col_variable(i, 2 * i);
  }
  table.set_col_variable(n, 2 * n);
  return table;
}

TEST(BlockExchange, DoesWhatPivotsDo) {
  for (const int n : {1, 2, 7, 8, 23, 60}) {
    for (int draw = 0; draw < 5; ++draw) {
      ComplementarityProblems random(static_cast<std::uint64_t>(10 * n + draw));
      PivotTable whole = random_table(random, n), single = whole;
      std::vector<int> set;
      for (int i = 0; i < n; ++i)
        if (draw == 0 || random.chance(0.4)) set.push_back(i);
      ASSERT_TRUE(BlockExchange().exchange(whole, set, 1e-12));
      for (const int i : set) single.pivot(i, i);
      for (int i = 0; i < n; ++i) {
        EXPECT_EQ(whole.row_variable(i), single.row_variable(i));
        EXPECT_EQ(whole.col_variable(i), single.col_variable(i));
        for (int j = 0; j < n + 2; ++j)
          EXPECT_NEAR(whole.row(i)[j], single.row(i)[j], 1e-9 * (1 + std::abs(single.row(i)[j])));
      }
    }
  }
}

TEST(BlockExchange, LeavesATableWithoutInverseAsItIs) {
  ComplementarityProblems random(3);
  PivotTable table = random_table(random, 5);
  for (int j = 0; j < 5; ++j) table.row(3)[j] = table.row(1)[j];
  for (int i = 0; i < 5; ++i) table.row(i)[3] = table.row(i)[1];
  PivotTable before = table;
  const std::vector<int> set{1, 3};
  EXPECT_FALSE(BlockExchange().exchange(table, set, 1e-12));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(std::equal(table.row(i), table.row(i) + 7, before.row(i)));
}

}  // namespace block_exchange_test
}  // namespace deft::solvers::linear
