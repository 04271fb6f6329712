/* Compiled, not run: launcher/pmix/pmix_abi.h against the headers of the PMIx that is installed here. */
#include <pmix_server.h>

#include "launcher/pmix/pmix_abi.h"

#define SAME(what, ours, theirs) _Static_assert((ours) == (theirs), what)

SAME("namespace", kNamespaceSize, PMIX_MAX_NSLEN + 1);
SAME("key", kKeySize, PMIX_MAX_KEYLEN + 1);
SAME("wildcard", (uint32_t)kRankWildcard, PMIX_RANK_WILDCARD);
SAME("success", kPmixSuccess, PMIX_SUCCESS);
SAME("error", kPmixError, PMIX_ERROR);
SAME("not supported", kPmixNotSupported, PMIX_ERR_NOT_SUPPORTED);
SAME("succeeded", kPmixOperationSucceeded, PMIX_OPERATION_SUCCEEDED);

SAME("bool", kTypeBool, PMIX_BOOL);
SAME("string", kTypeString, PMIX_STRING);
SAME("size", kTypeSize, PMIX_SIZE);
SAME("uint16", kTypeUint16, PMIX_UINT16);
SAME("uint32", kTypeUint32, PMIX_UINT32);
SAME("info", kTypeInfo, PMIX_INFO);
SAME("data array", kTypeDataArray, PMIX_DATA_ARRAY);
SAME("rank", kTypeRank, PMIX_PROC_RANK);
SAME("regex", kTypeRegex, PMIX_REGEX);

SAME("proc", sizeof(PmixProc), sizeof(pmix_proc_t));
SAME("its rank", offsetof(PmixProc, rank), offsetof(pmix_proc_t, rank));
SAME("data array", sizeof(PmixDataArray), sizeof(pmix_data_array_t));
SAME("its size", offsetof(PmixDataArray, size), offsetof(pmix_data_array_t, size));
SAME("its array", offsetof(PmixDataArray, array), offsetof(pmix_data_array_t, array));
SAME("value", sizeof(PmixValue), sizeof(pmix_value_t));
SAME("its data", offsetof(PmixValue, data), offsetof(pmix_value_t, data));
SAME("its object", offsetof(PmixValue, data.object.size), offsetof(pmix_value_t, data.bo.size));
SAME("info", sizeof(PmixInfo), sizeof(pmix_info_t));
SAME("its flags", offsetof(PmixInfo, flags), offsetof(pmix_info_t, flags));
SAME("its value", offsetof(PmixInfo, value), offsetof(pmix_info_t, value));

SAME("connected", offsetof(PmixModule, client_connected), offsetof(pmix_server_module_t, client_connected));
SAME("finalized", offsetof(PmixModule, client_finalized), offsetof(pmix_server_module_t, client_finalized));
SAME("abort", offsetof(PmixModule, abort), offsetof(pmix_server_module_t, abort));
SAME("fence", offsetof(PmixModule, fence), offsetof(pmix_server_module_t, fence_nb));
SAME("direct modex", offsetof(PmixModule, direct_modex), offsetof(pmix_server_module_t, direct_modex));
SAME("job control", offsetof(PmixModule, job_control), offsetof(pmix_server_module_t, job_control));
_Static_assert(sizeof(PmixModule) >= sizeof(pmix_server_module_t), "room for the other entries");
