#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "inference/base/new_file.h"
#include "serving/archive/merge/merged_file.h"
#include "serving/archive/merge/parquet_program.h"

namespace het::archive {
namespace {

/// A Python program that reads what is written to it.
struct Program {
  pid_t pid = -1;
  std::FILE* input = nullptr;
};

Result<Program> start_program(const std::string& file, const char* rows) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return error(StatusCode::Internal, "cannot make a pipe: {}", std::strerror(errno));
  }
  const std::string python = "python3";
  const std::string text(parquet_program());
  std::array<const char*, 6> words = {python.c_str(), "-c", text.c_str(),
                                      file.c_str(),   rows, nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  Program program;
  const int failed = ::posix_spawnp(&program.pid, python.c_str(), &actions, nullptr,
                                    const_cast<char* const*>(words.data()), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[0]);
  if (failed != 0) {
    ::close(ends[1]);
    return error(StatusCode::NotFound,
                 "cannot start python3, which writes Parquet: {}; install Python with PyPI's "
                 "pyarrow, or write .jsonl",
                 std::strerror(failed));
  }
  program.input = ::fdopen(ends[1], "w");
  return program;
}

class ParquetFile final : public MergedFile {
 public:
  ParquetFile(NewFile file, std::string path, Program program)
      : file_(std::move(file)), path_(std::move(path)), program_(program) {
    // The program's end is told by writing that fails.
    old_pipe_action_ = std::signal(SIGPIPE, SIG_IGN);
  }
  ~ParquetFile() override {
    static_cast<void>(end_program());
    std::signal(SIGPIPE, old_pipe_action_);
  }
  ParquetFile(const ParquetFile&) = delete;
  ParquetFile& operator=(const ParquetFile&) = delete;

  Status begin_video(const std::string& name) override {
    return send('v',
                nlohmann::json(name).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  }
  Status write(std::string_view line) override { return send('l', line); }

  Status keep() override {
    HET_TRY(send('e', ""));
    if (!end_program()) return not_written();
    return file_.keep();
  }

 private:
  Status send(char what, std::string_view text) {
    std::fputc(what, program_.input);
    std::fwrite(text.data(), 1, text.size(), program_.input);
    if (std::fputc('\n', program_.input) == EOF || std::ferror(program_.input)) {
      return not_written();
    }
    return {};
  }

  /// Whether it is content. A program that was not told the end leaves no file.
  bool end_program() {
    if (!program_.input) return false;
    std::fclose(std::exchange(program_.input, nullptr));
    int status = 0;
    while (::waitpid(program_.pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  Status not_written() {
    return error(StatusCode::Internal,
                 "'{}' is not written, the reason is above; what was there is as it was", path_);
  }

  NewFile file_;
  std::string path_;
  Program program_;
  void (*old_pipe_action_)(int) = nullptr;
};

}  // namespace

Result<std::unique_ptr<MergedFile>> create_parquet_file(const std::string& path, ParquetRows rows) {
  HET_ASSIGN(NewFile file, NewFile::create(path));
  HET_ASSIGN(const Program program,
             start_program(file.temporary(), rows == ParquetRows::Objects ? "objects" : "frames"));
  return std::make_unique<ParquetFile>(std::move(file), path, program);
}

}  // namespace het::archive
