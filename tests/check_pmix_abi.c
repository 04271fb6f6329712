/* Compiled, not run: launcher/agent/pmix/pmix_abi.h against the headers of the PMIx that is installed here. */
#include <pmix_server.h>

#include "launcher/agent/pmix/pmix_abi.h"

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
SAME("byte object", kTypeObject, PMIX_BYTE_OBJECT);
SAME("proc type", kTypeProc, PMIX_PROC);
SAME("first read", kPmixFirstRead, PMIX_PERSIST_FIRST_READ);
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

SAME("published", sizeof(PmixPublished), sizeof(pmix_pdata_t));
SAME("its key", offsetof(PmixPublished, key), offsetof(pmix_pdata_t, key));
SAME("its value", offsetof(PmixPublished, value), offsetof(pmix_pdata_t, value));
SAME("app", sizeof(PmixApp), sizeof(pmix_app_t));
SAME("its argv", offsetof(PmixApp, argv), offsetof(pmix_app_t, argv));
SAME("its environment", offsetof(PmixApp, environment), offsetof(pmix_app_t, env));
SAME("its directory", offsetof(PmixApp, directory), offsetof(pmix_app_t, cwd));
SAME("its count", offsetof(PmixApp, count), offsetof(pmix_app_t, maxprocs));
SAME("its infos", offsetof(PmixApp, infos), offsetof(pmix_app_t, info));

SAME("connected", offsetof(PmixModule, client_connected), offsetof(pmix_server_module_t, client_connected));
SAME("finalized", offsetof(PmixModule, client_finalized), offsetof(pmix_server_module_t, client_finalized));
SAME("abort", offsetof(PmixModule, abort), offsetof(pmix_server_module_t, abort));
SAME("fence", offsetof(PmixModule, fence), offsetof(pmix_server_module_t, fence_nb));
SAME("direct modex", offsetof(PmixModule, direct_modex), offsetof(pmix_server_module_t, direct_modex));
SAME("publish", offsetof(PmixModule, publish), offsetof(pmix_server_module_t, publish));
SAME("lookup", offsetof(PmixModule, lookup), offsetof(pmix_server_module_t, lookup));
SAME("unpublish", offsetof(PmixModule, unpublish), offsetof(pmix_server_module_t, unpublish));
SAME("spawn", offsetof(PmixModule, spawn), offsetof(pmix_server_module_t, spawn));
SAME("connect", offsetof(PmixModule, connect), offsetof(pmix_server_module_t, connect));
SAME("disconnect", offsetof(PmixModule, disconnect), offsetof(pmix_server_module_t, disconnect));
SAME("log", offsetof(PmixModule, log), offsetof(pmix_server_module_t, log));
SAME("job control", offsetof(PmixModule, job_control), offsetof(pmix_server_module_t, job_control));
SAME("group", offsetof(PmixModule, group), offsetof(pmix_server_module_t, group));
_Static_assert(sizeof(PmixModule) >= sizeof(pmix_server_module_t), "room for the other entries");
