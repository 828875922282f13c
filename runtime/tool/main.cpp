#include <fmt/format.h>
#include <fmt/ranges.h>
#include <qkv/registry.hpp>

#include <fcntl.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>

#include "call/libraries.hpp"
#include "devices/devices.hpp"
#include "files/file.hpp"
#include "serve/serve.hpp"
#include "tool/commands.hpp"

namespace qkv::tool {
namespace {

constexpr const char *usage =
    "list | describe K | run K --in Q=q.npy ... --out O=o.npy | check K | bench K | serve\n"
    "  K is the name of a kernel. check compares it with the reference interpreter on random inputs,\n"
    "  bench measures it, serve runs the cases of a benchmark that it reads from stdin.\n"
    "  --svg FILE            describe: where to draw the pipeline\n"
    "  --size seq=1000 ...   describe, check, bench: sizes of axes that the call decides\n"
    "  --threads N           run, check, bench: most threads to use\n"
    "  --seed N              check, bench: of random inputs\n"
    "  --finite-differences  check: compares a gradient with differences of its kernel, too\n"
    "  --device cuda|opencl  run, check, bench: where to run\n";

using std::string_view;

const qkv_kernel &find(string_view name) {
  const qkv_kernel *found = nullptr;
  const status s = detail::find_table(name, found);
  if (found) return *found;
  if (s.code() != status_code::not_linked) throw refusal(s.text());
  std::vector<string_view> names;
  for (const qkv_kernel *k : kernels()) names.push_back(k->name);
  throw refusal(fmt::format("there is no kernel {}; there are: {}", name, fmt::join(names, ", ")));
}

std::int64_t number(string_view text, string_view what) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || n < 0 || n > INT32_MAX) {
    throw refusal(fmt::format("{} needs a number from 0 to {}, not {}", what, INT32_MAX, text));
  }
  return n;
}

// Options that take a list go on until the next option.
request read(int argc, char **argv, const std::vector<entry> &entries) {
  if (argc < 3) throw refusal("which kernel?");
  request r(find(argv[2]));
  for (const entry &e : entries) {
    if (e.name == argv[2]) r.spec = &e;
  }
  string_view option;
  bool taken = true;
  for (int i = 3; i < argc; ++i) {
    const string_view word = argv[i];
    if (word == "--help") throw refusal(usage);
    if (word == "--finite-differences") {
      if (!taken) throw refusal(fmt::format("{} needs a value", option));
      r.by_differences = true;
      option = {};
      continue;
    }
    if (word.substr(0, 2) == "--") {
      if (!taken) throw refusal(fmt::format("{} needs a value", option));
      option = word;
      taken = false;
      continue;
    }
    taken = true;
    const std::size_t equals = word.find('=');
    const auto pair = [&] {
      if (equals == 0 || equals == string_view::npos)
        throw refusal(fmt::format("{} needs name=value, not {}", option, word));
      return std::pair{std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))};
    };
    if (option == "--size") {
      const auto [name, n] = pair();
      r.size[name] = number(n, name);
    } else if (option == "--in") {
      r.in.insert(pair());
    } else if (option == "--out") {
      r.out.insert(pair());
    } else if (option == "--svg") {
      r.svg = word;
    } else if (option == "--threads") {
      r.threads = static_cast<int>(number(word, option));
    } else if (option == "--seed") {
      r.seed = static_cast<unsigned>(number(word, option));
    } else if (option == "--device") {
      const detail::device_kind *kind = detail::kind_named(word);
      if (!kind) throw refusal(fmt::format("--device is {}, not {}", detail::device_names(), word));
      r.on = static_cast<device>(kind->number);
    } else {
      throw refusal(fmt::format("{}: not understood", option.empty() ? word : option));
    }
  }
  if (!taken) throw refusal(fmt::format("{} needs a value", option));
  return r;
}

}  // namespace

kernel_sizes request::sizes_asked() const {
  kernel_sizes s(kernel);
  for (const auto &[name, n] : size) {
    if (!s.set(name, n))
      throw refusal(
          s.fixed(name) < 0
              ? fmt::format("{} has no axis {}: {}", kernel.name, name, signature_text(kernel))
              : fmt::format("{}: axis {} is fixed at {}", kernel.name, name, s.fixed(name)));
  }
  return s;
}

void list(const std::vector<entry> &) {
  for (const qkv_kernel *k : kernels()) {
    std::vector<std::string_view> machines;
    for (int i = 0; i < k->n_variants; ++i) machines.push_back(k->variants[i].machine);
    fmt::print("{}   [{}]\n", signature_text(*k), fmt::join(machines, " "));
  }
}

void describe(const request &r) {
  if (r.spec && r.spec->describe) {
    fmt::print("{}\n", r.spec->describe(r.sizes_asked().by_name()));
  } else {
    fmt::print("{}\n", signature_text(r.kernel));
  }
  if (r.svg.empty()) return;
  if (!r.spec || !r.spec->picture) throw refusal("this tool has no pictures");
  const std::string picture = r.spec->picture(r.sizes_asked().by_name());
  detail::new_file file(r.svg);
  if (!file.write(picture.data(), picture.size()) || !file.put_in_place())
    throw refusal(fmt::format("{}: {}", r.svg, std::strerror(errno)));
}

namespace {

// Runs a command and returns its exit code.
int carry_out(string_view command, int argc, char **argv, const std::vector<entry> &entries) {
  if (command == "list") {
    list(entries);
  } else if (command == "describe") {
    describe(read(argc, argv, entries));
  } else if (command == "run") {
    run(read(argc, argv, entries));
  } else if (command == "check") {
    return check(read(argc, argv, entries)) ? 0 : 1;
  } else if (command == "bench") {
    bench(read(argc, argv, entries));
  } else if (command == "serve") {
    return serving::serve();
  } else {
    fmt::print(stderr, "{} {}", argv[0], usage);
    return command == "help" || command == "--help" ? 0 : 2;
  }
  return 0;
}

// Opens the standard streams that are closed: a file must not get the number of one, or output
// would go into it.
void occupy_closed_streams() {
  for (const int stream : {0, 1, 2}) {
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF)
      (void)!open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);  // using it still fails
  }
}

int refused(const char *why) {
  std::fputs(why, stderr);
  std::fputc('\n', stderr);
  return 2;
}

}  // namespace

void flush_output() {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return;
  throw refusal(fmt::format("standard output: {}", std::strerror(errno)));
}

int main(int argc, char **argv, const std::vector<entry> &entries) {
  occupy_closed_streams();
  // A reader of our output that goes away is an error to report, not a reason to die.
  void (*const before)(int) = std::signal(SIGPIPE, SIG_IGN);
  int code = 2;
  try {
    code = carry_out(argc > 1 ? argv[1] : "", argc, argv, entries);
    flush_output();
  } catch (const std::bad_alloc &) {
    code = refused("no memory for tensors of these sizes");
  } catch (const std::exception &e) {
    code = refused(e.what());
  }
  std::signal(SIGPIPE, before);
  return code;
}

}  // namespace qkv::tool
