#include "deft/io/runs/journal_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "deft/core/diagnostics.hpp"
#include "deft/core/log.hpp"
#include "io/own_folder.hpp"

namespace deft::io {
namespace journal_file_test {

namespace fs = std::filesystem;

class Journals : public OwnFolder {
 protected:
  void SetUp() override {
    OwnFolder::SetUp();
    log::set_level(log::Level::kError);  // what is torn is said in a warning
  }
  void TearDown() override {
    log::set_level(log::Level::kWarning);
    OwnFolder::TearDown();
  }

  std::string bytes() const {
    std::ifstream file(folder / "search.journal", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& bytes) const {
    std::ofstream(folder / "search.journal", std::ios::binary | std::ios::trunc) << bytes;
  }
};

const JournalHeader kHeader{
    .goal = "turned \"over\"",
    .version = "1.2",
    .seed = 18446744073709551615ULL,
    .seeds = 2,
    .scene_yaml = "deft: 1\nplan: {nodes: 100, time_limit_s: 60}\nbodies: [!Rpy {deg: [0, 1, 2]}]\n"};

std::vector<std::string> batches_of(JournalFile& journal) {
  std::vector<std::string> batches;
  for (; journal.has_next(); journal.drop_next()) batches.emplace_back(journal.next());
  return batches;
}

const std::vector<std::string> kBatches{"first", std::string("\0\n\xff", 3), "", std::string(5000, 'x')};

TEST_F(Journals, GiveBackWhatTheyKept) {
  {
    JournalFile journal(folder, kHeader);
    EXPECT_FALSE(journal.has_next());
    for (const std::string& batch : kBatches) journal.keep(batch);
  }
  JournalFile journal(folder);
  EXPECT_EQ(journal.header().goal, kHeader.goal);
  EXPECT_EQ(journal.header().version, kHeader.version);
  EXPECT_EQ(journal.header().seed, kHeader.seed);
  EXPECT_EQ(journal.header().seeds, kHeader.seeds);
  journal.require_same(kHeader);
  EXPECT_THROW(journal.keep("too early"), std::logic_error);
  EXPECT_EQ(batches_of(journal), kBatches);
  EXPECT_THROW(journal.next(), std::logic_error);
}

TEST_F(Journals, GoOnAfterWhatWasRead) {
  {
    JournalFile(folder, kHeader).keep("1");
  }
  for (const char* more : {"2", "3"}) {
    JournalFile journal(folder);
    batches_of(journal);
    journal.keep(more);
  }
  JournalFile journal(folder);
  EXPECT_EQ(batches_of(journal), (std::vector<std::string>{"1", "2", "3"}));
}

TEST_F(Journals, CutAnywhereKeepEveryWholeBatchAndGoOn) {
  std::size_t header_size = 0;
  std::vector<std::size_t> ends;  // of the batches
  {
    JournalFile journal(folder, kHeader);
    header_size = bytes().size();
    for (const char* batch : {"one", "", "three"}) {
      journal.keep(batch);
      ends.push_back(bytes().size());
    }
  }
  const std::string whole = bytes();
  const std::vector<std::string> all{"one", "", "three"};
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    write(whole.substr(0, size));
    if (size < header_size) {
      EXPECT_THROW(JournalFile{folder.string()}, InputError) << size;
      continue;
    }
    const auto count = std::count_if(ends.begin(), ends.end(), [&](std::size_t end) { return end <= size; });
    std::vector<std::string> expected(all.begin(), all.begin() + count);
    {
      JournalFile journal(folder);
      EXPECT_EQ(batches_of(journal), expected) << size;
      journal.keep("more");
    }
    expected.push_back("more");
    JournalFile journal(folder);
    EXPECT_EQ(batches_of(journal), expected) << size;
  }
}

TEST_F(Journals, LeaveOutABatchWithAWrongByte) {
  {
    JournalFile journal(folder, kHeader);
    journal.keep("one");
  }
  const std::size_t before = bytes().size();
  {
    JournalFile journal(folder);
    batches_of(journal);
    journal.keep("two");
  }
  const std::string whole = bytes();
  for (std::size_t at = before; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    write(damaged);
    JournalFile journal(folder);
    EXPECT_EQ(batches_of(journal), std::vector<std::string>{"one"}) << at;
  }
}

TEST_F(Journals, KeepResultsAndDropTheirBatches) {
  {
    JournalFile journal(folder, kHeader);
    journal.keep("batch of the first search");
    journal.end_search("{\"seed\": 1}");
    EXPECT_EQ(bytes().find("batch"), std::string::npos);
    journal.keep("batch of the second");
  }
  {
    JournalFile journal(folder);
    EXPECT_EQ(journal.results(), std::vector<std::string>{"{\"seed\": 1}"});
    EXPECT_EQ(batches_of(journal), std::vector<std::string>{"batch of the second"});
    journal.end_search("{\"seed\": 2}");
  }
  JournalFile journal(folder);
  EXPECT_EQ(journal.results().size(), 2u);
  EXPECT_FALSE(journal.has_next());
  EXPECT_FALSE(fs::exists(folder / "search.journal.tmp"));
}

TEST_F(Journals, BelongToOneWriter) {
  const JournalFile journal(folder, kHeader);
  EXPECT_THROW(JournalFile{folder.string()}, InputError);
}

TEST_F(Journals, NameWhatDiffers) {
  const JournalFile journal(folder, kHeader);
  JournalHeader here = kHeader;
  here.scene_yaml = "deft: 1\nplan: {nodes: 100, time_limit_s: 90}\nbodies: [!Rpy {deg: [0, 1, 2]}]\n";
  journal.require_same(here);  // more time is welcome
  here.scene_yaml = "deft: 1\nplan: {nodes: 200, kappa: 3}\nbodies: [!Rpy {deg: [0, 1.5, 2]}]\n";
  here.goal = "else";
  here.seed = 1;
  here.seeds = 3;
  here.version = "2";
  try {
    journal.require_same(here);
    FAIL() << "not refused";
  } catch (const InputError& error) {
    const std::string message = error.what();
    for (const char* part :
         {"goal: turned \"over\" there, else here", "seed: 18446744073709551615 there, 1 here",
          "seeds: 2 there, 3 here", "version: 1.2 there, 2 here", "scene.plan.nodes: 100 there, 200 here",
          "scene.plan.kappa: nothing there, 3 here", "scene.bodies[0].deg[1]: 1 there, 1.5 here"})
      EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
    EXPECT_EQ(message.find("time_limit"), std::string::npos);
  }
}

TEST_F(Journals, AreRefusedWhereThereIsNone) {
  EXPECT_THROW(JournalFile{(folder / "nowhere").string()}, InputError);
  EXPECT_THROW(JournalFile{folder.string()}, InputError);
  write("deft-journal 9\nsomething");
  EXPECT_THROW(JournalFile{folder.string()}, InputError);
}

}  // namespace journal_file_test
}  // namespace deft::io
