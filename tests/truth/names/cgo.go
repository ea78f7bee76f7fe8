//go:build withcgo

// cgo.go - makes main.go a program that the C linker links.
package main

/*
static int tn_c(int x) { return x + 1; }
*/
import "C"

func init() { sink = uint64(C.tn_c(1)) }
