use std::collections::HashMap;

#[derive(Clone)]
struct Point { x: f64, y: f64 }

impl Point {
    fn length(&self) -> f64 {
        (self.x * self.x + self.y * self.y).sqrt()
    }
}

fn words(n: u64) -> usize {
    let mut m: HashMap<String, u64> = HashMap::new();
    for i in 0..n {
        *m.entry(format!("k{}", i.wrapping_mul(2654435761) % 800)).or_default() += i;
    }
    m.values().filter(|v| *v % 3 == 0).count()
}

fn main() {
    let mut sum = 0.0;
    for k in 0..60u64 {
        let mut v: Vec<Point> = (0..8000u64)
            .map(|i| Point { x: (i * 7919 % 1009) as f64, y: (i * k % 1013) as f64 })
            .collect();
        v.sort_by(|a, b| a.length().partial_cmp(&b.length()).unwrap());
        sum += v.iter().step_by(100).map(Point::length).sum::<f64>();
        sum += words(4000) as f64;
    }
    println!("{sum}");
}
