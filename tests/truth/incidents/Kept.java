import java.io.PrintWriter;
import java.util.concurrent.locks.ReentrantLock;

/** Kept LOG: requests of `front` wait for a fair lock that `reporter` keeps while it computes. */
class Kept {
	static final ReentrantLock LEDGER = new ReentrantLock(true);
	static long sink;

	static void sumLedger() {
		long end = System.nanoTime() + 30_000_000;
		while (System.nanoTime() < end)
			sink = sink * 31 + 7;
	}

	static void readBalance() {
		LEDGER.lock();
		LEDGER.unlock();
	}

	public static void main(String[] args) throws Exception {
		long until = System.nanoTime() + 2_000_000_000L;
		Thread reporter = new Thread(() -> {
			try {
				while (true) {
					Thread.sleep(60);
					LEDGER.lock();
					sumLedger();
					LEDGER.unlock();
				}
			} catch (InterruptedException e) {
			}
		}, "reporter");
		reporter.setDaemon(true);
		reporter.start();
		Thread front = new Thread(() -> {
			try (PrintWriter log = new PrintWriter(args[0])) {
				while (System.nanoTime() < until) {
					long from = System.nanoTime();
					readBalance();
					long to = System.nanoTime();
					if (to - from > 8_000_000)
						log.println("slow 0 " + from + " " + to);
					Thread.sleep(3);
				}
			} catch (Exception e) {
				System.exit(1);
			}
		}, "front");
		front.start();
		front.join();
	}
}
