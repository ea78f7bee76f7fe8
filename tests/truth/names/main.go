// main.go - as native.c, in Go.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

var sink uint64

func now() uint64 {
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&t)), 0)
	return uint64(t.Nano())
}

//go:noinline
func leafOne() {
	for i := uint64(0); i < 200000; i++ {
		sink = sink*31 + i
	}
}

//go:noinline
func leafTwo() {
	for i := uint64(0); i < 200001; i++ {
		sink = sink*33 ^ i
	}
}

//go:noinline
func outerOne() { leafOne(); sink++ }

//go:noinline
func outerTwo() { leafTwo(); sink += 2 }

func main() {
	runtime.LockOSThread()
	out, err := os.OpenFile(os.Args[1], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		os.Exit(2)
	}
	seconds, _ := strconv.ParseFloat(os.Args[2], 64)
	end := now() + uint64(seconds*1e9)
	for i := 0; now() < end; i++ {
		from := now()
		for now() < from+20000000 {
			if i&1 == 0 {
				outerOne()
			} else {
				outerTwo()
			}
		}
		chain := []string{"main.outerOne;main.leafOne", "main.outerTwo;main.leafTwo"}[i&1]
		fmt.Fprintf(out, "%d %d %d main.main;%s\n", syscall.Gettid(), from, now(), chain)
	}
}
