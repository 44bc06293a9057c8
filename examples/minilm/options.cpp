#include "options.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

namespace minilm {
namespace {

// "--in, --out, …"
std::string option_names(const CLI::App& app) {
  std::string names;
  for (const CLI::Option* option : app.get_options()) names += (names.empty() ? "" : ", ") + option->get_name();
  return names;
}

}  // namespace

std::optional<Options> parse_options(const std::vector<std::string>& arguments, std::string* help) {
  Options options;
  int threads = 0;
  CLI::App app("Embeds sentences with a BERT encoder (MiniLM) and prints the pairs that are closest in meaning.",
               "minilm");
  app.set_help_flag("--help", "this text");
  app.add_option("--model", options.model, "folder with vocab.txt and model.safetensors")->required();
  app.add_option("--in", options.in, "UTF-8 file with one sentence a line; without it, sample sentences");
  app.add_option("--out", options.out, "npy file to write the embeddings to");
  CLI::Option* threads_option =
      app.add_option("--threads", threads, "threads to use; without it, one a core")->check(CLI::Range(1, 4096));
  app.add_flag("--bench", options.bench, "measure instead of embedding sentences");
  app.add_option("--device", options.device, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--dtype", options.dtype, "f32 or bf16")->check(CLI::IsMember({"f32", "bf16"}));
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    *help = app.help();
    return std::nullopt;
  } catch (const CLI::ParseError& e) {
    throw stax::UserError(e.what(), {}, fmt::format("Valid options are {}.", option_names(app)));
  }
  if (threads_option->count() > 0) options.threads = threads;
  return options;
}

}  // namespace minilm
