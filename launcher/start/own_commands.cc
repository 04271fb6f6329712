#include "launcher/start/own_commands.h"

#include <variant>

#include <unistd.h>

#include "common/os/fd.h"
#include "launcher/control/client.h"
#include "launcher/control/job_finder.h"
#include "launcher/inputs/install_links.h"
#include "launcher/inputs/own_address.h"
#include "launcher/inputs/secret_file.h"
#include "launcher/options/control_line.h"
#include "launcher/start/refusal.h"
#include "launcher/top/top.h"

namespace sml {

int make_secret(const ThisHost& here) {
  const std::string folder = here.config_folder();
  if (folder.empty()) return refuse(Error(ErrorKind::Config, "--make-secret: there is no home folder"));
  const std::string path = default_secret_file(folder);
  if (Result<void> made = make_secret_file(path); !made) return refuse(Error(made.error()).in("--make-secret"));
  print("hosts that do not share this file need a copy of it, mode 600");
  return os::write_all(STDOUT_FILENO, path + "\n") ? 0 : 1;
}

int make_links(const std::string& folder) {
  const Result<std::string> program = own_program();
  if (!program) return refuse(Error(program.error()).in("--install-links"));
  const Result<std::vector<std::string>> made = install_links(folder, *program);
  if (!made) return refuse(Error(made.error()).in("--install-links"));
  std::string text;
  for (const std::string& path : *made) text += path + "\n";
  return os::write_all(STDOUT_FILENO, text) ? 0 : 1;
}

int speak_to_jobs(const std::vector<std::string>& arguments) {
  const Result<std::variant<ControlLine, Printed>> line = parse_control_line(arguments);
  if (!line) return refuse(line.error());
  if (const auto* printed = std::get_if<Printed>(&*line)) return os::write_all(STDOUT_FILENO, printed->text) ? 0 : 1;
  const auto& asked = std::get<ControlLine>(*line);
  if (asked.word != ControlWord::Top) return control::obey(asked, print);
  const Result<control::JobSocket> job = control::find_job(asked.job);
  if (job) return top::show(*job, print);
  refuse(Error(job.error()).in("top"));
  return 1;
}

}  // namespace sml
