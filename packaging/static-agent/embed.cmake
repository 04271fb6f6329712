# Writes an assembler file that holds the agent's bytes, the first 16 digits of their SHA-256, and what cksum says of
# them.
# Called at build time: cmake -DAGENT=file -DOUT=file.S -P embed.cmake
file(SHA256 ${AGENT} sum)
string(SUBSTRING ${sum} 0 16 id)
execute_process(COMMAND cksum INPUT_FILE ${AGENT} OUTPUT_VARIABLE cksum OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${OUT} "\
  .section .rodata.sml_agent, \"a\"
  .global sml_agent_image_begin
  .global sml_agent_image_end
  .global sml_agent_image_id
  .global sml_agent_image_cksum
  .balign 16
sml_agent_image_begin:
  .incbin \"${AGENT}\"
sml_agent_image_end:
sml_agent_image_id:
  .asciz \"${id}\"
sml_agent_image_cksum:
  .asciz \"${cksum}\"
  .section .note.GNU-stack, \"\", %progbits
")
