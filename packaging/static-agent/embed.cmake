# Writes an assembler file that holds a program's bytes, the first 16 digits of their SHA-256, and what cksum says of
# them: symbols sml_NAME_image_….
# The note says that nothing here is called, as -fcf-protection has it said of code: an object without it takes the note
# from the whole program.
# Called at build time: cmake -DPROGRAM=file -DNAME=agent -DOUT=file.S -P embed.cmake
file(SHA256 ${PROGRAM} sum)
string(SUBSTRING ${sum} 0 16 id)
execute_process(COMMAND cksum INPUT_FILE ${PROGRAM} OUTPUT_VARIABLE cksum OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${OUT} "\
  .section .rodata.sml_${NAME}, \"a\"
  .global sml_${NAME}_image_begin
  .global sml_${NAME}_image_end
  .global sml_${NAME}_image_id
  .global sml_${NAME}_image_cksum
  .balign 16
sml_${NAME}_image_begin:
  .incbin \"${PROGRAM}\"
sml_${NAME}_image_end:
sml_${NAME}_image_id:
  .asciz \"${id}\"
sml_${NAME}_image_cksum:
  .asciz \"${cksum}\"
  .section .note.GNU-stack, \"\", %progbits
#ifdef __x86_64__
  .section .note.gnu.property, \"a\"
  .balign 8
  .long 4, 16, 5
  .asciz \"GNU\"
  .long 0xc0000002, 4, 3, 0
#endif
")
