#include "launcher/plan/env_file.h"

#include "launcher/plan/export_words.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::plan;

TEST_CASE("an env file is read line by line") {
  struct Row {
    std::string text;
    Environment expected;
  };
  const Row rows[] = {
      {"", {}},
      {"\n\n  \n# a comment\n   # another\n", {}},
      {"A=1\nB=2", {"A=1", "B=2"}},
      {"export A=1\n  export\tB=2\n", {"A=1", "B=2"}},
      {"exported=1\nexport_=2\nexport=3", {"exported=1", "export_=2", "export=3"}},
      {" A = 1 2 \n", {"A=1 2"}},
      {"A=\nB=''\nC=\"\"", {"A=", "B=", "C="}},
      {"A=a=b=c", {"A=a=b=c"}},
      {"A=x # comment\nB=x#y\nC=#fff\nD='#' # c\n", {"A=x", "B=x#y", "C=#fff", "D=#"}},
      {"A='$HOME \\n \"'\n", {"A=$HOME \\n \""}},
      {"A=\"a\\nb\\t\\\"\\\\ \\$X \\d\"", {"A=a\nb\t\"\\ $X \\d"}},
      {"A=$HOME `id` $(id)", {"A=$HOME `id` $(id)"}},
      {"A='one\ntwo'\nB=\"x\ny\"\nC=3", {"A=one\ntwo", "B=x\ny", "C=3"}},
      {"A=1\r\nB='2'\r\n\r\n", {"A=1", "B=2"}},
      {"\xEF\xBB\xBF"
       "A=1",
       {"A=1"}},
      {"A=\xff\xfe", {"A=\xff\xfe"}},
      {"SM_HP_LEARNING-RATE=1\na.b=2\n_=3", {"SM_HP_LEARNING-RATE=1", "a.b=2", "_=3"}},
      {"A=1\nA=2", {"A=1", "A=2"}},
      {"A=it's", {"A=it's"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto variables = parse_env_file(row.text, "f");
    REQUIRE(variables.has_value());
    CHECK(*variables == row.expected);
  }
}

TEST_CASE("errors of an env file name the line and never show it") {
  const std::string name =
      "no variable name before \"=\"; expected letters, digits, \"_\", \".\" and \"-\", no digit first";
  struct Row {
    std::string text;
    std::string message;
  };
  const Row rows[] = {
      {"A=1\nsecret", "f:2: no \"=\" in the line; expected NAME=VALUE"},
      {"export", "f:1: no \"=\" in the line; expected NAME=VALUE"},
      {"=secret", "f:1: " + name},
      {"1A=secret", "f:1: " + name},
      {"A B=secret", "f:1: " + name},
      {"A;B=secret", "f:1: " + name},
      {"BASH_FUNC_f%%=secret", "f:1: " + name},
      {"A='x\ny'\n\nB='secret\n\n", "f:4: closing ' is missing"},
      {"A=\"secret\\\"", "f:1: closing \" is missing"},
      {"A='x' secret", "f:1: text follows the closing quote"},
      {"A='x'secret", "f:1: text follows the closing quote"},
      {std::string("A=1\nB=secret\0x", 14), "f:2: a value cannot hold a NUL byte"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto variables = parse_env_file(row.text, "f");
    REQUIRE(variables.has_error());
    CHECK(variables.error().kind() == ErrorKind::Config);
    CHECK(variables.error().message() == row.message);
    CHECK(variables.error().message().find("secret") == std::string::npos);
  }
  CHECK(parse_env_file(std::string(kMaxEnvFileBytes + 1, '\n'), "f").error().message() == "f: is larger than 4 MiB");
}

TEST_CASE("-x sets, passes, and passes by prefix") {
  const Environment launcher{"A=1", "WANDB_MODE=off",         "WANDB_KEY=k=v",    "HOME=/root",
                             "A=2", "OMPI_COMM_WORLD_RANK=3", "OMPI_MCA_btl=tcp", "SSH_AUTH_SOCK=/s"};
  const std::vector<std::string> words{"B=x y", "A", "WANDB_*", "EMPTY=", "HOME", "OMPI_*"};
  const ExportedVariables exported = resolve_export_words(words, launcher);
  CHECK(exported.variables ==
        Environment{"B=x y", "A=2", "WANDB_MODE=off", "WANDB_KEY=k=v", "EMPTY=", "HOME=/root", "OMPI_MCA_btl=tcp"});
  CHECK(exported.warnings.empty());
}

TEST_CASE("-x of what is not set warns, once a name") {
  const std::vector<std::string> words{"NOPE", "NOPE", "NONE_*", "SSH_*"};
  const ExportedVariables exported = resolve_export_words(words, Environment{"SSH_TTY=/dev/pts/1"});
  CHECK(exported.variables.empty());
  CHECK(exported.warnings == std::vector<std::string>{
                                 "-x NOPE: not set in the launcher's environment, so not passed",
                                 "-x 'NONE_*': no variable that can be passed begins so",
                                 "-x 'SSH_*': no variable that can be passed begins so",
                             });
}

TEST_CASE("-x of a secret's value warns, as the value stands in our arguments") {
  const std::vector<std::string> safe{"API_TOKEN", "MODE=fast", "LEVEL=token", "AWS_*"};
  CHECK(resolve_export_words(safe, Environment{"API_TOKEN=x", "AWS_SECRET_ACCESS_KEY=x"}).warnings.empty());
  for (const char* name : {"API_TOKEN", "my_secret", "AWS_ACCESS_KEY_ID", "PGPASSWORD"}) {
    CAPTURE(name);
    const std::vector<std::string> words{std::string(name) + "=s3cr3t"};
    const ExportedVariables exported = resolve_export_words(words, Environment{});
    CHECK(exported.variables == words);
    REQUIRE(exported.warnings.size() == 1);
    CHECK(exported.warnings[0].find(name) != std::string::npos);
    CHECK(exported.warnings[0].find("s3cr3t") == std::string::npos);
  }
}

TEST_CASE("functions that bash has exported are passed where they are asked for by their own names") {
  const Environment environment{"BASH_FUNC_module%%=() { echo ok; }", "BASH_FUNC_ml()=() { :; }", "BASH_ENV=/x",
                                "BASH=1"};
  const std::vector<std::string> all{"BASH_FUNC_*"}, one{"BASH_FUNC_module%%"}, others{"BASH*"};
  REQUIRE(check_export_word(one[0]).has_value());
  CHECK(resolve_export_words(all, environment).variables == Environment(environment.begin(), environment.begin() + 2));
  CHECK(resolve_export_words(one, environment).variables == Environment{environment[0]});
  CHECK(resolve_export_words(others, environment).variables == Environment{"BASH=1"});
}

TEST_CASE("words that -x cannot mean are refused without their value") {
  for (const char* good : {"A", "A=", "A=b", "A_*", "a.b-c=1", "_=*", "A=1*"}) {
    CAPTURE(good);
    CHECK(check_export_word(good).has_value());
  }
  struct Row {
    const char* word;
    const char* shown;
  };
  for (const Row& row :
       {Row{"=secret", ""}, Row{"1A=secret", "1A"}, Row{"A;B=secret", "A;B"}, Row{"*", "*"}, Row{"A**", "A**"},
        Row{"*A", "*A"}, Row{"A*=secret", "A*"}, Row{"FUNC_f%%", "FUNC_f%%"}, Row{"A B", "A B"}, Row{"", ""}}) {
    CAPTURE(row.word);
    const auto checked = check_export_word(row.word);
    REQUIRE(checked.has_error());
    CHECK(checked.error().kind() == ErrorKind::Usage);
    CHECK(checked.error().message() ==
          "\"" + std::string(row.shown) + "\" is no variable name; expected NAME, NAME=VALUE or PREFIX_*");
  }
}
