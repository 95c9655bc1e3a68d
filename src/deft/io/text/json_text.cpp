#include "deft/io/text/json_text.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "deft/core/diagnostics.hpp"
#include "deft/core/index.hpp"

namespace deft::io {
namespace {

namespace fs = std::filesystem;

struct CloseGzip {
  void operator()(gzFile file) const { gzclose(file); }
};
using GzipHandle = std::unique_ptr<std::remove_pointer_t<gzFile>, CloseGzip>;

[[noreturn]] void fail(const std::string& path, const std::string& message) { throw InputError({path, 0, 0}, message); }

std::string too_large() { return "is larger than 1 GiB, the limit of a JSON file"; }

/// The line and column of a byte, both from 1.
SourceLocation locate(const std::string& path, const std::string& text, std::size_t byte) {
  const std::size_t end = std::min(byte, text.size());
  const auto begin = text.begin();
  const auto line = 1 + std::count(begin, begin + static_cast<std::ptrdiff_t>(end), '\n');
  const std::size_t newline = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  const std::size_t column = newline == std::string::npos ? end + 1 : end - newline;
  return {path, static_cast<int>(line), static_cast<int>(column)};
}

/// Brackets outside strings, counted before the parser builds anything.
void check_depth(const std::string& path, const std::string& text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth) {
        throw InputError(locate(path, text, i), fmt::format("nested deeper than {} levels", kMaxJsonDepth));
      }
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}

/// The parser's own message without its number and its "at line …": the place is said by the location.
std::string plain_message(const std::string& what) {
  const std::size_t last = what.find(": ");
  return last == std::string::npos ? what : what.substr(last + 2);
}

}  // namespace

std::string read_text(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) fail(path, "no such file");
  if (status.type() == fs::file_type::directory) fail(path, "is a folder, not a file");
  const auto size = status.type() == fs::file_type::regular ? fs::file_size(path, error) : 0;
  if (error) fail(path, error.message());
  if (size > kMaxJsonBytes) fail(path, too_large());

  // zlib passes files that are not packed through as they are.
  errno = 0;
  const GzipHandle file(gzopen(path.c_str(), "rb"));
  if (!file) fail(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  std::string text;
  std::string buffer(std::size_t{1} << 18, '\0');
  int count = 0;
  while ((count = gzread(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()))) > 0) {
    if (text.size() + to_size(count) > kMaxJsonBytes) fail(path, too_large());
    text.append(buffer, 0, to_size(count));
  }
  int code = Z_OK;
  const std::string reason = gzerror(file.get(), &code);
  if (count < 0 || code == Z_BUF_ERROR)
    fail(path, fmt::format("cannot be read: {}", reason.empty() ? "damaged" : reason));
  if (path.ends_with(".gz") && !text.empty() && gzdirect(file.get()) == 1)
    fail(path, "is not a gzip file although its name ends in .gz");
  return text;
}

void write_text(const std::string& path, const std::string& text) {
  const std::string temporary = fmt::format("{}.tmp-{}", path, getpid());
  const auto refuse = [&](const std::string& reason) {
    std::remove(temporary.c_str());
    throw std::runtime_error(fmt::format("cannot write '{}': {}", path, reason));
  };
  // "T" writes the bytes as they are.
  errno = 0;
  gzFile file = gzopen(temporary.c_str(), path.ends_with(".gz") ? "wb" : "wbT");
  if (file == nullptr) refuse(std::strerror(errno));
  std::size_t done = 0;
  while (done < text.size()) {
    const auto chunk = static_cast<unsigned>(std::min<std::size_t>(text.size() - done, std::size_t{1} << 24));
    if (gzwrite(file, text.data() + done, chunk) == 0) break;
    done += chunk;
  }
  const int closed = gzclose(file);
  if (done < text.size() || closed != Z_OK) refuse(errno != 0 ? std::strerror(errno) : "the disk refused");
  if (std::rename(temporary.c_str(), path.c_str()) != 0) refuse(std::strerror(errno));
}

nlohmann::json parse_json(const std::string& path, const std::string& text) {
  check_depth(path, text);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw InputError(locate(path, text, error.byte == 0 ? 0 : error.byte - 1),
                     "not JSON: " + plain_message(error.what()));
  } catch (const nlohmann::json::exception& error) {
    throw InputError({path, 0, 0}, "not JSON: " + plain_message(error.what()));
  }
}

std::string to_text(const nlohmann::ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

nlohmann::ordered_json json_number(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

}  // namespace deft::io
