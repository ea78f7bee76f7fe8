import java.io.FileWriter;

/** As native.c, in Java: LOG SECONDS. The first second, in which code is compiled, is not logged. */
public class Names {
	static long sink;

	static void leafOne() {
		for (int i = 0; i < 200000; i++)
			sink = sink * 31 + i;
	}

	static void leafTwo() {
		for (int i = 0; i < 200001; i++)
			sink = sink * 33 ^ i;
	}

	static void outerOne() { leafOne(); sink++; }

	static void outerTwo() { leafTwo(); sink += 2; }

	public static void main(String[] args) throws Exception {
		StringBuilder lines = new StringBuilder();
		long begin = System.nanoTime(), end = begin + (long) ((Double.parseDouble(args[1]) + 1) * 1e9);
		for (int i = 0; System.nanoTime() < end; i++) {
			long from = System.nanoTime();
			while (System.nanoTime() < from + 20000000) {
				if ((i & 1) == 0)
					outerOne();
				else
					outerTwo();
			}
			if (from > begin + 1000000000L)
				lines.append("0 ").append(from).append(' ').append(System.nanoTime()).append(" main;")
					.append((i & 1) == 0 ? "outerOne;leafOne\n" : "outerTwo;leafTwo\n");
		}
		try (FileWriter out = new FileWriter(args[0], true)) {
			out.write(lines.toString());
		}
	}
}
