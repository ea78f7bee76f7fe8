# live: the lines for a version of perf are run by that very perf
#
# PERFS="/path/to/perf-4.18 ..." tries others beside the one that is installed.
perf=$(command -v perf) || { echo "perf is not installed"; exit 77; }
HOME=$PWD # perf keeps copies of binaries in ~/.debug
export HOME
"$perf" record -q -a -e sched:sched_switch -o probe.data -- true 2>/dev/null ||
	{ echo "perf may not record tracepoints here"; exit 77; }
fails=0
for p in "$perf" ${PERFS:-}; do
	version=$("$p" --version | grep -o '[0-9]*\.[0-9]*' | head -1)
	while read -r options; do
		# shellcheck disable=SC2086
		set -- $options --for-perf "$version" --perf "$p" -o try.data
		"$PERFKIT" record "$@" -- sleep 0.1 >/dev/null 2>err && [ -s try.data ] ||
			{ echo "perf $version: record $options: $(cat err)"; fails=$((fails + 1)); }
		rm -f try.data*
	done <<-END
	cpu
	cpu --stacks fp -C 0
	cpu --stacks none
	offcpu
	offcpu --stacks fp --comm sh,sleep
	offcpu --stacks lbr -C 0
	tail --no-lock-owner
	tail --no-lock-owner --stacks none -p $$ --also vectors,faults,block,idle,tcp
	END
	"$PERFKIT" record jitter -c 0 -d 1 --for-perf "$version" --perf "$p" -o try.tar.zst >/dev/null 2>err &&
		"$PERFKIT" report -q try.tar.zst >/dev/null 2>>err ||
		{ echo "perf $version: record jitter: $(cat err)"; fails=$((fails + 1)); }
	echo "perf $version"
done
[ $fails = 0 ]
