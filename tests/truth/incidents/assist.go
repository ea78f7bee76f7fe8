// assist: `front` allocates, and helps the collector instead of working (mark assist) while `ballast`
// makes garbage of a large heap. Requests of more than 2 ms are logged.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

type node struct {
	next, other *node
	data        [48]byte
}

var heap *node
var sink []*node

func grow(n int) {
	for i := 0; i < n; i++ {
		heap = &node{next: heap, other: heap}
	}
}

//go:noinline
func handleRequest() {
	sink = sink[:0]
	for i := 0; i < 3000; i++ {
		sink = append(sink, &node{other: heap})
	}
}

func main() {
	debug.SetGCPercent(10)
	runtime.GOMAXPROCS(2)
	grow(1500000)
	log, _ := os.Create(os.Args[1])
	for until := time.Now().Add(1500 * time.Millisecond); time.Now().Before(until); {
		from := time.Now()
		handleRequest()
		if d := time.Since(from); d > 2*time.Millisecond {
			fmt.Fprintf(log, "slow %d 0 %d\n", os.Getpid(), d.Nanoseconds())
		}
	}
}
