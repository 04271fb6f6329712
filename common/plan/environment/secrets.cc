#include "common/plan/environment/secrets.h"

#include <algorithm>
#include <array>

#include "common/core/letters.h"
#include "common/plan/environment/kept_back.h"

namespace sml::plan {

namespace {

using std::string_view;

template <std::size_t N>
bool is_one_of(const std::array<string_view, N>& list, string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// The words of a name in capitals, without trailing digits: "apiKey_2" → APIKEY.
std::vector<std::string> capital_words_of(string_view name) {
  std::vector<std::string> out(1);
  for (const char c : name) {
    if (is_letter_or_digit(c)) {
      out.back() += upper(c);
    } else {
      out.emplace_back();
    }
  }
  for (std::string& word : out) word.erase(word.find_last_not_of("0123456789") + 1);
  std::erase(out, std::string());
  return out;
}

// True for the last word of a setting about secrets, or of the place of one.
bool speaks_of_secrets(string_view last_word) {
  constexpr std::array<string_view, 22> kLast{"FILE",   "FILES", "PATH",  "DIR",  "DIRECTORY", "FOLDER", "HOME", "SOCK",
                                              "SOCKET", "URL",   "URI",   "HOST", "PORT",      "NAME",   "TYPE", "SIZE",
                                              "LENGTH", "LIMIT", "COUNT", "TIME", "TIMEOUT",   "ENABLED"};
  return is_one_of(kLast, last_word);
}

bool ends_as_secrets_do(string_view word) {
  constexpr std::array<string_view, 15> kEndings{"SECRET",     "SECRETS",   "PASSWORD",  "PASSWORDS",  "PASSWD",
                                                 "PASSPHRASE", "SSHPASS",   "CREDS",     "CREDENTIAL", "CREDENTIALS",
                                                 "APIKEY",     "SECRETKEY", "ACCESSKEY", "PRIVATEKEY", "SECRETID"};
  return std::any_of(kEndings.begin(), kEndings.end(), [&](string_view ending) { return word.ends_with(ending); });
}

// Tokens that language models count or insert, and a switch of huggingface_hub.
bool is_other_token(string_view before) {
  constexpr std::array<string_view, 12> kBefore{"PAD",  "EOS",  "BOS", "UNK", "SEP", "CLS",
                                                "MASK", "STOP", "MAX", "NUM", "PER", "IMPLICIT"};
  return is_one_of(kBefore, before);
}

bool is_switch(string_view before) {
  constexpr std::array<string_view, 7> kBefore{"USE", "NO", "ENABLE", "DISABLE", "REQUIRE", "SKIP", "WITH"};
  return is_one_of(kBefore, before);
}

// True for DB_PWD and LDAP_BINDPW, but not for PWD.
bool is_short_password(string_view word, string_view before) {
  const bool ends = word.ends_with("PWD") || (word.ends_with("PW") && word.size() > 2);
  return (ends && word != "PWD" && word != "OLDPWD") || (word == "PWD" && !before.empty());
}

bool names_a_credential(string_view last_word) {
  constexpr std::array<string_view, 7> kWords{"AUTH", "AUTHORIZATION", "BEARER", "COOKIE", "COOKIES", "DSN", "OTP"};
  return is_one_of(kWords, last_word);
}

bool is_other_key(string_view before) {
  constexpr std::array<string_view, 7> kBefore{"PUBLIC", "PRIMARY", "FOREIGN", "SORT", "PARTITION", "CACHE", "GROUP"};
  return is_one_of(kBefore, before);
}

// True for the value of a switch, such as OAR_KEY=1.
bool is_switch_value(string_view value) {
  constexpr std::array<string_view, 14> kValues{"0",     "1",   "true", "false", "True", "False", "TRUE",
                                                "FALSE", "yes", "no",   "on",    "off",  "YES",   "NO"};
  return is_one_of(kValues, value);
}

// True if the value contains a URL with a password, such as postgres://user:word@host/base.
bool value_holds_a_secret(string_view value) {
  constexpr string_view kScheme = "://";
  for (std::size_t at = value.find(kScheme); at != string_view::npos; at = value.find(kScheme)) {
    value.remove_prefix(at + kScheme.size());
    const string_view place = value.substr(0, value.find_first_of("/?#, \t\n"));
    const string_view user = place.substr(0, std::min(place.rfind('@'), place.size()));
    const std::size_t colon = user.find(':');
    if (user.size() < place.size() && colon != string_view::npos && colon + 1 < user.size()) return true;
  }
  return false;
}

}  // namespace

bool names_a_secret(string_view name) {
  constexpr std::array<string_view, 1> kHeld{"DOCKER_AUTH_CONFIG"};
  constexpr string_view kPlace = "GOOGLE_APPLICATION_CREDENTIALS";  // the path of a file
  if (is_one_of(kHeld, name)) return true;
  std::vector<std::string> words = capital_words_of(name);
  const bool webhook = std::any_of(words.begin(), words.end(),
                                   [](const std::string& word) { return word.find("WEBHOOK") != std::string::npos; });
  if (webhook) return true;  // its URL is the secret
  if (words.empty() || name == kPlace || speaks_of_secrets(words.back())) return false;
  if (words.size() > 1 && words.back() == "ID") words.pop_back();  // AWS_ACCESS_KEY_ID is of no use without its secret
  for (std::size_t i = 0; i < words.size(); ++i) {
    const string_view word = words[i], before = i > 0 ? string_view(words[i - 1]) : string_view();
    const bool last = i + 1 == words.size();
    if (ends_as_secrets_do(word) || word == "JWT") return true;
    if (word.ends_with("TOKEN") && !is_other_token(before)) return true;
    if (last && (word == "KEY" || word == "KEYS") && !is_other_key(before)) return true;
    if (last && i > 0 && (word == "PASS" || word == "PAT")) return true;
    if (last && (is_short_password(word, before) || (names_a_credential(word) && !is_switch(before)))) return true;
    if (last && word == "STRING" && before == "CONNECTION") return true;
  }
  return false;
}

bool holds_a_secret(string_view entry) {
  const string_view value = value_of(entry);
  if (value.empty() || is_switch_value(value)) return false;
  return names_a_secret(name_of(entry)) || value_holds_a_secret(value);
}

std::vector<std::string> secrets_for_other_hosts(std::span<const std::string> environment) {
  std::vector<std::string> out;
  for (const std::string& entry : for_other_hosts(environment)) {
    if (holds_a_secret(entry)) out.emplace_back(name_of(entry));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string say_withheld(std::span<const std::string> names) {
  constexpr std::size_t kMostNames = 20;
  const bool one = names.size() == 1;
  std::string out = std::to_string(names.size()) + (one ? " variable that looks like a secret stays here: "
                                                        : " variables that look like secrets stay here: ");
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) out += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kMostNames) out += ", ...";
  return out + "; -x NAME or --export-secrets sends " + (one ? "it" : "them");
}

}  // namespace sml::plan
