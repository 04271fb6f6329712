// What libssh.a asks of a GSSAPI library, for a sml-run without one: Debian has no static Kerberos, and sml-run never
// offers the log-in that would need it (ssh_session.cc turns it off). Each call says that there is no such mechanism.
// Signatures: RFC 2744; only what a caller reads is written.
#include <stddef.h>
#include <stdint.h>

enum { kUnavailable = 16 << 16 };  // GSS_S_UNAVAILABLE

void* GSS_C_NT_HOSTBASED_SERVICE = NULL;
void* GSS_C_NT_USER_NAME = NULL;

#define SML_UNAVAILABLE(name)           \
  uint32_t name(uint32_t* minor, ...);  \
  uint32_t name(uint32_t* minor, ...) { \
    if (minor != NULL) *minor = 0;      \
    return kUnavailable;                \
  }

SML_UNAVAILABLE(gss_accept_sec_context)
SML_UNAVAILABLE(gss_acquire_cred)
SML_UNAVAILABLE(gss_add_oid_set_member)
SML_UNAVAILABLE(gss_create_empty_oid_set)
SML_UNAVAILABLE(gss_delete_sec_context)
SML_UNAVAILABLE(gss_display_name)
SML_UNAVAILABLE(gss_display_status)
SML_UNAVAILABLE(gss_get_mic)
SML_UNAVAILABLE(gss_import_name)
SML_UNAVAILABLE(gss_indicate_mechs)
SML_UNAVAILABLE(gss_init_sec_context)
SML_UNAVAILABLE(gss_inquire_cred)
SML_UNAVAILABLE(gss_inquire_cred_by_mech)
SML_UNAVAILABLE(gss_release_buffer)
SML_UNAVAILABLE(gss_release_cred)
SML_UNAVAILABLE(gss_release_name)
SML_UNAVAILABLE(gss_release_oid)
SML_UNAVAILABLE(gss_release_oid_set)
SML_UNAVAILABLE(gss_test_oid_set_member)
SML_UNAVAILABLE(gss_verify_mic)
