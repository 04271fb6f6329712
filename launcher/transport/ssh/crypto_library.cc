#include "launcher/transport/ssh/crypto_library.h"

#ifdef SML_STATIC
#include <openssl/crypto.h>
#endif

namespace sml::ssh {

void keep_to_built_in_crypto() {
#ifdef SML_STATIC
  ::OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
#endif
}

}  // namespace sml::ssh
