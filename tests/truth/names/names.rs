// names.rs - as native.c, in Rust: LOG SECONDS.
use std::fs::OpenOptions;
use std::hint::black_box;
use std::io::Write;

#[repr(C)]
struct Timespec {
    sec: i64,
    nsec: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, t: *mut Timespec) -> i32;
    fn gettid() -> i32;
}

fn now() -> u64 {
    let mut t = Timespec { sec: 0, nsec: 0 };
    unsafe { clock_gettime(1, &mut t) };
    t.sec as u64 * 1_000_000_000 + t.nsec as u64
}

mod book {
    use std::hint::black_box;

    pub struct Größe;

    pub trait Work {
        fn leaf(&self, x: u64) -> u64;
    }

    impl Work for Größe {
        #[inline(never)]
        fn leaf(&self, mut x: u64) -> u64 {
            for i in 0..200_000u64 {
                x = black_box(x.wrapping_mul(31) + i);
            }
            x
        }
    }

    #[inline(never)]
    pub fn leaf_two(mut x: u64) -> u64 {
        for i in 0..200_001u64 {
            x = black_box(x.wrapping_mul(33) ^ i);
        }
        x
    }
}

#[inline(never)]
fn outer_one(w: &dyn book::Work) -> u64 {
    black_box(w.leaf(1)) + 1
}

#[inline(never)]
fn outer_two() -> u64 {
    black_box(book::leaf_two(2)) + 2
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut out = OpenOptions::new().append(true).create(true).open(&args[1]).unwrap();
    let end = now() + (args[2].parse::<f64>().unwrap() * 1e9) as u64;
    let mut i = 0;
    while now() < end {
        let from = now();
        while now() < from + 20_000_000 {
            black_box(if i & 1 == 0 { outer_one(&book::Größe) } else { outer_two() });
        }
        let chain = ["names::outer_one;<names::book::Größe as names::book::Work>::leaf", "names::outer_two;names::book::leaf_two"];
        writeln!(out, "{} {} {} names::main;{}", unsafe { gettid() }, from, now(), chain[i & 1]).unwrap();
        i += 1;
    }
}
