// The page and the engine behind it over HTTP: what a browser asks is answered here with the same frames as in its worker.
//
//   GET  /TOKEN/                   the page, told that it runs over a server
//   GET  /TOKEN/files              what is served (answers/clients/served.h)
//   GET  /TOKEN/journals           those among them that are journals, and how far each is written (the same)
//   POST /TOKEN/open               body: a file's name; answer: a session of it, which is this client's alone
//   GET  /TOKEN/sessions/ID        how far the file is read; waits a moment for news
//   POST /TOKEN/sessions/ID/ask    a question's frame, answered by one (session/frame.h); ?pack=1: packed with gzip
//   POST /TOKEN/sessions/ID/again  the same file read once more for this client alone, for runs and whatever takes long;
//                                  answer: a session, which is closed by itself
//   POST /TOKEN/sessions/ID/close  this client needs it no more
//
// Nothing else is there, and nothing is written. A thread for each connection; their number, what they send and how
// long they take is bounded.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/base/status.h"
#include "engine/serve/access.h"
#include "engine/serve/files.h"
#include "engine/serve/journals.h"
#include "engine/serve/library.h"
#include "engine/serve/peaks.h"
#include "engine/serve/sessions.h"

namespace gpustrata::serve {

struct Options {
  std::vector<std::string> paths;
  std::string listen = "127.0.0.1:0";
  std::vector<std::string> hosts;  // names, beside loopback and the address that is listened on
  std::string page;                // gpustrata.html
  std::string version;
  bool is_live = false;  // the page follows the journals that are served
  Limits limits;
};

// The page as it is served: it may ask its own server, and knows that there is one, and whether it is to follow it. Error: it is
// no such page.
[[nodiscard]] Result<std::string> served_page(std::string page, bool is_live = false);

struct Reply;

class Server {
 public:
  // Listens when it returns. Error: wrong_usage (a path, the address, a port in use), unsupported (no library).
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(Options options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // "http://127.0.0.1:41234/TOKEN/"
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] std::string about() const { return files_.about(); }

  static constexpr unsigned kMostConnections = 512;
  static constexpr std::chrono::seconds kLongestRequest{20};  // from its first byte to its last, and idle

 private:
  Server(Options options, Files files, HttpLibrary http);
  struct Request;

  [[nodiscard]] Status listen();
  static MHD_Result on_request(void* self, MHD_Connection* connection, const char* path, const char* method,
                               const char* version, const char* data, size_t* size, void** request);
  static void on_completed(void* self, MHD_Connection* connection, void** request,
                           MHD_RequestTerminationCode how);
  static void on_connection(void* self, MHD_Connection* connection, void** socket_context,
                            MHD_ConnectionNotificationCode what);
  [[nodiscard]] MHD_Result take(MHD_Connection* connection, const char* path, const char* method,
                                std::span<const char> data, Request*& request);
  [[nodiscard]] Reply refusal(MHD_Connection* connection, std::string_view path, std::string_view method);
  [[nodiscard]] Reply answer(MHD_Connection* connection, std::string_view path, std::string_view method,
                             std::string_view body);
  [[nodiscard]] Reply answer_session(MHD_Connection* connection, std::string_view rest,
                                     std::string_view method, std::string_view body);
  [[nodiscard]] Reply answer_question(MHD_Connection* connection, Client& client, std::string_view question);
  [[nodiscard]] Reply opened(const Result<std::shared_ptr<Client>>& client);
  [[nodiscard]] Reply text(unsigned status, std::string_view text);
  [[nodiscard]] Reply list();
  [[nodiscard]] MHD_Response* response_of(Reply& reply) const;
  [[nodiscard]] MHD_Result send(MHD_Connection* connection, Reply reply) const;
  [[nodiscard]] int socket_of(MHD_Connection* connection) const;
  [[nodiscard]] std::string_view header(MHD_Connection* connection, const char* name) const;
  void watch();

  const Options options_;
  const Files files_;
  const HttpLibrary http_;
  Access access_;
  Budget refusals_{1 << 20};  // of answers that only say that there is no memory
  Sessions sessions_;
  Peaks peaks_;
  Journals journals_;
  std::string address_;
  int listening_ = -1;
  MHD_Daemon* daemon_ = nullptr;

  // Connections that wait for bytes, and since when: those that wait too long are shut.
  struct Waiting {
    int socket = -1;
    std::chrono::steady_clock::time_point since;
    bool is_served = false;
  };
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stopped_ = false;
  std::map<MHD_Connection*, Waiting> waiting_;
  std::thread watcher_;
};

}  // namespace gpustrata::serve
