#pragma once
// What reads files that people send: each reader takes one file to its end, whatever is in it. A mistake in the file is
// reported as an InputError; a crash, a hang, memory without bound, or an exception of another kind is a defect of
// ours. fuzz_target.cpp hands them files that a fuzzer makes, corpus_test.cpp those that it found once.

#include <span>
#include <string>

namespace deft::fuzz {

/// One kind of file, and the code that reads it.
struct Reader {
  const char* name;                       // folder of its files under tests/fuzz/corpus
  const char* file;                       // what a file is called before it is read: readers look at the ending
  void (*read)(const std::string& path);  // @throws InputError where the file is wrong
};

/// All of them.
std::span<const Reader> readers();
/// @throws std::invalid_argument that lists the names, if there is none of this name.
const Reader& find_reader(const std::string& name);

/// A folder of this process for files that are read, with the models that scene files of the corpus name; removed at
/// the end.
class ReadingFolder {
 public:
  ReadingFolder();
  ~ReadingFolder();
  ReadingFolder(const ReadingFolder&) = delete;
  ReadingFolder& operator=(const ReadingFolder&) = delete;
  /// Hands `bytes` to the reader as a file. @returns whether the file was right.
  bool read(const Reader& reader, std::span<const char> bytes) const;

 private:
  std::string path_;
};

}  // namespace deft::fuzz
