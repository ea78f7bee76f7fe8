// chans LOG [--seconds S] - goroutines bound to threads that wait for a mutex which another one holds
// asleep, and for a worker's answer on a channel. "request": all of it; "idle": time.Sleep between
// two. Log lines as tests/requests/requests.h says.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

var (
	book  sync.Mutex
	logMu sync.Mutex
	lines []string
	until int64
	jobs  = make(chan chan int)
)

func now() int64 {
	var t syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

func say(kind string, since, until int64) {
	line := fmt.Sprintf("%s %d %d %d", kind, syscall.Gettid(), since, min(until, now()))
	logMu.Lock()
	lines = append(lines, line)
	logMu.Unlock()
}

func handle(n int) {
	t := now()
	if n%2 == 0 {
		book.Lock()
		book.Unlock()
	} else {
		answer := make(chan int)
		jobs <- answer
		<-answer
	}
	say("request", t, now())
}

func front(done *sync.WaitGroup) {
	defer done.Done()
	runtime.LockOSThread()
	for n := 0; now() < until; n++ {
		handle(n)
		t := now()
		time.Sleep(2 * time.Millisecond)
		say("idle", t, t+2000000)
	}
}

func worker() {
	for answer := range jobs {
		time.Sleep(3 * time.Millisecond)
		answer <- 1
	}
}

func owner() {
	for now() < until {
		time.Sleep(15 * time.Millisecond)
		book.Lock()
		time.Sleep(6 * time.Millisecond)
		book.Unlock()
	}
}

func main() {
	seconds := 1.0
	for i, a := range os.Args {
		if a == "--seconds" {
			seconds, _ = strconv.ParseFloat(os.Args[i+1], 64)
		}
	}
	until = now() + int64(seconds*1e9)
	var done sync.WaitGroup
	go worker()
	go owner()
	for i := 0; i < 2; i++ {
		done.Add(1)
		go front(&done)
	}
	done.Wait()
	f, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	for _, l := range lines {
		fmt.Fprintln(f, l)
	}
	f.Close()
}
