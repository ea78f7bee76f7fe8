// Work for a JIT compiler: three functions that get hot.
function fibonacci(n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
function sieve(n) {
  const composite = new Uint8Array(n);
  let count = 0;
  for (let i = 2; i < n; i++) {
    if (composite[i]) continue;
    count++;
    for (let k = 2 * i; k < n; k += i) composite[k] = 1;
  }
  return count;
}
class Matrix {
  constructor(n) { this.n = n; this.v = new Float64Array(n * n).fill(1.5); }
  multiply(o) {
    const n = this.n, r = new Matrix(n);
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++) {
        let s = 0;
        for (let k = 0; k < n; k++) s += this.v[i * n + k] * o.v[k * n + j];
        r.v[i * n + j] = s;
      }
    return r;
  }
}
const end = Date.now() + 1500;
let total = 0;
while (Date.now() < end) {
  total += fibonacci(18) + sieve(20000);
  total += new Matrix(40).multiply(new Matrix(40)).v[7];
}
console.log(total > 0);
