import java.io.PrintWriter;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.locks.ReentrantLock;

/** Holders LOG SECONDS monitor|lock: threads queue for one lock and log when each had it. */
public class Holders {
    static final Object monitor = new Object();
    static final ReentrantLock lock = new ReentrantLock();
    static final List<String> log = Collections.synchronizedList(new ArrayList<>());
    static volatile long sink;

    static String tid() throws Exception {
        return Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString();
    }

    static void inside(Random r) throws Exception {
        long until = System.nanoTime() + (1 + r.nextInt(4)) * 1_000_000L;
        if (r.nextBoolean())
            Thread.sleep(1 + r.nextInt(4));
        else
            while (System.nanoTime() < until)
                sink++;
    }

    static void useMonitor(Random r, long[] times) throws Exception {
        synchronized (monitor) {
            times[0] = System.nanoTime();
            inside(r);
            times[1] = System.nanoTime();
        }
    }

    static void useLock(Random r, long[] times) throws Exception {
        lock.lock();
        try {
            times[0] = System.nanoTime();
            inside(r);
            times[1] = System.nanoTime();
        } finally {
            lock.unlock();
        }
    }

    public static void main(String[] args) throws Exception {
        long stop = System.nanoTime() + Long.parseLong(args[1]) * 1_000_000_000L;
        boolean monitors = args[2].equals("monitor");
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Random r = new Random(i);
            Thread t = new Thread(() -> {
                try {
                    String tid = tid();
                    long[] times = new long[2];
                    while (System.nanoTime() < stop) {
                        if (r.nextInt(4) > 0)
                            Thread.sleep(r.nextInt(12));
                        if (monitors)
                            useMonitor(r, times);
                        else
                            useLock(r, times);
                        log.add("hold " + tid + " " + times[0] + " " + times[1]);
                    }
                } catch (Exception e) {
                    e.printStackTrace();
                }
            }, "worker-" + i);
            threads.add(t);
            t.start();
        }
        for (Thread t : threads)
            t.join();
        try (PrintWriter w = new PrintWriter(args[0])) {
            log.forEach(w::println);
        }
    }
}
