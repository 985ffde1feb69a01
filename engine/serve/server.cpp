#include "engine/serve/server.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/answers/text/json_of.h"
#include "engine/serve/reply.h"
#include "engine/session/frame.h"

namespace gpustrata::serve {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kLargestBody = session::kLargestQuestion + session::kFrameHeader;
constexpr size_t kConnectionMemory = size_t{64} << 10;  // headers
constexpr size_t kStack = size_t{8} << 20;              // of a thread that may run the engine
constexpr size_t kPieceOfReply = size_t{64} << 10;
constexpr int kBacklog = 128;
constexpr std::chrono::seconds kLook{1};

[[nodiscard]] tl::unexpected<Error> not_listening(std::string_view address, int error) {
  return fail(ErrorCode::wrong_usage, -1, "cannot listen on {}: {}{}", address, std::strerror(error),
              error == EADDRINUSE ? ". Name another port, or none: a free one is taken." : "");
}

}  // namespace

Result<std::string> served_page(std::string page, bool is_live) {
  constexpr std::string_view kNoRequests = "connect-src 'none'";
  constexpr std::string_view kHolds = "<meta name=\"holds\" content=\"gpustrata-snapshot\"";
  const size_t policy = page.find(kNoRequests);
  const size_t holds = page.find(kHolds);
  if (policy == std::string::npos || holds == std::string::npos)
    return fail(ErrorCode::wrong_usage, -1, "the viewer is not a gpustrata.html of this version");
  page.insert(holds,
              fmt::format("<meta name=\"gpustrata-server\" content=\"{}\" />\n    ", is_live ? "live" : "1"));
  page.replace(policy, kNoRequests.size(), "connect-src 'self'");
  return page;
}

struct Server::Request {
  explicit Request(Budget& budget) : body(budget) {}

  Column<char> body;
  bool is_too_long = false;
  bool is_refused = false;  // there was no memory for it
};

Server::Server(Options options, Files files, HttpLibrary http)
    : options_(std::move(options)),
      files_(std::move(files)),
      http_(http),
      sessions_(files_, options_.limits),
      peaks_(files_, sessions_, options_.limits.memory_bytes / 4),
      journals_(files_) {}

Result<std::unique_ptr<Server>> Server::start(Options options) {
  auto http = load_http_library();
  if (!http) return tl::unexpected(http.error());
  auto files = Files::of(options.paths);
  if (!files) return tl::unexpected(files.error());
  auto page = served_page(std::move(options.page), options.is_live);
  if (!page) return tl::unexpected(page.error());
  options.page = std::move(*page);
  std::unique_ptr<Server> server(new Server(std::move(options), std::move(*files), *http));
  if (Status listening = server->listen(); !listening) return tl::unexpected(listening.error());
  return server;
}

Status Server::listen() {
  const auto wanted = listen_address(options_.listen);
  if (!wanted) return tl::unexpected(wanted.error());
  access_.token = random_name();
  if (access_.token.empty()) return fail(ErrorCode::unsupported, -1, "the system gives no random numbers");
  access_.hosts = options_.hosts;
  access_.hosts.push_back(wanted->host);

  sockaddr_in6 v6{};
  sockaddr_in v4{};
  v6.sin6_family = AF_INET6;
  v4.sin_family = AF_INET;
  v6.sin6_port = v4.sin_port = htons(wanted->port);
  void* const place = wanted->is_v6 ? static_cast<void*>(&v6.sin6_addr) : &v4.sin_addr;
  if (inet_pton(wanted->is_v6 ? AF_INET6 : AF_INET, wanted->host.c_str(), place) != 1)
    return fail(ErrorCode::wrong_usage, -1, "{} is no address of this machine; say it in numbers",
                wanted->host);
  auto* const bound = wanted->is_v6 ? reinterpret_cast<sockaddr*>(&v6) : reinterpret_cast<sockaddr*>(&v4);
  socklen_t length = wanted->is_v6 ? sizeof v6 : sizeof v4;

  listening_ = socket(bound->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  if (listening_ < 0) return not_listening(options_.listen, errno);
  (void)setsockopt(listening_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(listening_, bound, length) != 0 || ::listen(listening_, kBacklog) != 0 ||
      getsockname(listening_, bound, &length) != 0)
    return not_listening(options_.listen, errno);
  const int port = ntohs(wanted->is_v6 ? v6.sin6_port : v4.sin_port);
  address_ = fmt::format("http://{}{}{}:{}/{}/", wanted->is_v6 ? "[" : "", wanted->host,
                         wanted->is_v6 ? "]" : "", port, access_.token);
  daemon_ = http_.start_daemon(MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL,
                               0, nullptr, nullptr, &Server::on_request, this, MHD_OPTION_LISTEN_SOCKET,
                               static_cast<MHD_socket>(listening_), MHD_OPTION_NOTIFY_COMPLETED,
                               &Server::on_completed, static_cast<void*>(this), MHD_OPTION_NOTIFY_CONNECTION,
                               &Server::on_connection, static_cast<void*>(this), MHD_OPTION_CONNECTION_LIMIT,
                               kMostConnections, MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemory,
                               MHD_OPTION_THREAD_STACK_SIZE, kStack, MHD_OPTION_CONNECTION_TIMEOUT,
                               static_cast<unsigned>(kLongestRequest.count()), MHD_OPTION_END);
  if (daemon_ == nullptr) return not_listening(options_.listen, errno);
  watcher_ = std::thread([this] { watch(); });
  return {};
}

Server::~Server() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (const auto& [connection, waiting] : waiting_) shutdown(waiting.socket, SHUT_RD);
  }
  stopping_.notify_all();
  sessions_.stop();
  if (watcher_.joinable()) watcher_.join();
  if (daemon_ != nullptr) {
    http_.stop_daemon(daemon_);  // waits for what is being answered; closes the socket
  } else if (listening_ >= 0) {
    close(listening_);
  }
}

// Drops what nobody uses, and shuts connections whose client sends nothing, or a byte now and then.
void Server::watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_.wait_for(lock, kLook, [this] { return stopped_; })) {
    const auto now = Clock::now();
    for (auto& [connection, waiting] : waiting_)
      if (!waiting.is_served && now - waiting.since > kLongestRequest) shutdown(waiting.socket, SHUT_RDWR);
    lock.unlock();
    sessions_.drop_idle();
    lock.lock();
  }
}

void Server::on_connection(void* self, MHD_Connection* connection, void** /*socket_context*/,
                           MHD_ConnectionNotificationCode what) {
  auto& server = *static_cast<Server*>(self);
  const int socket = server.socket_of(connection);
  const std::lock_guard lock(server.mutex_);
  if (what == MHD_CONNECTION_NOTIFY_STARTED) {
    server.waiting_[connection] = {socket, Clock::now(), false};
  } else {
    server.waiting_.erase(connection);
  }
}

void Server::on_completed(void* self, MHD_Connection* connection, void** request,
                          MHD_RequestTerminationCode /*how*/) {
  auto& server = *static_cast<Server*>(self);
  delete static_cast<Request*>(*request);
  *request = nullptr;
  const std::lock_guard lock(server.mutex_);
  const auto waiting = server.waiting_.find(connection);
  if (waiting != server.waiting_.end()) waiting->second = {waiting->second.socket, Clock::now(), false};
}

MHD_Result Server::on_request(void* self, MHD_Connection* connection, const char* path, const char* method,
                              const char* /*version*/, const char* data, size_t* size, void** request) {
  auto& server = *static_cast<Server*>(self);
  auto* begun = static_cast<Request*>(*request);
  const std::span<const char> bytes(data, std::exchange(*size, 0));
  const MHD_Result result = server.take(connection, path, method, bytes, begun);
  *request = begun;
  return result;
}

MHD_Result Server::take(MHD_Connection* connection, const char* path, const char* method,
                        std::span<const char> data, Request*& request) {
  if (request == nullptr) {
    request = new Request(sessions_.all());
    // Refused before a body is read.
    Reply refused = refusal(connection, path, method);
    return refused.status == 200 ? MHD_YES : send(connection, std::move(refused));
  }
  if (!data.empty()) {
    if (request->body.size() + data.size() > kLargestBody) {
      request->is_too_long = true;
      request->body.clear();
    }
    if (!request->is_too_long && !request->is_refused) request->is_refused = !request->body.append(data);
    return MHD_YES;
  }
  {
    const std::lock_guard lock(mutex_);
    const auto waiting = waiting_.find(connection);
    if (waiting != waiting_.end()) waiting->second.is_served = true;
  }
  Reply reply = request->is_too_long ? text(413, "A question is at most 1 MiB long.\n")
                : request->is_refused
                    ? text(503, "The server has no memory left. Try again in a moment.\n")
                    : answer(connection, path, method, {request->body.data(), request->body.size()});
  return reply.is_gone ? MHD_NO : send(connection, std::move(reply));
}

std::string_view Server::header(MHD_Connection* connection, const char* name) const {
  const char* const value = http_.lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

int Server::socket_of(MHD_Connection* connection) const {
  const auto* const info = http_.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == nullptr ? -1 : static_cast<int>(info->connect_fd);
}

// Status 200: nothing is wrong with it so far.
Reply Server::refusal(MHD_Connection* connection, std::string_view path, std::string_view method) {
  const std::string_view host = header(connection, "Host");
  if (!access_.is_own_host(host))
    return text(403,
                "This server is not called so. Use the address that `gpustrata serve` printed, or tell "
                "it the name with --host.\n");
  if (!is_own_origin(header(connection, "Origin"), host))
    return text(403, "Pages of other sites are not answered.\n");
  const auto rest = below_token(path, access_.token);
  if (!rest)
    return text(404, "The address lacks the token: use the whole address that `gpustrata serve` printed.\n");
  const bool is_read = method == "GET" || method == "HEAD";
  if (!is_read && method != "POST") return text(405, "Only GET, HEAD and POST are answered.\n");
  const std::string_view site = header(connection, "Sec-Fetch-Site");
  if (!rest->empty() && !site.empty() && site != "same-origin" && site != "none")
    return text(403, "Pages of other sites are not answered.\n");
  return text(200, {});
}

Reply Server::answer(MHD_Connection* connection, std::string_view path, std::string_view method,
                     std::string_view body) {
  const std::string_view rest = below_token(path, access_.token).value_or("?");
  const bool is_post = method == "POST";
  if (rest.empty() && !is_post) {
    Reply page = text(200, options_.page);
    page.type = "text/html; charset=utf-8";
    return page;
  }
  if (rest == "files" && !is_post) return list();
  if (rest == "journals" && !is_post)
    return json_reply(200, answers::json_of(journals_.look()), sessions_.all());
  if (rest == "open" && is_post) return opened(sessions_.open(body));
  constexpr std::string_view kSessions = "sessions/";
  if (rest.starts_with(kSessions))
    return answer_session(connection, rest.substr(kSessions.size()), method, body);
  return text(404, "There is nothing here.\n");
}

Reply Server::answer_session(MHD_Connection* connection, std::string_view rest, std::string_view method,
                             std::string_view body) {
  const size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view what = rest.substr(std::min(slash + 1, rest.size()));
  const bool is_post = method == "POST";
  const std::shared_ptr<Client> client = sessions_.find(rest.substr(0, slash));
  if (!client)
    return text(410, "The server has closed this file, because nobody asked about it for a while.\n");
  if (what.empty() && !is_post) return json_reply(200, answers::json_of(client->reading()), sessions_.all());
  if (what == "again" && is_post) return opened(sessions_.open_again(*client));
  if (what == "close" && is_post) {
    (void)sessions_.close(client->id());
    return text(200, {});
  }
  if (what == "ask" && is_post) return answer_question(connection, *client, body);
  return text(404, "There is nothing here.\n");
}

Reply Server::answer_question(MHD_Connection* connection, Client& client, std::string_view question) {
  const int socket = socket_of(connection);
  const auto is_waiting = [socket] {
    char byte = 0;
    const ssize_t count = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
  };
  Reply reply(sessions_.all());
  // What says that there is no memory has some of its own.
  const auto take = [&, is_first = true](std::span<const std::byte> answer) mutable {
    if (!std::exchange(is_first, false)) reply = Reply(refusals_);
    return reply.set(answer);
  };
  reply.is_gone = !client.ask(std::as_bytes(std::span(question)), is_waiting, take);
  reply.type = "application/octet-stream";
  const char* const pack = http_.lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "pack");
  if (pack != nullptr) reply.pack(sessions_.all());
  return reply;
}

Reply Server::opened(const Result<std::shared_ptr<Client>>& client) {
  Budget& budget = sessions_.all();
  if (client) {
    const std::string name(client.value()->file()->name());
    return json_reply(200, answers::json_of(answers::OpenedSession{client.value()->id(), name}), budget);
  }
  const bool is_full = client.error().code == ErrorCode::limit_exceeded;
  return json_reply(is_full ? 503 : 404, answers::json_of(answers::Refused{client.error()}), budget);
}

Reply Server::text(unsigned status, std::string_view text) {
  return text_reply(status, text, sessions_.all());
}

Reply Server::list() {
  answers::ServedFiles served;
  const std::string about = files_.about();
  served.version = options_.version;
  served.served = about;
  std::vector<ListedFile> listed = files_.list(served.left_out);
  served.to_examine = peaks_.look_up(listed);
  for (ListedFile& file : listed) served.files.push_back(std::move(file.shown));
  std::stable_sort(served.files.begin(), served.files.end(), [](const auto& a, const auto& b) {
    return a.peak_bytes.value_or(-1) > b.peak_bytes.value_or(-1);
  });
  return json_reply(200, answers::json_of(served), sessions_.all());
}

// What is charged stays so until it is sent.
MHD_Response* Server::response_of(Reply& reply) const {
  if (!reply.lasting.empty() || reply.body.empty())
    // Not written to, whatever the type says.
    return http_.create_response_from_buffer(reply.lasting.size(), const_cast<char*>(reply.lasting.data()),
                                             MHD_RESPMEM_PERSISTENT);
  auto body = std::make_unique<Column<char>>(std::move(reply.body));
  const auto read = [](void* of, uint64_t from, char* to, size_t most) -> ssize_t {
    const auto left = static_cast<const Column<char>*>(of)->span().subspan(static_cast<size_t>(from));
    const size_t count = std::min(left.size(), most);
    std::copy_n(left.data(), count, to);
    return static_cast<ssize_t>(count);
  };
  const auto end = [](void* of) { delete static_cast<Column<char>*>(of); };
  MHD_Response* const response =
      http_.create_response_from_callback(body->size(), kPieceOfReply, read, body.get(), end);
  if (response != nullptr) (void)body.release();  // the response's, which ends it
  return response;
}

MHD_Result Server::send(MHD_Connection* connection, Reply reply) const {
  MHD_Response* const response = response_of(reply);
  if (response == nullptr) return MHD_NO;
  const auto say = [&](const char* name, std::string_view value) {
    (void)http_.add_response_header(response, name, std::string(value).c_str());
  };
  say("Content-Type", reply.type);
  if (reply.is_packed) say("Content-Encoding", "gzip");
  say("Cache-Control", "no-store");
  say("X-Content-Type-Options", "nosniff");
  say("Referrer-Policy", "no-referrer");  // the address holds the token
  say("Content-Security-Policy", "frame-ancestors 'none'");
  say("Cross-Origin-Resource-Policy", "same-origin");
  say("Cross-Origin-Opener-Policy", "same-origin");
  const MHD_Result queued = http_.queue_response(connection, reply.status, response);
  http_.destroy_response(response);
  return queued;
}

}  // namespace gpustrata::serve
