#include "common/plan/environment/secrets.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::plan;

TEST_CASE("names that people give to secrets") {
  for (const char* name : {"AWS_SECRET_ACCESS_KEY",
                           "AWS_ACCESS_KEY_ID",
                           "AWS_SESSION_TOKEN",
                           "GITHUB_TOKEN",
                           "VAULT_TOKEN",
                           "HF_TOKEN",
                           "WANDB_API_KEY",
                           "OPENAI_API_KEY",
                           "apiKey",
                           "api-key",
                           "PGPASSWORD",
                           "MYSQL_PWD",
                           "DB_PASS",
                           "SSHPASS",
                           "NPM_TOKEN_2",
                           "API_KEY2",
                           "my_secret",
                           "CLIENT_SECRETS",
                           "AZURE_STORAGE_CONNECTION_STRING",
                           "GITHUB_PAT",
                           "SLURM_JWT",
                           "MYTOKEN",
                           "TOKEN",
                           "KEY",
                           "_HOROVOD_SECRET_KEY",
                           "SECRET_OF_THE_HOUSE",
                           "TOKEN_FOR_PYPI",
                           "DOCKER_AUTH_CONFIG",
                           "AUTH",
                           "BASIC_AUTH",
                           "NPM_AUTH",
                           "HTTP_AUTHORIZATION",
                           "BEARER",
                           "COOKIE",
                           "DB_PWD",
                           "LDAP_BINDPW",
                           "ROOTPW",
                           "SENTRY_DSN",
                           "SLACK_WEBHOOK",
                           "SLACK_WEBHOOK_URL",
                           "SLACK_WEBHOOKS",
                           "DISCORD_WEBHOOKURL",
                           "OTP",
                           "VAULT_SECRETID"}) {
    CAPTURE(name);
    CHECK(names_a_secret(name));
  }
}

TEST_CASE("names that only speak of secrets, or say where they are") {
  for (const char* name : {"TOKENIZERS_PARALLELISM",
                           "MAX_TOKENS",
                           "PAD_TOKEN_ID",
                           "EOS_TOKEN",
                           "PASSWORD_STORE_DIR",
                           "SSH_ASKPASS",
                           "KRB5CCNAME",
                           "SSL_KEY_FILE",
                           "MONKEY",
                           "KEYBOARD",
                           "COMPASS",
                           "BYPASS",
                           "PWD",
                           "OLDPWD",
                           "PATH",
                           "COMPAT",
                           "PUBLIC_KEY",
                           "XAUTHORITY",
                           "AWS_WEB_IDENTITY_TOKEN_FILE",
                           "GOOGLE_APPLICATION_CREDENTIALS",
                           "AWS_SHARED_CREDENTIALS_FILE",
                           "HF_HUB_DISABLE_IMPLICIT_TOKEN",
                           "PYTHON_KEYRING_BACKEND",
                           "SECRETARY",
                           "",
                           "_",
                           "PASS",
                           "PW",
                           "SSH_AUTH_SOCK",
                           "ENABLE_AUTH",
                           "AUTH_TYPE",
                           "COOKIE_FILE",
                           "LD_PRELOAD"}) {
    CAPTURE(name);
    CHECK_FALSE(names_a_secret(name));
  }
}

TEST_CASE("addresses with a password in them are secrets, whatever the variable is called") {
  for (const char* value : {"postgres://me:word@db/base", "redis://:word@cache:6379", "a=1,https://u:p@h",
                            "https://user:p@ss@host/simple"}) {
    CAPTURE(value);
    CHECK(holds_a_secret(std::string("PLAIN=") + value));
  }
  for (const char* value :
       {"https://host/a:b@c", "https://user@host", "https://user:@host", "://", "a:b@c", "tcp://h:80"}) {
    CAPTURE(value);
    CHECK_FALSE(holds_a_secret(std::string("PLAIN=") + value));
  }
  CHECK(secrets_for_other_hosts(Environment{"DATABASE_URL=postgres://me:word@db/base", "HOME_URL=https://host"}) ==
        std::vector<std::string>{"DATABASE_URL"});
}

TEST_CASE("a switch is no secret, whatever the variable is called") {
  CHECK_FALSE(holds_a_secret("OAR_KEY=1"));
  CHECK_FALSE(holds_a_secret("SERVER_AUTH=true"));
  CHECK(holds_a_secret("OAR_KEY=12"));
}

TEST_CASE("secrets that stay: those that would have travelled") {
  const Environment environment{
      "HF_TOKEN=x",          "PATH=/bin", "API_KEY=k", "EMPTY_TOKEN=", "SSH_TOKEN=bound to the log-in",
      "SML_JOB_SECRET=ours", "API_KEY=l"};
  CHECK(secrets_for_other_hosts(environment) == std::vector<std::string>{"API_KEY", "HF_TOKEN"});
  CHECK(secrets_for_other_hosts(Environment{"A=1"}).empty());
}

TEST_CASE("one line says what stays") {
  CHECK(say_withheld(std::vector<std::string>{"HF_TOKEN"}) ==
        "1 variable that looks like a secret stays here: HF_TOKEN; -x NAME or --export-secrets sends it");
  CHECK(say_withheld(std::vector<std::string>{"A_KEY", "B_KEY"}) ==
        "2 variables that look like secrets stay here: A_KEY, B_KEY; -x NAME or --export-secrets sends them");
  CHECK(say_withheld(std::vector<std::string>(30, "A_KEY"))
            .ends_with("A_KEY, ...; -x NAME or --export-secrets sends them"));
}
