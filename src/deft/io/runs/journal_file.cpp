#include "deft/io/runs/journal_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <utility>

#include "deft/core/diagnostics.hpp"
#include "deft/core/index.hpp"
#include "deft/core/log.hpp"
#include "deft/io/text/yaml_node.hpp"

namespace deft::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "deft-journal 1\n";

enum Kind : std::uint32_t { kHeader = 1, kResult = 2, kBatch = 3 };

/// What stands before the bytes of a record.
struct RecordHead {
  std::uint32_t kind = 0, size = 0;
  std::uint64_t hash = 0;
};

struct Record {
  std::uint32_t kind = 0;
  std::string bytes;
};

/// FNV-1a over kind, size and bytes.
std::uint64_t hash_of(std::uint32_t kind, std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto mix = [&hash](std::uint64_t x) { hash = (hash ^ x) * 0x100000001b3ULL; };
  mix(kind);
  mix(bytes.size());
  for (const char c : bytes) mix(static_cast<unsigned char>(c));
  return hash;
}

std::string packed(std::uint32_t kind, std::string_view bytes) {
  const RecordHead head{kind, static_cast<std::uint32_t>(bytes.size()), hash_of(kind, bytes)};
  std::string record(sizeof head, '\0');
  std::memcpy(record.data(), &head, sizeof head);
  return record.append(bytes);
}

/// An open file, locked for this process; the lock goes with the process.
class LockedFile {
 public:
  LockedFile(const std::string& path, int flags)
      : path_(path), fd_(open(path.c_str(), flags | O_RDWR | O_CLOEXEC, 0644)) {
    if (fd_ < 0) throw InputError({path, 0, 0}, fmt::format("cannot be opened: {}", std::strerror(errno)));
    if (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      close(fd_);
      throw InputError({path, 0, 0}, "another deft plan is writing to it");
    }
  }
  ~LockedFile() { close(fd_); }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  std::uint64_t size() const {
    struct stat facts{};
    check(fstat(fd_, &facts) == 0);
    return static_cast<std::uint64_t>(facts.st_size);
  }
  std::string read(std::uint64_t from, std::size_t count) const {
    std::string bytes(count, '\0');
    for (std::size_t done = 0; done < count;) {
      const ssize_t got = pread(fd_, bytes.data() + done, count - done, static_cast<off_t>(from + done));
      if (got < 0 && errno == EINTR) continue;
      check(got > 0);
      done += to_size(got);
    }
    return bytes;
  }
  void write(std::uint64_t at, std::string_view bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t put = pwrite(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(at + done));
      if (put < 0 && errno == EINTR) continue;
      check(put > 0);
      done += to_size(put);
    }
  }
  void truncate(std::uint64_t size) { check(ftruncate(fd_, static_cast<off_t>(size)) == 0); }

 private:
  void check(bool good) const {
    if (!good) throw std::runtime_error(fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
  }

  std::string path_;
  int fd_;
};

YamlNode tree_of(const JournalHeader& header) {
  Diagnostics diagnostics;
  std::optional<YamlNode> scene = parse_yaml(header.scene_yaml, "the merged scene", diagnostics);
  if (!scene) throw InputError(diagnostics.all());
  YamlNode tree = make_map();
  tree.set("goal", make_scalar(header.goal, true));
  tree.set("seed", make_scalar(fmt::format("{}", header.seed)));
  tree.set("seeds", make_scalar(fmt::format("{}", header.seeds)));
  tree.set("version", make_scalar(header.version, true));
  tree.set("scene", std::move(*scene));
  return tree;
}

/// What a run is; how long it may take is no part of that.
YamlNode without_time_limit(const JournalHeader& header) {
  YamlNode tree = tree_of(header);
  YamlNode& scene = tree.find_entry("scene")->value;
  YamlEntry* plan = scene.find_entry("plan");
  if (plan == nullptr) return tree;
  plan->value.take("time_limit_s");
  if (plan->value.entries.empty()) scene.take("plan");
  return tree;
}

JournalHeader header_of(const std::string& path, const std::string& text) {
  Diagnostics diagnostics;
  const std::optional<YamlNode> tree = parse_yaml(text, path, diagnostics);
  if (!tree) throw InputError(diagnostics.all());
  const auto value = [&](const char* key) {
    const YamlNode* node = tree->find(key);
    if (node == nullptr || !node->is_scalar()) throw InputError({path, 0, 0}, fmt::format("has no '{}'", key));
    return node->text;
  };
  const YamlNode* scene = tree->find("scene");
  if (scene == nullptr) throw InputError({path, 0, 0}, "has no scene");
  return {.goal = value("goal"),
          .version = value("version"),
          .seed = std::strtoull(value("seed").c_str(), nullptr, 10),
          .seeds = std::atoi(value("seeds").c_str()),
          .scene_yaml = emit_yaml(*scene)};
}

}  // namespace

struct JournalFile::Impl {
  explicit Impl(const std::string& folder) : path((fs::path(folder) / "search.journal").string()) {}

  /// The file without batches, by a temporary name and a renaming.
  void replace() {
    const std::string next_path = path + ".tmp";
    auto next_file = std::make_unique<LockedFile>(next_path, O_CREAT | O_TRUNC);
    std::string bytes(kMagic);
    bytes += packed(kHeader, header_text);
    for (const std::string& result : results) bytes += packed(kResult, result);
    next_file->write(0, bytes);
    fs::rename(next_path, path);
    file = std::move(next_file);
    end = bytes.size();
    next.reset();
  }

  void open_file() {
    file = std::make_unique<LockedFile>(path, 0);
    if (file->size() < kMagic.size() || file->read(0, kMagic.size()) != kMagic)
      throw InputError({path, 0, 0}, "is not a journal of a search, or of another version of deft");
    end = kMagic.size();
    advance();
    if (!next || next->kind != kHeader) throw InputError({path, 0, 0}, "has no header: nothing was kept");
    header_text = std::move(next->bytes);
    header = header_of(path, header_text);
    for (advance(); next && next->kind == kResult; advance()) results.push_back(std::move(next->bytes));
  }

  /// The record at `end` into `next`; what follows the last whole one is cut off.
  void advance() {
    next.reset();
    const std::uint64_t size = file->size();
    if (size == end) return;
    if (size - end >= sizeof(RecordHead)) {
      RecordHead head;
      std::memcpy(&head, file->read(end, sizeof head).data(), sizeof head);
      if (head.size <= size - end - sizeof head) {
        std::string bytes = file->read(end + sizeof head, head.size);
        if (hash_of(head.kind, bytes) == head.hash) {
          next = Record{head.kind, std::move(bytes)};
          end += sizeof head + head.size;
          return;
        }
      }
    }
    log::warning(fmt::format("{}: its last {} bytes are no whole record; they are left out", path, size - end));
    file->truncate(end);
  }

  void append(std::uint32_t kind, std::string_view bytes) {
    const std::string record = packed(kind, bytes);
    file->write(end, record);
    end += record.size();
  }

  std::string path, header_text;
  JournalHeader header;
  std::vector<std::string> results;
  std::unique_ptr<LockedFile> file;
  std::uint64_t end = 0;       // of what was read or written
  std::optional<Record> next;  // the last record before `end`, not taken yet
};

JournalFile::JournalFile(const std::string& folder, const JournalHeader& header)
    : impl_(std::make_unique<Impl>(folder)) {
  impl_->header = header;
  impl_->header_text = emit_yaml(tree_of(header));
  impl_->replace();
}

JournalFile::JournalFile(const std::string& folder) : impl_(std::make_unique<Impl>(folder)) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) throw InputError({folder, 0, 0}, "no such run folder");
  if (!fs::exists(impl_->path, error))
    throw InputError({folder, 0, 0}, "is not a run of deft plan: it has no search.journal");
  impl_->open_file();
}

JournalFile::~JournalFile() = default;

const JournalHeader& JournalFile::header() const { return impl_->header; }
const std::vector<std::string>& JournalFile::results() const { return impl_->results; }

void JournalFile::require_same(const JournalHeader& here) const {
  std::string differences;
  for (const std::string& line : yaml_differences(without_time_limit(impl_->header), without_time_limit(here)))
    differences += "\n  " + line;
  if (!differences.empty())
    throw InputError({impl_->path, 0, 0}, "is of another run; what differs there (in the run) and here:" + differences);
}

bool JournalFile::has_next() const { return impl_->next.has_value(); }

std::string_view JournalFile::next() const {
  if (!impl_->next) throw std::logic_error("JournalFile::next: nothing is left");
  if (impl_->next->kind != kBatch) throw InputError({impl_->path, 0, 0}, "holds a record that does not belong there");
  return impl_->next->bytes;
}

void JournalFile::drop_next() { impl_->advance(); }

void JournalFile::keep(std::string_view batch) {
  if (impl_->next) throw std::logic_error("JournalFile::keep: batches of the earlier run are left");
  impl_->append(kBatch, batch);
}

void JournalFile::end_search(const std::string& result) {
  impl_->results.push_back(result);
  impl_->replace();
}

}  // namespace deft::io
