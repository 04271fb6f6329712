#include "launcher/options/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "launcher/options/text/guesses.h"

namespace sml {

namespace {

using dialects::Dialect;
using std::string_view;

// The advice for an option that is none of ours.
std::string advice_on(string_view word) {
  const string_view name = word.substr(0, word.find_last_not_of("0123456789") + 1);
  const OptionRow* row = name == word ? nullptr : find_row(name);
  if (row != nullptr && !row->is_flag()) return fmt::format("write {} {}", name, word.substr(name.size()));
  if (find_row(word) != nullptr)
    return "only lines of other launchers, under their names, have it: see sml-run --help rare";
  if (word == "-m") return "it is torchrun's and Python's; write: sml-run -np 2 python3 -m MODULE";
  if (std::string meant = advice_on_foreign_option(without_dashes(word)); !meant.empty()) return meant;
  std::vector<string_view> spellings;
  for_each_row([&](const OptionRow& known) {
    if (known.listed == Listed::UnderOtherNames) return;
    for (string_view s : spellings_of(known)) spellings.push_back(s);
  });
  std::vector<string_view> names;
  for (string_view s : spellings) names.push_back(without_dashes(s));
  const string_view best = nearest(without_dashes(word), names);
  const auto index = static_cast<std::size_t>(std::find(names.begin(), names.end(), best) - names.begin());
  return index == names.size() ? "sml-run --help all lists them" : fmt::format("did you mean {}?", spellings[index]);
}

Error unknown_option(string_view word) {
  return Error(ErrorKind::Usage, fmt::format("unknown option {}; {}", show(word, 80), advice_on(word)));
}

// One word of the command line, split into option and value: "-np", "--np=4", "-n4".
struct Word {
  const OptionRow* row = nullptr;
  string_view spelling;
  std::optional<string_view> value;
};

// As torchrun spells its options: "--max_restarts" is --max-restarts. Words that are taken as torchrun's own stay so,
// as they may mean more: "--master_addr" names the head.
const OptionRow* row_of(Dialect dialect, string_view spelling) {
  const auto known = [dialect](string_view word) -> const OptionRow* {
    const OptionRow* row = find_row(word);
    const bool hidden = row != nullptr && row->listed == Listed::UnderOtherNames && dialect == Dialect::Own;
    return hidden ? nullptr : row;
  };
  const OptionRow* row = known(spelling);
  if (row != nullptr || !spelling.starts_with("--") || spelling.find('_') == string_view::npos) return row;
  const dialects::Row* foreign = dialects::find_row(Dialect::Own, spelling);
  if (foreign != nullptr && foreign == dialects::find_row(Dialect::Torchrun, spelling)) return nullptr;
  std::string dashed(spelling);
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  return known(dashed);
}

Word cut_word(Dialect dialect, string_view word) {
  if (const OptionRow* row = row_of(dialect, word)) return {row, word, std::nullopt};
  const std::size_t equals = word.find('=');
  if (equals != string_view::npos)
    return {row_of(dialect, word.substr(0, equals)), word.substr(0, equals), word.substr(equals + 1)};
  const bool number_follows = word.size() > 2 && word[1] != '-' && all_digits(word.substr(2));
  const OptionRow* row = number_follows ? find_row(word.substr(0, 2)) : nullptr;
  if (row != nullptr && !row->value.empty()) return {row, word.substr(0, 2), word.substr(2)};
  return {nullptr, word, std::nullopt};
}

// ---- options of other launchers

// Such an option, with the value from the same word.
struct ForeignWord {
  const dialects::Row* row = nullptr;
  string_view spelling;
  std::optional<std::string> value;
};

ForeignWord cut_foreign(Dialect dialect, string_view word) {
  if (const dialects::Row* row = dialects::find_row(dialect, word)) return {row, word, std::nullopt};
  const std::size_t equals = std::min(word.find('='), word.size());
  const string_view front = word.substr(0, equals);
  std::optional<std::string> value;
  if (equals < word.size()) value = std::string(word.substr(equals + 1));
  if (const dialects::Row* row = dialects::find_row(dialect, front)) return {row, front, value};
  const bool number_follows = word.size() > 2 && word[1] != '-' && all_digits(word.substr(2));
  const dialects::Row* row = number_follows ? dialects::find_row(dialect, word.substr(0, 2)) : nullptr;
  if (row != nullptr && row->values == 1) return {row, word.substr(0, 2), std::string(word.substr(2))};
  if (cut_word(dialect, word).row != nullptr) return {};  // an option of sml-run
  return {dialects::find_cut_short(dialect, front), front, value};
}

// Rejects a second option of a mutually exclusive group.
Result<void> take_choice(Scan::Chosen word, Scan& out) {
  if (word.row->choice.empty()) return {};
  const auto excludes = [&](const Scan::Chosen& other) {
    return other.row->choice == word.row->choice && other.row != word.row;
  };
  const auto other = std::find_if(out.chosen.begin(), out.chosen.end(), excludes);
  if (other != out.chosen.end()) {
    return Error(ErrorKind::Usage, fmt::format("{0} cannot be had together with {1}; leave one of the two out",
                                               word.written, other->written));
  }
  out.chosen.push_back(std::move(word));
  return {};
}

}  // namespace

void add_note(std::vector<std::string>& notes, std::string note) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
}

Result<bool> take_foreign(Dialect dialect, std::span<const std::string>& words, Scan& out) {
  const ForeignWord word = cut_foreign(dialect, words.front());
  if (word.row == nullptr) return false;
  words = words.subspan(1);
  std::vector<std::string> values;
  if (word.value) values.push_back(*word.value);
  if (values.size() > word.row->values && word.row->optional != dialects::OptionalValue::AfterEquals) {
    return Error(ErrorKind::Usage, fmt::format("{0} takes no value; write {0} alone", word.spelling));
  }
  const auto is_whole = [&] {
    const bool first = word.row->optional == dialects::OptionalValue::InFirst && values.size() == 1;
    return values.size() >= word.row->values || (first && values.front().find('=') != std::string::npos);
  };
  for (; !is_whole(); words = words.subspan(1)) {
    if (words.empty()) return Error(ErrorKind::Usage, fmt::format("{} needs a value", word.spelling));
    values.push_back(words.front());
  }
  if (std::any_of(values.begin(), values.end(), [](const std::string& value) { return value.empty(); })) {
    return Error(ErrorKind::Usage, fmt::format("{} has an empty value", word.spelling));
  }
  if (Result<void> alone = take_choice({word.row, std::string(word.spelling)}, out); !alone) return alone.error();
  Result<dialects::OptionTranslation> meaning = word.row->meaning(word.spelling, values);
  if (!meaning) return Error(meaning.error()).in(word.spelling);
  for (dialects::SetOption& given : meaning->options) {
    out.options.push_back({find_row(given.option), std::string(word.spelling), std::move(given.value)});
  }
  if (!meaning->note.empty()) add_note(out.notes, std::move(meaning->note));
  dialects::merge(out.rendezvous, meaning->rendezvous);
  if (!meaning->needs_hosts.empty()) out.needs_hosts.push_back(std::move(meaning->needs_hosts));
  if (!meaning->needs_count.empty()) out.needs_count.push_back(std::move(meaning->needs_count));
  if (!meaning->config_file.empty()) out.config_file = std::move(meaning->config_file);
  if (!meaning->for_defaults.written.empty()) out.for_defaults.push_back(std::move(meaning->for_defaults));
  if (meaning->program != dialects::Program::Unchanged) out.program_is = meaning->program;
  return true;
}

namespace {

// Removes one option from the front of `words`, with its value.
Result<OptionValue> take_option(Dialect dialect, std::span<const std::string>& words) {
  const Word word = cut_word(dialect, words.front());
  words = words.subspan(1);
  if (word.row == nullptr) return unknown_option(word.spelling);
  OptionValue out{word.row, std::string(word.spelling), "", Layer::CommandLine, ""};
  if (main_spelling(*word.row) == "--help") {
    if (word.value || !words.empty()) out.value = word.value ? *word.value : words.front();
    return out;
  }
  if (word.row->value.empty()) {
    if (word.value) return Error(ErrorKind::Usage, fmt::format("{0} takes no value; write {0} alone", word.spelling));
    return out;
  }
  if (word.value) {
    out.value = *word.value;
  } else if (!words.empty()) {
    out.value = words.front();
    words = words.subspan(1);
  } else {
    return Error(ErrorKind::Usage, fmt::format("{0} needs a value; write {0} {1}", word.spelling, word.row->value));
  }
  if (!out.value.empty()) return out;
  return Error(ErrorKind::Usage, fmt::format("{0} has an empty value; write {0} {1}", word.spelling, word.row->value));
}

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

// SageMaker starts a container with the word "train" or "serve"; options may stand before and after it.
Result<Mode> take_mode(std::span<const std::string>& words) {
  if (words.size() == 1 && words.front() == "serve") {
    return Error(ErrorKind::Usage,
                 "serve: sml-run trains models and serves none; to start a program of that name write "
                 "./serve");
  }
  if (words.empty() || words.front() != "train") return Mode::Program;
  if (words.size() > 1 && !is_option(words[1])) {
    return Error(ErrorKind::Usage, fmt::format("train: \"{}\" is no option; write sml-run train -- PROGRAM, or ./train "
                                               "for a program of that name",
                                               show(words[1], 60)));
  }
  words = words.subspan(1);
  return Mode::Train;
}

// Takes the options at the front of `words`; returns what may follow them.
enum class After : std::uint8_t { Anything, Program };
Result<After> take_options(Dialect dialect, std::span<const std::string>& words, Scan& out) {
  while (!words.empty() && is_option(words.front())) {
    if (words.front() == "--") {
      words = words.subspan(1);
      return After::Program;
    }
    const bool ours_first = dialect == Dialect::Own && cut_word(dialect, words.front()).row != nullptr;
    const Result<bool> foreign = ours_first ? Result<bool>(false) : take_foreign(dialect, words, out);
    if (!foreign) return foreign.error();
    if (!*foreign) {
      Result<OptionValue> option = take_option(dialect, words);
      if (!option) return option.error();
      out.options.push_back(std::move(*option));
    }
    if (!out.options.empty() && out.options.back().row->set == nullptr)
      return After::Program;  // after --help and --version, all words are ignored
  }
  return After::Anything;
}

// Removes the first program from `words`, and the ":" after it. After "--" all words belong to the program.
Result<void> take_program(std::span<const std::string>& words, After after, Scan& out) {
  const auto is_word = [](string_view wanted) { return [wanted](const std::string& word) { return word == wanted; }; };
  if (after == After::Anything && std::any_of(words.begin(), words.end(), is_word("::"))) {
    return Error(
        ErrorKind::Usage,
        "\"::\" separates nothing; write one \":\" between two programs, or -- before a program that takes it");
  }
  const auto end = after == After::Program ? words.end() : std::find_if(words.begin(), words.end(), is_word(":"));
  const auto size = static_cast<std::size_t>(end - words.begin());
  out.program = words.subspan(0, size);
  out.another_follows = end != words.end();
  words = words.subspan(size + (out.another_follows ? 1 : 0));
  return {};
}

// mpirun's -H adds to an earlier -H.
void join_hosts(std::vector<OptionValue>& options) {
  const OptionRow* row = find_row("--hosts");
  std::string all;
  for (const OptionValue& o : options) {
    if (o.row == row) all += (all.empty() ? "" : ",") + o.value;
  }
  for (OptionValue& o : options) {
    if (o.row == row) o.value = all;
  }
}

}  // namespace

Result<Scan> scan(Dialect dialect, std::span<const std::string>& words) {
  Scan out;
  Result<After> after = take_options(dialect, words, out);
  if (!after) return after.error();
  if (dialect == Dialect::Mpirun) join_hosts(out.options);
  if (*after == After::Anything && dialect == Dialect::Own) {
    const Result<Mode> mode = take_mode(words);
    if (!mode) return mode.error();
    out.mode = *mode;
    if (*mode == Mode::Train) after = take_options(dialect, words, out);
    if (!after) return after.error();
  }
  if (Result<void> taken = take_program(words, *after, out); !taken) return taken.error();
  if (out.mode == Mode::Train && out.another_follows) {
    return Error(ErrorKind::Usage, "train: the job has one program; \":\" begins another");
  }
  return out;
}

Result<Scan> scan_further(Dialect dialect, std::span<const std::string>& words) {
  Scan out;
  const Result<After> after = take_options(dialect, words, out);
  if (!after) return after.error();
  for (const OptionValue& o : out.options) {
    if (o.row->holds_for == HoldsFor::Program) continue;
    return Error(ErrorKind::Usage,
                 fmt::format("{} holds for the whole job; give it before the first program", o.spelling));
  }
  if (Result<void> taken = take_program(words, *after, out); !taken) return taken.error();
  return out;
}

}  // namespace sml
