/* The bytes of the library, as they are. */
    .section .rodata
    .balign 16
    .globl opseal_handed_library
opseal_handed_library:
    .incbin OPSEAL_HANDED_LIBRARY
    .globl opseal_handed_library_end
opseal_handed_library_end:
    .section .note.GNU-stack, "", %progbits
