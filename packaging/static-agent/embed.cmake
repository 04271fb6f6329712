# Writes an assembler file that holds the agent's bytes and the first 16 digits of their SHA-256.
# Called at build time: cmake -DAGENT=file -DOUT=file.S -P embed.cmake
file(SHA256 ${AGENT} sum)
string(SUBSTRING ${sum} 0 16 id)
file(WRITE ${OUT} "\
  .section .rodata.sml_agent, \"a\"
  .global sml_agent_image_begin
  .global sml_agent_image_end
  .global sml_agent_image_id
  .balign 16
sml_agent_image_begin:
  .incbin \"${AGENT}\"
sml_agent_image_end:
sml_agent_image_id:
  .asciz \"${id}\"
  .section .note.GNU-stack, \"\", %progbits
")
