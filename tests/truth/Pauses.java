/** Pauses - `front` asks every 2 ms; `maker` fills the heap, so that the collector stops all. */
public class Pauses {
    static volatile boolean stop;
    static byte[][] keep = new byte[40000][];
    static void make() {
        for (int i = 0; !stop; i++)
            keep[i % keep.length] = new byte[1200];
    }
    static long ask() {
        long n = 0;
        for (int i = 0; i < 2000; i++)
            n += Integer.toString(i).hashCode();
        return n;
    }
    public static void main(String[] args) throws Exception {
        Thread maker = new Thread(Pauses::make, "maker");
        Thread front = new Thread(() -> {
            try {
                for (int i = 0; i < 150; i++) { ask(); Thread.sleep(2); }
            } catch (InterruptedException e) { }
        }, "front");
        maker.start(); front.start(); front.join(); stop = true; maker.join();
    }
}
