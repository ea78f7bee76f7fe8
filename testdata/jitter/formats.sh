#!/bin/sh
# The gaps of gaps.txt and sampler.csv as other tools write such: sampler.lp (InfluxDB's line protocol),
# sysjitter.1 (sysjitter --raw, of the longer ones, from a start at 37568390000000 ns) and hiccups.hlog
# (jHiccup's, an interval of 100 ms each; the histograms are none of these).
set -e
cd "$(dirname "$0")"
awk -F, 'NR > 1 { print "jitter,cpu=1 latency=" $2 " " $1 }' sampler.csv >sampler.lp
awk 'BEGIN { printf "#      Timestamp      delta   <== interruption =>\n#         (nsec)     (usec)   (cycles)     (nsec)\n" }
	$1 == "gap" && $4 - $3 >= 40000 { t = $4 - 37568390000000; n = $4 - $3
		printf "%16d %10d %10d %10d\n", t, (t - last) / 1000, 2 * n, n; last = t }' gaps.txt >sysjitter.1
awk -F, 'BEGIN { print "#[Logged with jHiccup version 2.0.10]\n#[Histogram log format version 1.3]" }
	NR == 2 { base = int($1 / 1e8) / 10 - 0.1; printf "#[StartTime: %.3f (seconds since epoch)]\n", base
		print "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"" }
	NR > 1 { k = int(($1 / 1e9 - base) * 10); most[k] = $2 > most[k] ? $2 : most[k]; last = k }
	END { for (k = 0; k <= last; k++)
		printf "%.3f,0.100,%.3f,HISTFAAAAEV42pNpmSzMwMCgyAABTBDKT4GB\n", k / 10, most[k] / 1e6 }' sampler.csv >hiccups.hlog
