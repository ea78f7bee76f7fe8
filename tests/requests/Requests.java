/*
 * java Requests LOG [--seconds S] [--unnamed] --how lock|monitor|queue - requests of two fronts that
 * need a ReentrantLock or a monitor that a third thread holds asleep now and then, or the answer of
 * a queue's worker; an allocating thread makes the collector run. "request": all of it; "idle":
 * Thread.sleep between two, the worker in take(). Log lines as requests.h says.
 */
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.ReentrantLock;

public class Requests {
	static final ReentrantLock lock = new ReentrantLock();
	static final Object monitor = new Object();
	static final LinkedBlockingQueue<Job> queue = new LinkedBlockingQueue<>();
	static final List<String> lines = new ArrayList<>();
	static volatile Object garbage;
	static String how = "lock";
	static boolean named = true;
	static long until;

	interface Body {
		void run() throws Exception;
	}

	static class Job extends CompletableFuture<Integer> {
		final long came = System.nanoTime();
	}

	static void say(String kind, String tid, long since) {
		say(kind, tid, since, Long.MAX_VALUE);
	}

	static void say(String kind, String tid, long since, long until) {
		String line = kind + " " + tid + " " + since + " " + Math.min(until, System.nanoTime());
		synchronized (lines) {
			lines.add(line);
		}
	}

	static String tid() throws Exception {
		return Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString();
	}

	static void hold() throws Exception {
		if (how.equals("lock")) {
			lock.lock();
			try {
				Thread.sleep(6);
			} finally {
				lock.unlock();
			}
		} else {
			synchronized (monitor) {
				Thread.sleep(6);
			}
		}
	}

	static void serve() throws Exception {
		if (how.equals("lock")) {
			lock.lock();
			lock.unlock();
		} else if (how.equals("monitor")) {
			synchronized (monitor) {
				garbage = null;
			}
		} else {
			Job answer = new Job();
			queue.put(answer);
			answer.get();
		}
	}

	static void front() throws Exception {
		String me = tid();
		while (System.nanoTime() < until) {
			long t = System.nanoTime();
			serve();
			say("request", me, t);
			t = System.nanoTime();
			Thread.sleep(1);
			say("idle", me, t, t + 1_000_000);
		}
	}

	static void owner() throws Exception {
		while (System.nanoTime() < until) {
			Thread.sleep(20);
			hold();
		}
	}

	static void worker() throws Exception {
		String me = tid();
		while (true) {
			long t = System.nanoTime();
			Job job = queue.take();
			say("idle", me, t, Math.max(t, job.came));
			if (job.isDone())
				return;
			Thread.sleep(2);
			job.complete(1);
		}
	}

	static void allocate() throws Exception {
		while (System.nanoTime() < until) {
			garbage = new byte[1 << 20];
			Thread.sleep(1);
		}
	}

	static Thread start(String name, Body body) {
		Thread t = new Thread(() -> {
			try {
				body.run();
			} catch (Exception e) {
				throw new RuntimeException(e);
			}
		});
		if (named)
			t.setName(name);
		t.start();
		return t;
	}

	public static void main(String[] args) throws Exception {
		double seconds = 1;
		for (int i = 1; i < args.length; i++) {
			if (args[i].equals("--seconds"))
				seconds = Double.parseDouble(args[++i]);
			else if (args[i].equals("--how"))
				how = args[++i];
			else if (args[i].equals("--unnamed"))
				named = false;
		}
		until = System.nanoTime() + (long) (seconds * 1e9);
		List<Thread> threads = new ArrayList<>();
		threads.add(start("front-0", Requests::front));
		threads.add(start("front-1", Requests::front));
		threads.add(start("allocator", Requests::allocate));
		threads.add(start("owner", how.equals("queue") ? Requests::worker : Requests::owner));
		for (Thread t : threads.subList(0, 3))
			t.join();
		Job end = new Job();
		end.complete(0);
		queue.put(end);
		threads.get(3).join();
		try (PrintWriter out = new PrintWriter(args[0])) {
			lines.forEach(out::println);
		}
	}
}
