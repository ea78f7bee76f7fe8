import java.util.concurrent.*;
import java.util.concurrent.locks.*;

/** Threads that wait in ways a JVM knows, each named after what it waits for. */
public class Contend {
	static final Object monitor = new Object(), rest = new Object();
	static final ReentrantLock lock = new ReentrantLock();
	static volatile long sink;

	static void burn(long micros) {
		long end = System.nanoTime() + micros * 1000;
		while (System.nanoTime() < end)
			sink++;
	}

	static void insideMonitor() {
		synchronized (monitor) { burn(2000); sleep(1); }
	}

	static void insideLock() {
		lock.lock();
		try { burn(2000); sleep(1); } finally { lock.unlock(); }
	}

	static void sleep(long ms) {
		try { Thread.sleep(ms); } catch (InterruptedException e) { throw new RuntimeException(e); }
	}

	static Thread start(String name, Runnable r) {
		Thread t = new Thread(r, name);
		t.setDaemon(true);
		t.start();
		return t;
	}

	public static void main(String[] args) throws Exception {
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000L;
		for (int i = 0; i < 2; i++) {
			start("monitor", () -> { while (System.nanoTime() < end) { insideMonitor(); burn(300); } });
			start("parklock", () -> { while (System.nanoTime() < end) { insideLock(); burn(300); } });
		}
		ExecutorService pool = Executors.newFixedThreadPool(3, r -> { Thread t = new Thread(r, "pool"); t.setDaemon(true); return t; });
		Thread client = start("client", () -> {
			while (System.nanoTime() < end) {
				try { pool.submit(() -> { burn(500); sleep(3); return 1; }).get(); } catch (Exception e) { }
				burn(200);
			}
		});
		start("heartbeat", () -> { while (System.nanoTime() < end) { sleep(15); burn(1000); } });
		client.join();
	}
}
