# contrib/ci/perfkit-compare.yml for real: its steps build, record and compare here, in the shells that a runner starts
# them in; a planted regression ends with 4, two builds of one program are green.
# live: records now, on this machine
set -eu
command -v perf >/dev/null || { echo "perf is not installed"; exit 77; }
command -v bash >/dev/null || { echo "bash is not installed"; exit 77; }
python3 -c 'import yaml' 2>/dev/null || { echo "no PyYAML (python3-yaml)"; exit 77; }
perf record -q -k CLOCK_MONOTONIC -e cpu-clock:u -g -o try.data true >/dev/null 2>&1 || { echo "perf cannot record here"; exit 77; }
python3 - "$SRC/contrib/ci/perfkit-compare.yml" <<'END'
import sys, yaml
job = yaml.safe_load(open(sys.argv[1]))["jobs"]["compare"]
for s in job["steps"]:
    if "run" in s and s["name"].split()[0] in ("Build", "Record", "Compare"):
        open(s["name"].split()[0] + ".step", "w").write(s["run"])
        open(s["name"].split()[0] + ".shell", "w").write(s.get("shell", "bash -e {0}").replace("{0}", "").strip())
open("environment", "w").write("".join("%s=%s\n" % (k, "'%s'" % v) for k, v in job["env"].items()))
END
mkdir bin
ln -s "$PERFKIT" bin/perfkit
export PATH="$PWD/bin:$PATH"
set -a
. ./environment
set +a
RUNS=8
for case in "planted 40" "noise 0"; do
	mkdir "${case% *}"
	cd "${case% *}"
	for side in "before 0" "after ${case#* }"; do
		mkdir "${side% *}"
		printf '#!/bin/sh\nexec %s %s 2000\n' "$O/tests/truth/slower" "${side#* }" >"${side% *}/bench.sh"
		printf 'bench: bench.sh\n\tcp bench.sh bench && chmod +x bench\n' >"${side% *}/Makefile"
	done
	GITHUB_STEP_SUMMARY=$PWD/summary rc=0
	export GITHUB_STEP_SUMMARY
	for step in Build Record Compare; do
		[ $rc = 0 ] && $(cat ../$step.shell) ../$step.step >$step.log 2>&1 || rc=$?
	done
	echo "$case: $rc: $(grep -h '^- \|^yes\|^no\|^cannot' comment.md | tr '\n' ' ')"
	[ "$(wc -c <comment.md)" -le 60000 ]
	cmp comment.md summary
	python3 -c 'import sys, xml.etree.ElementTree as x
s = x.parse("junit.xml").getroot()[0]
assert (int(s.get("failures")) > 0) == (sys.argv[1] == "planted"), s.attrib' "${case% *}"
	case $case in planted*) [ $rc = 4 ] ;; *) [ $rc = 0 ] ;; esac
	cd ..
done
