/* What the GNU C library asks for its messages in another language, for a static agent, which has one: the message is
 * its own translation. The library's functions would bring its readers of catalogues and character sets, 28 KB of a
 * program that travels to every host. */

char* gettext(const char* message);
char* dcgettext(const char* domain, const char* message, int category);
char* __dcgettext(const char* domain, const char* message, int category);

char* gettext(const char* message) { return (char*)message; }

char* dcgettext(const char* domain, const char* message, int category) {
  (void)domain;
  (void)category;
  return (char*)message;
}

/* The name that the library itself uses. */
char* __dcgettext(const char* domain, const char* message, int category) {
  return dcgettext(domain, message, category);
}
