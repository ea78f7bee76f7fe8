package main

import (
	"fmt"
	"math"
	"sort"
)

type point struct{ x, y float64 }

func (p point) length() float64 { return math.Sqrt(p.x*p.x + p.y*p.y) }

func words(n uint64) int {
	m := map[string]uint64{}
	for i := uint64(0); i < n; i++ {
		m[fmt.Sprint("k", i*2654435761%800)] += i
	}
	return len(m)
}

func main() {
	sum := 0.0
	for k := 0; k < 60; k++ {
		v := make([]point, 8000)
		for i := range v {
			v[i] = point{float64(i * 7919 % 1009), float64(i * k % 1013)}
		}
		sort.Slice(v, func(a, b int) bool { return v[a].length() < v[b].length() })
		sum += v[k].length() + float64(words(4000))
	}
	fmt.Println(sum)
}
