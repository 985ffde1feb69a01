// A folder for one test, with files in it; gone afterwards.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>  // mkdtemp

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace gpustrata::serve {

class ServedFolder {
 public:
  ServedFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "gpustrata_serve_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = std::filesystem::canonical(name).string();
  }
  ~ServedFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ServedFolder(const ServedFolder&) = delete;
  ServedFolder& operator=(const ServedFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string path(std::string_view name) const { return path_ + "/" + std::string(name); }
  // With the folders on its way.
  void write(std::string_view name, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream file(path(name), std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    EXPECT_TRUE(file.good()) << name;
  }
  void link(std::string_view name, const std::string& target) const {
    std::filesystem::create_symlink(target, path(name));
  }

 private:
  std::string path_;
};

// One block of 1000 bytes on device 0 comes and stays, or as many as are told.
[[nodiscard]] inline std::string small_snapshot(int blocks = 1) {
  std::string text = R"({"segments":[],"device_traces":[[)";
  for (int i = 0; i < blocks; ++i)
    text += std::string(i > 0 ? "," : "") + R"({"action":"alloc","addr":)" + std::to_string(4096 * (i + 1)) +
            R"(,"size":1000,"stream":0,"frames":[]})";
  return text + "]]}";
}

}  // namespace gpustrata::serve
