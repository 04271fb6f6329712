#!/bin/sh
# An nvidia-smi with three devices: the first is busy, the second does not report how busy it is, as one that is cut into
# instances, and the third reports nothing of its memory. FAKE_SMI=hang: it never answers; FAKE_SMI=lost: it finds no
# driver. FAKE_SMI_HELD names a file: the first device holds memory only while that is there, and a byte is added to the
# file of that name with ".asked" behind it for each question. Nothing here comes from a real device.
[ "$*" = "--query-gpu=index,utilization.gpu,memory.used,memory.total --format=csv,noheader,nounits" ] || exit 2
used=20480
if [ -n "${FAKE_SMI_HELD-}" ]; then
  [ -e "$FAKE_SMI_HELD" ] || used=0 # before anybody can see that it was asked
  printf '?' >>"$FAKE_SMI_HELD.asked"
fi
case ${FAKE_SMI-} in
  hang) while :; do sleep 1; done ;;
  lost)
    echo "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
    exit 9
    ;;
esac
printf '0, 87, %s, 81920\n1, [N/A], %s, 81920\n2, 0, [N/A], [N/A]\n' "$used" "$used"
