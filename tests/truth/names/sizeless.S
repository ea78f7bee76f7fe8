/* sizeless.S - functions as old assembler files write them: labels without type and size. The second one's code
 * goes on in front of what the C compiler put into the same section. */
	.text
	.globl	tn_asm_outer
tn_asm_outer:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	call	tn_asm_leaf
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.globl	tn_asm_leaf
tn_asm_leaf:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	mov	$400000, %ecx
1:	dec	%ecx
	jnz	1b
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.section .note.GNU-stack,"",@progbits
